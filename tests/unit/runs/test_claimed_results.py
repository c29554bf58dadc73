"""What a pushed result may say about its files and its simulated user: readers rely on the form."""

from typing import Any

import pytest

from arena.catalog.suite import KnownVersion
from arena.catalog.test import Test
from arena.runs.bundle import Header, InvalidBundle, ResultLine, SuitePart
from arena.runs.claimed_results import check_result
from arena.runs.claimed_tests import ClaimedTest, ClaimedTests
from arena.scoring.history import ExecutionStatus
from factories import a_result, a_run, a_test

WORKSPACE: dict[str, Any] = {
    "diff": "-a\n+b\n",
    "changes": [{"path": "calc.py", "kind": "changed"}],
    "problems": ["left out: 'x'"],
    "is_protected": False,
    "files": [{"path": "calc.py", "size": 2, "sha256": "0" * 64}],
}
USER: dict[str, Any] = {
    "model": "m",
    "ended": "agent_failed",
    "turns": 1,
    "score": 100.0,
    "findings": [],
    "answers": 1,
    "input_tokens": None,
    "output_tokens": None,
    "cost_usd": None,
}
UNANSWERED: dict[str, Any] = {
    "status": ExecutionStatus.FAILED,
    "passed": False,
    "score": 0.0,
    "points_earned": 0.0,
    "failure_reason": "it broke",
}


def check(test: Test, **changes: Any) -> None:
    run = a_run()
    result = a_result(test_id=test.id, category=test.category, created_at=run.created_at, **changes)
    suite = SuitePart(name="s", version="0" * 64, label=None, manifest={})
    tests = ClaimedTests(
        by_id={test.id: ClaimedTest(test=test, trials=1)},
        suite=KnownVersion(name="s", fingerprints={}),
        is_full=True,
        unproved=0,
    )
    header = Header(run=run, suite=suite, tests=1, results=1)
    check_result("line 3", header, tests, ResultLine(result=result, record=None))


@pytest.mark.parametrize(
    "change",
    [
        {"changes": ["calc.py"]},
        {"changes": [{"kind": "changed"}]},
        {"problems": "text"},
        {"is_protected": "no"},
        {"diff": ["text"]},
        {"files": [{"path": "calc.py", "size": -1, "sha256": "0" * 64}]},
        {"more": 1},
    ],
)
def test_files_of_another_form_are_refused(change: dict[str, Any]):
    test = a_test(workspace={"files": {"calc.py": "a"}})
    check(test, workspace=WORKSPACE)
    with pytest.raises(InvalidBundle, match="its workspace is not of the usual form"):
        check(test, workspace=WORKSPACE | change)


def test_files_of_a_test_without_a_workspace_are_refused():
    with pytest.raises(InvalidBundle, match="it has a workspace, and its test has none"):
        check(a_test(), workspace=WORKSPACE)


@pytest.mark.parametrize(
    "kept",
    [{"user": "text"}, {"user": USER | {"score": "high"}}, {"user": USER, "more": 1}, {"x": 1}],
)
def test_a_result_without_an_answer_keeps_only_a_user_of_the_usual_form(kept: dict[str, Any]):
    test = a_test(user={"goal": "book"})
    check(test, actual_output={"user": USER}, **UNANSWERED)
    check(test, actual_output=None, **UNANSWERED)
    with pytest.raises(InvalidBundle, match="no answer of the usual form"):
        check(test, actual_output=kept, **UNANSWERED)
