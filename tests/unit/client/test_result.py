"""Reading the result from a program's output."""

import pytest

from arena.client import TaskResult, read_output
from arena.errors import AgentFault, AgentSaidNothing


@pytest.mark.parametrize(
    ("output", "result"),
    [
        (b"def f(): pass\n", TaskResult(text="def f(): pass")),
        (b'{"result": "full"}', TaskResult(text="full")),
        (b'{"result": {"a": 1}}', TaskResult(text='{"a": 1}')),
        (b'{"resultHash": "Qm1", "resultPreview": "def"}', TaskResult(result_hash="Qm1")),
        (b'{"result": "x", "language": "go"}', TaskResult(text="x", language="go")),
        (
            b'{"resultHash": "Qm1", "language": "go"}',
            TaskResult(result_hash="Qm1", language="go"),
        ),
        (b'{"result": "x", "language": null}', TaskResult(text="x")),
        # A hash wins over any other field.
        (b'{"resultHash": " Qm1 ", "result": "x"}', TaskResult(result_hash="Qm1")),
        # JSON in neither of the two forms is the answer itself.
        (b'{"answer": 42}', TaskResult(text='{"answer": 42}')),
        (b'{"result": ', TaskResult(text='{"result": ')),
        (b"[1, 2]\n", TaskResult(text="[1, 2]")),
        ("Grüße\n".encode(), TaskResult(text="Grüße")),
    ],
)
def test_output_is_read_in_three_forms(output: bytes, result: TaskResult):
    assert read_output(output) == result


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (b"", "wrote nothing"),
        (b" \n\t", "wrote nothing"),
        (b'{"result": ""}', "empty"),
        (b'{"result": null}', "empty"),
        (b'{"resultHash": 7}', "must be a CID"),
        (b'{"resultHash": ""}', "must be a CID"),
        (b'{"result": "x", "language": 7}', "must be a name in quotes"),
        (b'{"result": "x", "language": " "}', "must be a name in quotes"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_output_without_a_result_is_an_error_of_the_program(output: bytes, message: str):
    with pytest.raises(AgentFault, match=message) as raised:
        read_output(output)
    assert (
        not isinstance(raised.value, AgentSaidNothing) or "nothing" in message or "empty" in message
    )


def test_a_result_is_a_text_or_a_hash():
    with pytest.raises(ValueError, match="either a text or a hash"):
        TaskResult()
    with pytest.raises(ValueError, match="either a text or a hash"):
        TaskResult(text="a", result_hash="b")
