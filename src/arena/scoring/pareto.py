"""Accuracy against cost: the agents that no other beats on both.

A point is on the front unless another costs no more and is no less accurate, and is better in one
of the two. Equal points are on the front together. Points with unknown cost, and those of agents
that the board does not rank, are never on the front and dominate nobody.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class ParetoPoint:
    """An agent version's accuracy and cost, from its run on the board."""

    agent_id: str
    agent_version: str
    run_id: UUID
    accuracy: float
    """The `score_percent` of the run."""
    cost_usd_per_test: float | None
    """Over the results whose cost is known."""
    costed_tests: int
    total_tests: int
    is_ranked: bool = True
    """Whether the board ranks it: not if its run covers few of the tests, or is only reported."""

    def __post_init__(self) -> None:
        cost = self.cost_usd_per_test
        if cost is not None and not (math.isfinite(cost) and cost >= 0):
            raise InvalidInput(f"{self.name}: cost is {cost}, must be 0 or more, or missing")
        if not math.isfinite(self.accuracy):
            raise InvalidInput(f"{self.name}: accuracy is {self.accuracy}, must be a number")

    @property
    def name(self) -> str:
        """The agent version as `agent:version`."""
        return f"{self.agent_id}:{self.agent_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParetoDominated(ParetoPoint):
    """A point that another beats on both accuracy and cost."""

    by: Annotated[str, Field(examples=["qa-web-manager:1.0.0"])]
    """The cheapest point that is at least as accurate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pareto:
    """Accuracy against cost."""

    front: list[ParetoPoint]
    """The points that no other beats on both, cheapest first, so accuracy rises along it."""
    dominated: list[ParetoDominated]
    unknown_cost: list[ParetoPoint]
    unranked: list[ParetoPoint] = field(default_factory=list[ParetoPoint])
    """Agents without a rank, by name: what they were measured on cannot be compared."""


def pareto(points: Iterable[ParetoPoint]) -> Pareto:
    """Split the points into the front, the dominated, and those that are neither."""
    found = sorted(points, key=lambda point: point.name)
    listed = [point for point in found if point.is_ranked]
    priced = [(cost, point) for point in listed if (cost := point.cost_usd_per_test) is not None]
    priced.sort(key=lambda pair: (pair[0], -pair[1].accuracy))
    front: list[tuple[float, ParetoPoint]] = []
    dominated: list[ParetoDominated] = []
    for cost, point in priced:
        # Cheapest first: only the last on the front, the most accurate so far, can dominate it.
        last_cost, last = front[-1] if front else (cost, point)
        if point.accuracy > last.accuracy or (cost, point.accuracy) == (last_cost, last.accuracy):
            front.append((cost, point))
        else:
            by = next(better.name for _, better in front if better.accuracy >= point.accuracy)
            dominated.append(ParetoDominated(**asdict(point), by=by))
    return Pareto(
        front=[point for _, point in front],
        dominated=dominated,
        unknown_cost=[point for point in listed if point.cost_usd_per_test is None],
        unranked=[point for point in found if not point.is_ranked],
    )
