"""Compares agents: who is ahead, on which tests they differ, whether it is significant.

The winner is the one with the highest overall score. Whether the lead is significant
follows from the tests that both agents ran, cluster by cluster: an exact paired test gives the
p-value, Newcombe's interval the range of the difference in pass rates, and `Power` says how large a
difference would have to be to be found.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from arena.errors import InvalidInput
from arena.scoring.board import BoardEntry
from arena.scoring.intervals import Interval
from arena.scoring.pairing import pair_up
from arena.scoring.power import Power, paired_power
from arena.scoring.significance import holm, sign_flip_p_value
from arena.scoring.trials import TrialCounts

SIGNIFICANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingTest:
    """A test on which two agents did not pass equally often."""

    test_id: str
    first_passed: int
    first_trials: int
    second_passed: int
    second_trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedPair:
    """Two agents on the tests that both ran, each test with equal weight."""

    first: Annotated[str, Field(examples=["qa-web-manager:1.0.0"])]
    second: str
    common_tests: int
    first_pass_rate: float | None
    """0 to 1 over the common tests; null if there are none."""
    second_pass_rate: float | None
    difference: float | None
    """First minus second, as a share of 1."""
    interval: Interval | None
    """Of the difference, in per cent."""
    p_value: float | None
    """From as many trials of each test as both have, the first ones."""
    adjusted_p_value: float | None
    """Adjusted by Holm's method for the number of pairs."""
    significant: bool
    """Whether the adjusted p-value is below 0.05; false if nothing could be tested."""
    differing: list[DifferingTest]
    only_first: list[str]
    """Tests that the second did not run."""
    only_second: list[str]
    clusters: int = 0
    """Independent units among the common tests: tests of one group, or with the same prompt and
    standard, are one."""
    power: Power | None = None
    """What the common tests could detect, with this number of pairs; null if there are none."""

    @property
    def ahead(self) -> str | None:
        """Who passed more of the common tests; None if neither did."""
        if not self.difference:
            return None
        return self.first if self.difference > 0 else self.second


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Agents side by side."""

    comparison: list[BoardEntry]
    """In the order of the request."""
    unknown: list[str]
    """Agents without any evidence; they are left out."""
    winner: Annotated[str | None, Field(examples=["qa-web-manager"])]
    """The agent with the highest overall score; null on a tie or with fewer than two scores."""
    winner_version: str | None
    significant: bool
    """Whether the winner is significantly ahead of every other agent on the tests both ran."""
    pairs: list[ComparedPair]
    suite: str | None = None
    """The suite whose tests are compared; null if their runs are of different ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An agent version with the results of its tests."""

    name: str
    """As `agent:version`."""
    tests: Sequence[TrialCounts] = ()


def compare(
    names: Sequence[str], known: Mapping[str, tuple[BoardEntry, Sequence[TrialCounts]]]
) -> Comparison:
    """Compare the agents `names` pairwise, by their entries and test results."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"compared with itself: {', '.join(twice)}; name each agent once")
    present = [name for name in names if name in known]
    contenders = [Contender(name=name, tests=known[name][1]) for name in present]
    count = math.comb(len(contenders), 2)
    pairs = _adjusted(
        [compare_pair(a, b, pairs=count) for a, b in itertools.combinations(contenders, 2)]
    )
    entries = [known[name][0] for name in present]
    winner = find_winner(entries)
    return Comparison(
        comparison=entries,
        unknown=[name for name in names if name not in known],
        winner=winner.agent_id if winner else None,
        winner_version=winner.agent_version if winner else None,
        significant=winner is not None
        and all(
            pair.significant and pair.ahead == winner.name
            for pair in pairs
            if winner.name in (pair.first, pair.second)
        ),
        pairs=pairs,
    )


def find_winner(entries: Sequence[BoardEntry]) -> BoardEntry | None:
    """The entry with the highest score; None on a tie, or if fewer than two have one.

    If some are ranked, only those: a score that rests on a few of the tests is not comparable.
    """
    ranked = [entry for entry in entries if entry.rank is not None]
    candidates = ranked or entries
    scored = [(one.overall_score, one) for one in candidates if one.overall_score is not None]
    best = max((score for score, _ in scored), default=None)
    leaders = [entry for score, entry in scored if score == best]
    return leaders[0] if len(scored) > 1 and len(leaders) == 1 else None


def compare_pair(first: Contender, second: Contender, *, pairs: int = 1) -> ComparedPair:
    """Compare two on the tests both ran; without common tests there is no difference.

    They are one of `pairs` pairs, which makes a difference harder to detect.
    """
    pairing = pair_up(first.tests, second.tests, names=(first.name, second.name))
    clusters = pairing.clusters
    one, two = clusters.shares()
    interval = clusters.interval()
    p_value = sign_flip_p_value(pairing.swappable().differences) if pairing.tests else None
    return ComparedPair(
        first=first.name,
        second=second.name,
        common_tests=len(pairing.tests),
        clusters=one.units,
        first_pass_rate=one.value,
        second_pass_rate=two.value,
        difference=clusters.difference,
        interval=interval.scaled(100).rounded() if interval else None,
        p_value=p_value,
        adjusted_p_value=p_value,
        significant=_is_significant(p_value),
        power=paired_power(pairing, alpha=SIGNIFICANCE / pairs) if pairing.tests else None,
        differing=[
            DifferingTest(
                test_id=one.test_id,
                first_passed=one.passed,
                first_trials=one.trials,
                second_passed=two.passed,
                second_trials=two.trials,
            )
            for one, two in pairing.tests
            if one.passed * two.trials != two.passed * one.trials
        ],
        only_first=pairing.only_first,
        only_second=pairing.only_second,
    )


def _adjusted(pairs: list[ComparedPair]) -> list[ComparedPair]:
    """The pairs with Holm's adjustment over those that could be tested."""
    adjusted = iter(holm([pair.p_value for pair in pairs if pair.p_value is not None]))
    return [
        pair
        if pair.p_value is None
        else replace(pair, adjusted_p_value=(p := next(adjusted)), significant=_is_significant(p))
        for pair in pairs
    ]


def _is_significant(p_value: float | None) -> bool:
    return p_value is not None and p_value < SIGNIFICANCE
