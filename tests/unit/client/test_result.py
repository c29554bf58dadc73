"""What a program wrote, and what of it is the result."""

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
        # A preview is never the result, whatever else is said.
        (b'{"resultHash": " Qm1 ", "result": "x"}', TaskResult(result_hash="Qm1")),
        # JSON that is none of the two forms is the answer itself.
        (b'{"answer": 42}', TaskResult(text='{"answer": 42}')),
        (b'{"result": ', TaskResult(text='{"result": ')),
        (b"[1, 2]\n", TaskResult(text="[1, 2]")),
        ("Grüße\n".encode(), TaskResult(text="Grüße")),
    ],
)
def test_output_is_read_in_three_forms(output: bytes, result: TaskResult):
    assert read_output(output) == result


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (b"", "wrote nothing"),
        (b" \n\t", "wrote nothing"),
        (b'{"result": ""}', "empty"),
        (b'{"result": null}', "empty"),
        (b'{"resultHash": 7}', "must be a CID"),
        (b'{"resultHash": ""}', "must be a CID"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_what_is_no_result_is_an_error_of_the_program(output: bytes, told: str):
    with pytest.raises(AgentFault, match=told) as raised:
        read_output(output)
    assert not isinstance(raised.value, AgentSaidNothing) or "nothing" in told or "empty" in told


def test_a_result_is_a_text_or_a_hash():
    with pytest.raises(ValueError, match="either a text or a hash"):
        TaskResult()
    with pytest.raises(ValueError, match="either a text or a hash"):
        TaskResult(text="a", result_hash="b")
