"""Tests that are made of results and of executions."""

from pathlib import Path
from uuid import UUID

import pytest

from arena import clock
from arena.catalog.catalog import lint
from arena.catalog.test import Test, WrittenTest
from arena.errors import InvalidInput
from arena.models.message import Message
from arena.models.step import Step
from arena.runs.run import Run
from arena.runs.written_test import test_of_execution as of_execution
from arena.runs.written_test import test_of_result as of_result
from arena.scoring.history import ExecutionDetails, ExecutionStatus, Source
from factories import a_result, a_run, a_test

ID = UUID("12345678-1234-5678-1234-567812345678")


def loaded(folder: Path, written: WrittenTest) -> Test:
    """The test in the file, which has no problems."""
    (folder / "new.yaml").write_text(written.yaml)
    report = lint([folder / "new.yaml"])
    assert report.problems == ()
    (test,) = report.tests
    assert test.id == written.test_id
    return test


def run() -> Run:
    return a_run(agent_id="parrot", agent_version="1.0.0")


def talk(*texts: str) -> list[Message]:
    roles = ("user", "assistant")
    return [Message(role=roles[n % 2], content=text) for n, text in enumerate(texts)]


def execution(**changes: object) -> ExecutionDetails:
    values: dict[str, object] = {
        "id": ID,
        "agent_id": "my agent/1",
        "agent_version": "1.0.0",
        "source": Source.REPORTED,
        "status": ExecutionStatus.COMPLETED,
        "idempotency_key": None,
        "input_tokens": None,
        "output_tokens": None,
        "model": None,
        "cost_usd": None,
        "duration_seconds": None,
        "created_at": clock.now(),
        "messages": talk("Which day is it?", "Monday"),
    }
    return ExecutionDetails(**{**values, **changes})  # type: ignore[arg-type]


def test_a_failed_result_becomes_a_test_with_the_same_standard(tmp_path: Path) -> None:
    original = a_test(id="day[3]", prompt="Which day?", points=2.0, agents=("parrot",), trials=5)
    failed = a_result(
        id=ID,
        test_id="day[3]",
        passed=False,
        actual_output={"output": 'It is "Sunday"\nor so'},
        failure_reason='"yes" is missing',
    )
    written = of_result(run(), failed, original)
    test = loaded(tmp_path, written)
    assert test.id == "day_12345678"
    assert (test.prompt, test.expected, test.points) == ("Which day?", original.expected, 2.0)
    assert (test.agents, test.trials) == (None, 1)
    assert '# The agent\'s answer was wrong: "yes" is missing\n# It is "Sunday"\n' in written.yaml
    assert 'contains: ["It is \\"Sunday\\" or so"]' in written.yaml


def test_the_new_test_may_get_an_id(tmp_path: Path) -> None:
    written = of_result(run(), a_result(id=ID), a_test(), "mine")
    assert loaded(tmp_path, written).id == "mine"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"actual_output": {"output": "yes", "truncated": True}}, "was cut"),
        ({"status": ExecutionStatus.TIMEOUT}, "has no answer"),
        ({"status": ExecutionStatus.CANCELLED}, "has no answer"),
        ({"status": ExecutionStatus.FAILED, "actual_output": None}, "has no answer"),
    ],
)
def test_a_result_without_a_whole_answer_is_refused(
    changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        of_result(run(), a_result(**changes), a_test())


def test_a_completed_execution_expects_the_answer_that_it_gave(tmp_path: Path) -> None:
    test = loaded(tmp_path, of_execution(execution(), []))
    assert (test.id, test.prompt) == ("my_agent_1_12345678", "Which day is it?")
    assert (test.validation, test.expected) == ("exact", {"value": "Monday"})


def test_a_long_answer_is_expected_by_its_first_line(tmp_path: Path) -> None:
    test = loaded(tmp_path, of_execution(execution(output="\nFirst line.\nSecond\n"), []))
    assert (test.validation, test.expected) == ("contains", {"contains": ["First line."]})


def test_a_failed_execution_needs_to_know_what_is_good(tmp_path: Path) -> None:
    failed = execution(status=ExecutionStatus.FAILED)
    with pytest.raises(InvalidInput, match="--expect TEXT"):
        of_execution(failed, [])
    written = of_execution(failed, ["Tuesday"])
    assert loaded(tmp_path, written).expected == {"contains": ["Tuesday"]}
    assert '- {validation: not_contains, expected: {contains: ["Monday"]}}' in written.yaml


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"messages": None}, "without messages"),
        ({"status": ExecutionStatus.TIMEOUT}, "was aborted"),
        ({"status": ExecutionStatus.CANCELLED}, "was aborted"),
        ({"output": "  "}, "no good answer"),
    ],
)
def test_an_execution_that_says_too_little_is_refused(
    changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason):
        of_execution(execution(**changes), [])


def test_the_steps_become_tools_with_recorded_answers() -> None:
    steps = [
        Step(tool="search", arguments={"q": "x"}, result=[1, 2]),
        Step(tool="not a name!", arguments={}),
        Step(tool="search", arguments={"q": "y"}, error="gone"),
    ]
    written = of_execution(execution(steps=steps), [])
    assert "tools:" in written.yaml
    assert "not a name" not in written.yaml
    assert "error: gone" in written.yaml


def test_a_conversation_becomes_turns() -> None:
    messages = talk("Which day is it?", "Monday", "And tomorrow?", "Tuesday")
    written = of_execution(execution(messages=messages), [])
    assert 'user: "Which day is it?"' in written.yaml
    assert 'user: "And tomorrow?"' in written.yaml
    assert "prompt:" not in written.yaml
