"""The gates of a run (`--fail-under`, `--fail-on-…`): whether they are met, why, the exit code."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.catalog.test import is_quarantined
from arena.cli import output
from arena.errors import InvalidInput, NotFound
from arena.operations.results import ResultOperations
from arena.runs.comparison import RunRegression
from arena.runs.run import QuarantinedTest, Run
from arena.scoring.power import fewest_clusters
from arena.scoring.regression import Regression
from arena.text import percent_text

ON_REGRESSION = "--fail-on-regression"
ON_NEW_FAILURE = "--fail-on-new-failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What a run was started with."""

    minimum: float | None = None
    """The lowest score, in per cent."""
    baseline: str | None = None
    """The run to compare with: NAME, RUN or AGENT@VERSION."""
    on_regression: bool = False
    on_new_failure: bool = False

    @classmethod
    def of(
        cls, fail_under: float | None, baseline: str | None, on_regression: bool, on_failure: bool
    ) -> "Gates":
        """What the options of a command ask for."""
        return cls(
            minimum=fail_under,
            baseline=baseline,
            on_regression=on_regression,
            on_new_failure=on_failure,
        )

    @property
    def options(self) -> list[str]:
        """The options that can fail the run."""
        given = {
            self.under: self.minimum is not None,
            ON_REGRESSION: self.on_regression,
            ON_NEW_FAILURE: self.on_new_failure,
        }
        return [name for name, is_given in given.items() if is_given]

    @property
    def under(self) -> str:
        """The option of the lowest score, as it was given."""
        return f"--fail-under {self.minimum or 0:g}"

    def check(self) -> None:
        """Refuse options that do not go together."""
        for name in self.options:
            if name in (ON_REGRESSION, ON_NEW_FAILURE) and self.baseline is None:
                raise InvalidInput(f"{name} needs --baseline NAME, RUN or AGENT@VERSION")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A run beside the baseline that its command named."""

    name: str
    """As it was named: NAME, RUN or AGENT@VERSION."""
    comparison: RunRegression

    @property
    def regression(self) -> Regression:
        """The statistics."""
        return self.comparison.regression


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePart:
    """Whether one option of a gate is met."""

    option: str
    """As it was given: `--fail-under 90`."""
    passed: bool | None
    reason: str

    def __str__(self) -> str:
        return f"{self.option} {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Whether a run meets what it was started with."""

    passed: bool | None
    """None if it cannot be decided: the run was not measured to its end, or people still judge."""
    minimum: float | None
    """The lowest score; None if there is none."""
    score: float | None
    """In per cent of all tests that are not quarantined; None if there is none to measure."""
    reason: str
    quarantined: int = 0
    """How many tests were left out, because they were quarantined on the day of the run."""
    parts: tuple[GatePart, ...] = ()
    """Each option; all of them must be met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """The results that a gate looks at."""

    total: int
    passed: int
    awaiting: int

    @classmethod
    def of(cls, run: Run, left_out: Sequence[QuarantinedTest]) -> "_Counts":
        return cls(
            total=run.total_tests - sum(one.trials for one in left_out),
            passed=run.passed_tests - sum(one.passed for one in left_out),
            awaiting=run.awaiting_tests - sum(one.awaiting for one in left_out),
        )


async def quarantined_tests(arena: ResultOperations, run: Run) -> list[QuarantinedTest]:
    """The tests of a run that were quarantined on its day.

    That of the run, not today, so that the same run always gives the same answer.
    """
    try:
        listed = await arena.quarantined_tests(run.id)
    except NotFound:
        return []  # a server of 0.1: its tests have no quarantine
    return [one for one in listed.tests if is_quarantined(one.until, run.created_at.date())]


def gate_of(
    run: Run,
    gates: Gates,
    quarantined: Sequence[QuarantinedTest] = (),
    compared: Compared | None = None,
) -> Gate | None:
    """The gate of a run that has ended or waits for people; quarantined tests are left out.

    None if no option can fail the run.
    """
    if not gates.options:
        return None
    counts = _Counts.of(run, quarantined)
    score = None
    if _is_measured(run) and counts.total:
        score = _percent(counts.passed, counts.total)
    parts: list[GatePart] = []
    if gates.minimum is not None:
        parts.append(_score_part(run, gates, counts, len(quarantined)))
    if gates.on_regression:
        parts.append(_regression_part(run, counts, compared))
    if gates.on_new_failure:
        parts.append(_new_failure_part(run, counts, compared))
    answers = [part.passed for part in parts]
    return Gate(
        # One that is missed decides, whatever becomes of the others.
        passed=False if False in answers else None if None in answers else True,
        minimum=gates.minimum,
        score=score,
        reason=parts[0].reason if len(parts) == 1 else "; ".join(map(str, parts)),
        quarantined=len(quarantined),
        parts=tuple(parts),
    )


def _score_part(run: Run, gates: Gates, counts: _Counts, quarantined: int) -> GatePart:
    minimum, passed = gates.minimum or 0, None
    if not _is_measured(run):
        reason = _unmeasured(run)
    elif counts.total:
        least, most = (
            _meets(passes, counts.total, minimum)
            for passes in (counts.passed, counts.passed + counts.awaiting)
        )
        passed = least if least == most else None
        reason = _score_reason(counts, passed, minimum)
    else:
        passed, reason = True, "met: every test of the run is quarantined"
    if quarantined:
        reason += f" ({output.counted(quarantined, 'quarantined test')} left out)"
    return GatePart(option=gates.under, passed=passed, reason=reason)


def _score_reason(counts: _Counts, passed: bool | None, minimum: float) -> str:
    """Why the score meets or misses the gate, or cannot decide it yet."""
    shown = percent_text(_percent(counts.passed, counts.total))
    if passed is None:
        waiting = output.counted(counts.awaiting, "answer")
        return f"not decided: {shown} so far, and people still have to judge {waiting}"
    if passed:
        return f"met: the score {shown} is not below {minimum:g} %"
    if counts.awaiting:
        best = percent_text(_percent(counts.passed + counts.awaiting, counts.total))
        return f"missed: even if people accept every answer, {best} is below {minimum:g} %"
    return f"missed: the score {shown} is below {minimum:g} %"


def _regression_part(run: Run, counts: _Counts, compared: Compared | None) -> GatePart:
    passed, reason = _before_comparing(run, counts, compared)
    if not reason and compared is not None:
        found = compared.regression
        passed = not found.is_regression
        reason = f"{'met' if passed else 'missed'}: {change_text(found)}"
        if not found.can_detect:
            reason += f"; {why_blind(found)}"
    return GatePart(option=ON_REGRESSION, passed=passed, reason=reason)


def _new_failure_part(run: Run, counts: _Counts, compared: Compared | None) -> GatePart:
    passed, reason = _before_comparing(run, counts, compared)
    if not reason and compared is not None:
        failures = compared.regression.new_failures
        passed = not failures
        reason = "met: no test that always passed in the baseline always fails now"
        if failures:
            tests = output.counted(len(failures), "test")
            reason = f"missed: {tests} always passed in the baseline, and never now"
    return GatePart(option=ON_NEW_FAILURE, passed=passed, reason=reason)


def _before_comparing(
    run: Run, counts: _Counts, compared: Compared | None
) -> tuple[bool | None, str]:
    """The answer of a gate that has nothing to compare, with its reason; else an empty reason."""
    if not _is_measured(run):
        return None, _unmeasured(run)
    if not counts.total:
        return True, "met: every test of the run is quarantined"
    if counts.awaiting:
        waiting = output.counted(counts.awaiting, "answer")
        return None, f"not decided: people still have to judge {waiting}"
    if compared is None:
        return None, "not decided: the run of the baseline was deleted during this run"
    if not compared.regression.common_tests:
        return None, "not decided: no test is the same as in the baseline"
    return None, ""


def change_text(found: Regression) -> str:
    """How far a run is from its baseline, and how certain that is."""
    points = 100 * (found.difference or 0.0)
    size = f"{abs(points):.1f}" if abs(points) >= 0.05 else "less than 0.1"
    size += f" percentage points {'below' if points < 0 else 'above'} the baseline"
    if not points:
        size = "the same pass rate as the baseline"
    elif points < 0 and not found.is_regression:
        size += ", which may be chance"
    facts = [f"p = {found.p_value:.3f}"] if found.p_value is not None else []
    if found.interval:
        facts.insert(0, f"interval {found.interval.low:+.1f} to {found.interval.high:+.1f}")
    return f"{size} ({', '.join(facts)}, {output.counted(found.common_tests, 'test')} in common)"


def why_blind(found: Regression) -> str:
    """Why no result could miss the gate."""
    tests = output.counted(found.common_tests, "test")
    if found.clusters >= fewest_clusters(found.alpha, is_two_sided=False):
        return f"too few of these {tests} passed in the baseline: THE GATE CANNOT FAIL"
    if found.clusters < found.common_tests:
        tests += f" in {output.counted(found.clusters, 'cluster')}"
    return f"these {tests} are too few: THE GATE CANNOT FAIL"


def exit_code(run: Run, gate: Gate | None) -> int:
    """The exit code for a run: 1 if its gate is missed, 3 if it was not measured to its end."""
    if gate is None:
        return 0 if _is_measured(run) else 3
    return {True: 0, False: 1, None: 3}[gate.passed]


def _is_measured(run: Run) -> bool:
    return run.status in ("completed", "awaiting_review")


def _unmeasured(run: Run) -> str:
    return f"not decided: the run is {run.state}, so not every test has a result"


def _meets(passed: int, total: int, minimum: float) -> bool:
    """Whether the score, rounded as the server does, meets the gate; 100 means all passed."""
    return _percent(passed, total) >= minimum and (minimum < 100 or passed == total)


def _percent(passed: int, total: int) -> float:
    # In integers and hundredths, halves up, like the server: a float could differ by a cent.
    return (20_000 * passed + total) // (2 * total) / 100
