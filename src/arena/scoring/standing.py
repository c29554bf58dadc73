"""What the agents' runs say of a test: whether passing it goes with passing the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from arena.scoring.history import Subject
from arena.scoring.matrix import TestOutcome

FEWEST_AGENTS = 3
"""Two points always lie on a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestStanding:
    """How one test went with one agent version, and how the rest of that run went."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    subject: Subject
    outcome: TestOutcome
    run_id: UUID
    rest_trials: int
    rest_passed: int

    @property
    def pass_rate(self) -> float:
        """The share of its trials that passed."""
        return self.outcome.passed / self.outcome.trials

    @property
    def rest_rate(self) -> float | None:
        """The same of all other tests of the run; None where there are none."""
        return self.rest_passed / self.rest_trials if self.rest_trials else None


def discrimination(standings: Sequence[TestStanding]) -> float | None:
    """The correlation of passing the test with passing the rest (item-rest correlation).

    Near 1: strong agents pass it and weak ones do not. Near 0: it says nothing about an agent.
    Below 0: weak agents pass it more often; such a test deserves a look. None where fewer than
    three agents were asked, or where all did equally well on either side.
    """
    points = [(one.pass_rate, one.rest_rate) for one in standings]
    known = [(own, rest) for own, rest in points if rest is not None]
    if len(known) < FEWEST_AGENTS:
        return None
    own_mean = math.fsum(own for own, _ in known) / len(known)
    rest_mean = math.fsum(rest for _, rest in known) / len(known)
    own_spread = math.fsum((own - own_mean) ** 2 for own, _ in known)
    rest_spread = math.fsum((rest - rest_mean) ** 2 for _, rest in known)
    if own_spread < 1e-12 or rest_spread < 1e-12:
        return None
    together = math.fsum((own - own_mean) * (rest - rest_mean) for own, rest in known)
    return max(-1.0, min(1.0, together / math.sqrt(own_spread * rest_spread)))
