from dataclasses import replace

from arena.lab.coverage import Evidence, coverage_of
from arena.lab.lab import open_lab
from arena.lab.records import Outcome

LAB = open_lab()


def evidence(lab=LAB) -> dict[str, Evidence]:
    return {item.requirement.id: item.evidence for item in coverage_of(lab)}


def test_every_requirement_has_exactly_one_coverage() -> None:
    assert sorted(evidence()) == sorted(requirement.id for requirement in LAB.requirements)


def test_a_requirement_without_a_test_case_is_uncovered() -> None:
    assert evidence()["REQ-WEB-09"] is Evidence.UNCOVERED


def test_only_the_latest_execution_counts() -> None:
    # TC-WEB-06 failed on the 10th and passed on the 12th.
    assert evidence()["REQ-WEB-06"] is Evidence.VERIFIED


def test_a_latest_execution_that_did_not_pass_makes_a_requirement_failing() -> None:
    assert evidence()["REQ-WEB-08"] is Evidence.FAILING


def test_one_failing_test_case_of_several_is_enough() -> None:
    # REQ-MOB-05 has one test case on Android, which passed, and one on iOS, which timed out.
    assert evidence()["REQ-MOB-05"] is Evidence.FAILING


def test_a_covered_requirement_that_was_never_executed_is_not_verified() -> None:
    assert evidence()["REQ-STB-11"] is Evidence.UNTESTED


def test_coverage_follows_from_the_test_cases() -> None:
    without = replace(LAB, testcases=())

    assert set(evidence(without).values()) == {Evidence.UNCOVERED}


def test_evidence_follows_from_the_executions() -> None:
    all_passed = tuple(replace(run, status=Outcome.PASSED) for run in LAB.executions)

    assert Evidence.FAILING not in evidence(replace(LAB, executions=all_passed)).values()


def test_the_highest_priority_comes_first() -> None:
    priorities = [item.requirement.priority for item in coverage_of(LAB)]

    assert priorities == sorted(priorities, key=["high", "medium", "low"].index)
