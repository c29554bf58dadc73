"""Accuracy against cost: which agents nobody beats on both.

A point is on the front unless another costs no more and is no less accurate, and is better in one
of the two. Equal points are on the front together. Where the cost is not known, nothing can be
said: such points are never on the front and push nobody off it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from arena.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPoint:
    """An agent version with what it costs and how accurate it is."""

    key: str
    cost: float | None
    """In any one unit for all points, as dollars per run; None where not known."""
    accuracy: float

    def __post_init__(self) -> None:
        if self.cost is not None and not (math.isfinite(self.cost) and self.cost >= 0):
            raise InvalidInput(f"{self.key}: cost is {self.cost}, must be 0 or more, or missing")
        if not math.isfinite(self.accuracy):
            raise InvalidInput(f"{self.key}: accuracy is {self.accuracy}, must be a number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dominated:
    """A point off the front, with one on the front that beats it."""

    point: CostPoint
    by: str
    """The key of the cheapest point that is at least as accurate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """All points, sorted into three."""

    front: tuple[CostPoint, ...]
    """Cheapest first, so accuracy rises along it."""
    dominated: tuple[Dominated, ...]
    unknown_cost: tuple[CostPoint, ...]
    """In the order of their keys."""


def pareto_front(points: Iterable[CostPoint]) -> Front:
    """The points that nobody beats on both cost and accuracy, and the others apart."""
    listed = sorted(points, key=lambda point: point.key)
    priced = [(point.cost, point) for point in listed if point.cost is not None]
    priced.sort(key=lambda pair: (pair[0], -pair[1].accuracy))
    front: list[CostPoint] = []
    beaten: list[CostPoint] = []
    for _, point in priced:
        # Cheapest first: only the last on the front can beat it, being the most accurate so far.
        if not front or point.accuracy > front[-1].accuracy or _same(point, front[-1]):
            front.append(point)
        else:
            beaten.append(point)
    return Front(
        front=tuple(front),
        dominated=tuple(Dominated(point=point, by=_beater(point, front)) for point in beaten),
        unknown_cost=tuple(point for point in listed if point.cost is None),
    )


def _same(one: CostPoint, other: CostPoint) -> bool:
    return (one.cost, one.accuracy) == (other.cost, other.accuracy)


def _beater(point: CostPoint, front: list[CostPoint]) -> str:
    return next(better.key for better in front if better.accuracy >= point.accuracy)
