"""The one line of a grading process, read as untrusted text."""

import json

import pytest

from arena.sandbox.errors import GraderFailed, SandboxFailed
from arena.sandbox.grading import read_grade
from arena.sandbox.limits import Limit
from arena.sandbox.ports import ExecResult

NONCE = "f" * 32


def line(**verdict: object) -> str:
    return json.dumps({"nonce": NONCE, "kind": "graded", "score": 100, **verdict}) + "\n"


def result(stdout: str, exit_code: int = 0, limit: Limit | None = None) -> ExecResult:
    return ExecResult(stdout=stdout, stderr="", exit_code=exit_code, limit=limit)


def test_the_line_with_the_nonce_is_the_verdict() -> None:
    grade = read_grade(result(line(score=70, reason="fair")), NONCE, runs_code=True)
    assert (grade.score, grade.reason) == (70, "fair")


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        line()[:-1],
        line() + line(),
        "before\n" + line(),
        line(nonce="e" * 32),
        line(nonce=None),
        "[]\n",
        "not JSON\n",
        "[" * 100_000 + "\n",
    ],
)
def test_anything_else_is_no_verdict(stdout: str) -> None:
    # Submitted code may be behind it; without any, only the script can be.
    assert read_grade(result(stdout), NONCE, runs_code=True).score == 0
    with pytest.raises(GraderFailed):
        read_grade(result(stdout), NONCE, runs_code=False)


@pytest.mark.parametrize(
    "verdict",
    [
        {"score": 101},
        {"score": float("nan")},
        {"score": True},
        {"score": "100"},
        {"findings": "good"},
        {"findings": [1]},
        {"findings": [{"passed": "yes"}]},
        {"findings": [{"unknown": 1}]},
        {"kind": "error", "reason": "misspelt"},
        {"kind": 5},
    ],
)
def test_a_verdict_of_another_shape_is_the_graders_fault(verdict: dict[str, object]) -> None:
    with pytest.raises(GraderFailed):
        read_grade(result(line(**verdict)), NONCE, runs_code=True)


def test_a_sandbox_that_hides_nothing_is_not_used() -> None:
    with pytest.raises(SandboxFailed):
        read_grade(result(line(kind="unprotected")), NONCE, runs_code=True)


def test_a_limit_is_named() -> None:
    grade = read_grade(result("", 137, Limit.WALL_TIME), NONCE, runs_code=True)
    assert grade.reason == "over the limit: wall_time"
