"""The gate of a run with quarantined tests."""

from typing import Any

import pytest

from arena.cli.gate import Gate, Gates, exit_code
from arena.cli.gate import gate_of as decided
from arena.runs.run import RunStatus
from exported import a_quarantine, a_run
from factories import a_result

FAILED, AWAITING = {"passed": False}, {"passed": None}


def gate_of(run: Any, minimum: float, *quarantined: Any) -> Gate:
    gate = decided(run, Gates(minimum=minimum), *quarantined)
    assert gate is not None
    return gate


def run_of(*outcomes: dict[str, Any]) -> Any:
    results = [a_result(**outcome) for outcome in outcomes]
    status = RunStatus.AWAITING_REVIEW if AWAITING in outcomes else RunStatus.COMPLETED
    return a_run(results, status=status)


def test_a_quarantined_failure_does_not_block_and_is_counted():
    run = run_of({}, FAILED)
    assert exit_code(run, gate_of(run, 100)) == 1
    gate = gate_of(run, 100, [a_quarantine("t")])
    assert (gate.passed, gate.score, gate.quarantined) == (True, 100.0, 1)
    assert gate.reason == (
        "met: the score 100.0 % is not below 100 % (1 quarantined test left out)"
    )
    assert exit_code(run, gate) == 0


def test_a_quarantined_pass_does_not_help():
    gate = gate_of(run_of({}, FAILED), 50, [a_quarantine("t", passed=1, failed=0)])
    assert (gate.passed, gate.score) == (False, 0.0)


def test_an_answer_that_waits_for_people_does_not_hold_the_gate_up_if_it_is_quarantined():
    run = run_of({}, AWAITING)
    assert gate_of(run, 100).passed is None
    assert gate_of(run, 100, [a_quarantine("t", failed=0, awaiting=1)]).passed is True


def test_every_trial_of_a_quarantined_test_is_left_out():
    run = run_of({}, {}, FAILED, FAILED)
    gate = gate_of(run, 100, [a_quarantine("t", trials=3, passed=1, failed=2)])
    assert (gate.passed, gate.score) == (True, 100.0)


def test_a_run_of_quarantined_tests_only_meets_its_gate_and_says_why():
    gate = gate_of(run_of(FAILED), 100, [a_quarantine("t")])
    assert (gate.passed, gate.score) == (True, None)
    assert gate.reason.startswith("met: every test of the run is quarantined (1 quarantined test")


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.RUNNING])
def test_a_run_that_was_not_measured_to_its_end_decides_nothing(status: RunStatus):
    run = a_run([a_result()], status=status)
    assert exit_code(run, gate_of(run, 0, [a_quarantine("t")])) == 3
