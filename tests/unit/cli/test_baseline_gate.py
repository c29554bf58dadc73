"""The gates against a baseline: what they decide, what they say, and when they cannot decide."""

from typing import Any

import pytest

from arena.cli.baseline_report import changes_of, headline, list_lines, notes_of
from arena.cli.gate import Compared, Gate, Gates, exit_code, gate_of
from arena.errors import InvalidInput
from arena.runs.comparison import MeasuredRun, check_against
from arena.runs.run import RunStatus
from arena.scoring.trials import TrialCounts
from exported import a_quarantine, a_run
from factories import a_result

ON_REGRESSION = Gates(baseline="main", on_regression=True)
ON_NEW_FAILURE = Gates(baseline="main", on_new_failure=True)


def counts(*passed: int, trials: int = 1, digest: str = "", cluster: str = "") -> list[TrialCounts]:
    """A test for each number of passes."""
    return [
        TrialCounts(
            test_id=f"t{number:02}", passed=one, trials=trials, digest=digest, cluster=cluster
        )
        for number, one in enumerate(passed)
    ]


def compared(before: list[TrialCounts], now: list[TrialCounts], **more: Any) -> Compared:
    environments = more.pop("environments", ({"sandbox": "docker"}, {"sandbox": "docker"}))
    one, two = (a_run(environment=environment) for environment in environments)
    baseline, run = MeasuredRun(run=one, counts=before), MeasuredRun(run=two, counts=now)
    return Compared(name="main", comparison=check_against(baseline, run, **more))


def decided(gates: Gates, beside: Compared | None, *quarantined: Any, **changes: Any) -> Gate:
    run = a_run([a_result(), a_result(passed=False)], **changes)
    gate = gate_of(run, gates, quarantined, beside)
    assert gate is not None
    assert exit_code(run, gate) == {True: 0, False: 1, None: 3}[gate.passed]
    return gate


def notes(beside: Compared) -> list[str]:
    return [str(note) for note in notes_of(beside, a_run(environment={"sandbox": "docker"}))]


def test_a_large_drop_misses_the_gate_with_its_size_and_certainty():
    gate = decided(ON_REGRESSION, compared(counts(*[1] * 10), counts(*[0] * 6, *[1] * 4)))
    assert (gate.passed, gate.minimum) == (False, None)
    assert gate.reason.startswith("missed: 60.0 percentage points below the baseline (interval -")
    assert gate.reason.endswith(", p = 0.008, 10 tests in common)")
    assert str(gate.parts[0]) == f"--fail-on-regression {gate.reason}"


def test_no_change_meets_the_gate():
    gate = decided(ON_REGRESSION, compared(counts(*[1] * 10), counts(*[1] * 10)))
    assert gate.passed is True
    assert gate.reason.startswith("met: the same pass rate as the baseline (")


def test_a_small_drop_meets_the_gate_and_may_be_chance():
    gate = decided(ON_REGRESSION, compared(counts(*[1] * 10), counts(0, *[1] * 9)))
    assert gate.passed is True
    assert "met: 10.0 percentage points below the baseline, which may be chance (" in gate.reason


def test_a_difference_that_rounds_to_nothing_is_not_called_none():
    before = counts(*[1000] * 8, trials=1000)
    now = counts(999, *[1000] * 7, trials=1000)
    gate = decided(ON_REGRESSION, compared(before, now))
    assert "met: less than 0.1 percentage points below the baseline" in gate.reason


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (counts(1, 1, 1), counts(0, 0, 0), "these 3 tests are too few"),
        (counts(*[1] * 9, cluster="x"), counts(*[0] * 9), "these 9 tests in 1 cluster are too few"),
        (
            counts(1, *[0] * 9),
            counts(*[0] * 10),
            "too few of these 10 tests passed in the baseline",
        ),
    ],
)
def test_a_gate_that_cannot_fail_says_so_loudly(before: Any, now: Any, words: str):
    beside = compared(before, now)
    gate = decided(ON_REGRESSION, beside)
    assert gate.passed is True
    assert gate.reason.endswith(f"; {words}: THE GATE CANNOT FAIL")
    assert f"warning: {words}: THE GATE CANNOT FAIL" in notes(beside)


def test_a_new_failure_misses_only_the_stricter_gate():
    beside = compared(counts(*[1] * 10), counts(0, *[1] * 9))
    assert decided(ON_REGRESSION, beside).passed is True
    gate = decided(ON_NEW_FAILURE, beside)
    assert (gate.passed, gate.reason) == (
        False,
        "missed: 1 test always passed in the baseline, and never now",
    )


def test_a_flaky_test_is_no_new_failure():
    beside = compared(counts(5, 5, 4, trials=5), counts(1, 5, 0, trials=5))
    assert decided(ON_NEW_FAILURE, beside).passed is True


