"""The time of submitted code under a grader."""

import os
from collections.abc import Iterator

import pytest

from arena.sandbox.harness import grading_code
from arena.sandbox.harness.grading_code import PATIENCE, Code, Failed

SECONDS = 0.05


@pytest.fixture
def code() -> Iterator[tuple[Code, int]]:
    """Code whose process is this test's own child, and the end of the pipe that it answers on."""
    made = Code({"code_seconds": SECONDS}, lambda _: None)
    made._from, answers = os.pipe()
    _, made._to = os.pipe()
    made._process = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    yield made, answers
    os.close(answers)


def test_waiting_for_a_core_does_not_count(
    code: tuple[Code, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, answers = code

    def waited(pid: int) -> float:
        assert pid == asking._process
        os.write(answers, b'{"value": 4}\n')
        return SECONDS

    monkeypatch.setattr(grading_code, "_waited_for_a_core", waited)
    assert asking._received() == {"value": 4}
    with pytest.raises(Failed):
        asking.end("the test is over")


def test_patience_has_an_end(code: tuple[Code, int], monkeypatch: pytest.MonkeyPatch) -> None:
    asking, _ = code
    calls: list[float] = []

    def waited(_: int) -> float:
        calls.append(10.0 * (len(calls) + 1))
        return calls[-1]

    monkeypatch.setattr(grading_code, "_waited_for_a_core", waited)
    with pytest.raises(Failed, match=r"took more than 0\.05 s"):
        asking._received()
    assert asking._patience == 0
    assert len(calls) <= PATIENCE + 1
