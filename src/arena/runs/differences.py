"""Two runs side by side, in words: for tables, Markdown and HTML alike."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.catalog.suite import SuiteDifference, short_version
from arena.runs.comparison import RunComparison
from arena.runs.environment import EnvironmentDifference
from arena.runs.run import Run
from arena.scoring.board import Provenance
from arena.scoring.intervals import Interval
from arena.scoring.power import Power
from arena.scoring.regression import ChangedTest
from arena.text import percent_text

MOST_TESTS = 10
"""Tests that a list has where space is short; JSON and HTML have all of them."""
MOST_IDS = 10
"""Tests that a note names."""
DIGEST_LENGTH = 64

NAMES = {
    "arena": "Arena",
    "max_concurrency": "the agent's concurrency",
    "per_minute": "questions per minute",
    "timeouts": "time-outs",
    "max_wait_seconds": "longest wait in seconds",
}
"""Of facts of the environment, where their own names say too little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A remark about a comparison."""

    label: str
    detail: str
    """May hold text of people: escape it."""

    def __str__(self) -> str:
        return f"{self.label}: {self.detail}"


UNMATCHED_TRIALS = Note(
    label="p-value",
    detail="from as many trials of each test as both runs have, the first ones",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """A list of tests with their results before and now."""

    title: str
    tests: Sequence[ChangedTest]

    @property
    def shown(self) -> Sequence[ChangedTest]:
        """The first of them."""
        return self.tests[:MOST_TESTS]

    @property
    def hidden(self) -> int:
        """How many are not shown."""
        return len(self.tests) - len(self.shown)


def counts_text(test: ChangedTest) -> str:
    """`5/5 → 1/5`: passes of trials, before and now."""
    return f"{test.baseline_passed}/{test.baseline_trials} → {test.passed}/{test.trials}"


def flaky_changes(tests: Sequence[ChangedTest]) -> Changes:
    """Flaky tests, those that got worse first."""

    def change(test: ChangedTest) -> float:
        return test.passed / test.trials - test.baseline_passed / test.baseline_trials

    title = "Flaky: passes in some trials and fails in others"
    return Changes(title=title, tests=sorted(tests, key=change))


def run_text(run: Run) -> str:
    """A run on one line."""
    passed = f"{run.passed_tests} of {run.total_tests} passed, {percent_text(run.score_percent)}"
    suite = f"{run.suite} {short_version(run.suite_version)}".strip()
    claim = ", reported, a claim" if run.provenance is Provenance.REPORTED else ""
    return f"{run.agent_id} {run.agent_version}, run {run.id}, {suite}{claim}: {passed}"


def changes_between(comparison: RunComparison) -> list[Changes]:
    """The tests that changed between two runs; lists without tests are left out."""
    steady = [
        Changes(title=title, tests=[one for one in tests if not one.flaky])
        for title, tests in (("Worse", comparison.worse), ("Better", comparison.better))
    ]
    return [one for one in (*steady, flaky_changes(comparison.flaky)) if one.tests]


def comparison_verdict(comparison: RunComparison) -> str:
    """The difference, and whether it is significant."""
    if comparison.difference is None:
        return "the two runs have no test in common"
    tests = "1 test" if comparison.common_tests == 1 else f"{comparison.common_tests} tests"
    rates = (comparison.first_pass_rate, comparison.second_pass_rate)
    before, after = (percent_text(None if rate is None else 100 * rate) for rate in rates)
    change = points_text(comparison.difference, comparison.interval)
    ending = "significant" if comparison.significant else "not significant"
    return (
        f"{tests} in common: {before} → {after}, {change}, p = {comparison.p_value:.3f}, {ending}"
    )


def points_text(difference: float, interval: Interval | None) -> str:
    """A difference of pass rates in percentage points, with its interval."""
    # Adding 0 turns a negative zero, which rounding may leave, into zero.
    text = f"{round(100 * difference, 1) + 0.0:+.1f} percentage points"
    return text + (f" ({interval.low:+.1f} to {interval.high:+.1f})" if interval else "")


def comparison_notes(comparison: RunComparison) -> Iterator[Note]:
    """What a reader of the verdict should know."""
    first, second = comparison.first, comparison.second
    if comparison.power:
        yield detectable_note(comparison.power, "difference")
    if comparison.unmatched_tests:
        yield UNMATCHED_TRIALS
    yield from only_notes(comparison.only_first, comparison.only_second)
    yield from whole_notes(first, second)
    yield from difference_notes(first, second, comparison.suite_difference, comparison.environment)


def detectable_note(power: Power, what: str) -> Note:
    """What the tests could detect at all."""
    detail = f"no {what}: they are too few"
    if power.detectable_difference is not None:
        detail = f"a {what} of {power.detectable_difference:.1f} percentage points or more"
    return Note(label="these tests can detect", detail=detail)


def whole_notes(*runs: Run) -> Iterator[Note]:
    """Which of the runs do not have a result of every test."""
    for run in runs:
        if run.status != "completed":
            yield Note(label="not every test has a result", detail=f"run {run.id} is {run.state}")
        elif not run.is_full:
            yield Note(label="partial", detail=f"run {run.id} does not have every test")


def difference_notes(
    first: Run,
    second: Run,
    suite_difference: SuiteDifference | None,
    environment: Sequence[EnvironmentDifference],
) -> Iterator[Note]:
    """How the suites and the environments of two runs differ."""
    if first.suite != second.suite:
        yield Note(label="different suites", detail=f"{first.suite} → {second.suite}")
    elif suite_difference is not None:
        before, after = (short_version(run.suite_version) for run in (first, second))
        label = f"the suite changed from {before} to {after}"
        yield Note(label=label, detail=str(suite_difference))
    elif first.suite_version != second.suite_version:
        versions = (short_version(run.suite_version) for run in (first, second))
        yield Note(label="different versions of the suite", detail=" → ".join(versions))
    unknown = [str(run.id) for run in (first, second) if run.environment is None]
    if unknown:
        yield Note(label="the environment is not known", detail=f"run {', '.join(unknown)}")
    has_one_version = first.agent_id == second.agent_id
    has_one_version &= first.agent_version == second.agent_version
    for one in environment:
        label = NAMES.get(one.name, one.name.replace("_", " "))
        if one.name == "agent_file":
            if not has_one_version:
                continue  # another version is meant to have another file
            label = "same version, other file"
        yield Note(label=label, detail=f"{_shown(one.first)} → {_shown(one.second)}")


def only_notes(
    only_first: Sequence[str],
    only_second: Sequence[str],
    names: tuple[str, str] = ("the first run", "the second run"),
) -> Iterator[Note]:
    """The tests that cannot be compared."""
    # A test that was edited is another test on each side.
    edited = set(only_first) & set(only_second)
    if edited:
        yield Note(label="not compared, edited between the runs", detail=few(sorted(edited)))
    for name, ids in zip(names, (only_first, only_second), strict=True):
        if alone := [test_id for test_id in ids if test_id not in edited]:
            yield Note(label=f"not compared, only in {name}", detail=few(alone))


def few(ids: Sequence[str]) -> str:
    """Some of the ids, and how many there are."""
    named = ", ".join(ids[:MOST_IDS])
    return f"{len(ids)} ({named}{', …' if len(ids) > MOST_IDS else ''})"


def _shown(value: str) -> str:
    is_digest = len(value) == DIGEST_LENGTH and value.isalnum()
    return short_version(value) if is_digest else value