def test_a_quarantined_test_informs_and_does_not_block():
    before, now = counts(*[1] * 10), counts(*[0] * 6, *[1] * 4)
    beside = compared(before, now, quarantined={f"t0{n}" for n in range(6)})
    for gates in (ON_REGRESSION, ON_NEW_FAILURE):
        assert decided(gates, beside).passed is True
    (listed,) = changes_of(beside.regression)
    assert listed.title == "Quarantined: they inform and do not block"
    assert [one.test_id for one in listed.tests] == [f"t0{n}" for n in range(6)]


def test_every_option_must_be_met_and_each_says_why():
    gates = Gates(minimum=90, baseline="main", on_regression=True, on_new_failure=True)
    gate = decided(gates, compared(counts(*[1] * 5), counts(*[1] * 5)))
    assert [part.passed for part in gate.parts] == [False, True, True]
    assert (gate.passed, gate.minimum, gate.score) == (False, 90, 50.0)
    assert gate.reason.startswith(
        "--fail-under 90 missed: the score 50.0 % is below 90 %; --fail-on"
    )


def test_a_missed_option_decides_even_if_another_is_undecided():
    gates = Gates(minimum=90, baseline="main", on_regression=True)
    gate = decided(gates, None)
    assert [part.passed for part in gate.parts] == [False, None]
    assert gate.passed is False


@pytest.mark.parametrize(
    ("beside", "changes", "reason"),
    [
        (None, {}, "the run of the baseline was deleted during this run"),
        (
            compared(counts(1, digest="old"), counts(1, digest="new")),
            {},
            "no test is the same as in the baseline",
        ),
        (
            compared(counts(1), counts(1)),
            {"status": RunStatus.FAILED},
            "the run is failed, so not every test has a result",
        ),
        (
            compared(counts(1), counts(1)),
            {"status": RunStatus.AWAITING_REVIEW, "awaiting_tests": 2},
            "people still have to judge 2 answers",
        ),
    ],
)
@pytest.mark.parametrize("gates", [ON_REGRESSION, ON_NEW_FAILURE])
def test_a_gate_without_anything_to_compare_is_not_decided(
    gates: Gates, beside: Compared | None, changes: dict[str, Any], reason: str
):
    gate = decided(gates, beside, **changes)
    assert (gate.passed, gate.reason) == (None, f"not decided: {reason}")


def test_a_run_of_quarantined_tests_only_meets_its_gate():
    beside = compared(counts(1, 1), counts(0, 0), quarantined={"t00", "t01"})
    gate = decided(ON_REGRESSION, beside, a_quarantine("t00"), a_quarantine("t01"))
    assert (gate.passed, gate.reason) == (True, "met: every test of the run is quarantined")


def test_a_baseline_without_a_gate_informs_only():
    gates = Gates(baseline="main")
    gates.check()
    run = a_run([a_result(passed=False)])
    gate = gate_of(run, gates, (), compared(counts(*[1] * 10), counts(*[0] * 10)))
    assert gate is None
    assert exit_code(run, gate) == 0


@pytest.mark.parametrize(
    ("gates", "option"),
    [
        (Gates(on_regression=True), "--fail-on-regression"),
        (Gates(minimum=1, on_new_failure=True), "--fail-on-new-failure"),
    ],
)
def test_a_gate_against_nothing_is_refused(gates: Gates, option: str):
    with pytest.raises(InvalidInput, match=f"{option} needs --baseline"):
        gates.check()


def test_the_list_has_the_worst_first_flaky_ones_apart_and_says_how_many_there_are():
    before = counts(*[5] * 14, trials=5)
    now = counts(*[0] * 12, 5, 3, trials=5)
    beside = compared(before, now)
    assert headline(beside).endswith("): 14 tests in common")
    lines = list(list_lines(changes_of(beside.regression)))
    assert lines[0] == "Worse than the baseline (12)"
    assert lines[1] == "  t00  5/5 → 0/5"
    assert lines[10:12] == ["  t09  5/5 → 0/5", "  … and 2 more, as JSON"]
    assert lines[12:] == [
        "Flaky: passes in some trials and fails in others (1)",
        "  t13  5/5 → 3/5",
    ]


def test_what_cannot_be_compared_and_what_else_differs_is_said():
    old = TrialCounts(test_id="edited", passed=1, trials=1, digest="old")
    gone = TrialCounts(test_id="gone", passed=1, trials=1)
    new = TrialCounts(test_id="edited", passed=0, trials=1, digest="new")
    environments = ({"sandbox": "docker", "agent_file": "a" * 64}, {"sandbox": "namespace"})
    beside = compared([old, gone, *counts(1)], [new, *counts(1)], environments=environments)
    run = a_run(environment=environments[1])
    assert [str(note) for note in notes_of(beside, run)][1:] == [
        "not compared, edited between the runs: 1 (edited)",
        "not compared, only in the baseline: 1 (gone)",
        "same version, other file: aaaaaaaaaaaa → none",
        "sandbox: docker → namespace",
    ]


def test_a_baseline_whose_environment_is_not_known_says_so():
    beside = compared(counts(1), counts(1), environments=(None, {"sandbox": "docker"}))
    assert f"the environment is not known: run {a_run().id}" in notes(beside)
