"""`arena runs show RUN --test TEST` shows everything that an agent did."""

import pytest

from arena.cli.result_report import print_result
from arena.models.message import Message
from arena.models.step import Step
from arena.operations.results import ResultDetails
from factories import a_result, a_run, a_test

HOSTILE = "pay\x1b[31mload\u202e"


def shown(capsys: pytest.CaptureFixture[str], **changes: object) -> str:
    result = a_result(**changes)
    print_result(
        ResultDetails(run=a_run(), result=result, test=a_test(), previous_id=None, next_id=None)
    )
    return capsys.readouterr().out


def test_steps_are_shown_without_a_conversation(capsys: pytest.CaptureFixture[str]):
    steps = [
        Step(tool="weather", arguments={"city": "Bern"}, error="timed out", source="arena"),
        Step(tool="weather", arguments={"city": "Bern"}, result={"sky": HOSTILE}, source="trace"),
    ]
    text = shown(capsys, steps=steps)
    assert 'tool: weather {"city": "Bern"} failed: timed out (played by Arena)' in text
    assert "(from the agent's trace)\nanswer:\nyes" in text
    assert not set(text) & {"\x1b", "\u202e"}


def test_steps_of_a_conversation_have_their_results(capsys: pytest.CaptureFixture[str]):
    messages = [Message(role="user", content="?"), Message(role="assistant", content="!")]
    text = shown(capsys, messages=messages, steps=[Step(tool="look", result=7, turn=1)])
    assert "1 user: ?\ntool: look → 7 (claimed by the agent)\n1 agent: !" in text


def test_changed_files_are_shown_with_their_difference(capsys: pytest.CaptureFixture[str]):
    workspace = {
        "changes": [{"path": f"a{HOSTILE}.py", "kind": "changed"}],
        "diff": f"--- a.py\n+++ a.py\n-old\n+{HOSTILE}\n",
        "is_protected": False,
    }
    text = shown(capsys, workspace=workspace)
    assert "files: changed a" in text
    assert "unprotected: the agent could have read the hidden files\n--- a.py\n+++ a.py" in text
    assert not set(text) & {"\x1b", "\u202e"}


def test_a_simulated_user_says_how_it_ended(capsys: pytest.CaptureFixture[str]):
    finding = {"criterion": "invents nothing", "passed": False, "reason": "said 555"}
    user = {"model": "m", "ended": "max_turns", "score": 66.7, "findings": [finding]}
    text = shown(capsys, actual_output={"output": "yes", "user": user})
    assert "simulated user m: used all of its turns; kept to its script: 66.7 of 100" in text
    assert "not kept: invents nothing: said 555" in text
