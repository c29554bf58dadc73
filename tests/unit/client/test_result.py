"""Reading the result from a program's output."""

import pytest

from arena.client import TaskResult, read_output
from arena.errors import AgentFault, AgentSaidNothing

CODE = (
    "try:\n    f()\nexcept ValueError: pass",
    'def f():\n    return {"result": 0}',
)


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
        (b"[1, 2]\n", TaskResult(text="[1, 2]")),
        (b'{"error": null, "answer": 1}', TaskResult(text='{"error": null, "answer": 1}')),
        # Not errors, though they mention some.
        (b'{"result": "Error: x"}', TaskResult(text="Error: x")),
        (b"No error was found: fine.", TaskResult(text="No error was found: fine.")),
        (b"try:\n    f()\nexcept ValueError: pass", TaskResult(text=CODE[0])),
        (b'def f():\n    return {"result": 0}\n', TaskResult(text=CODE[1])),
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
        (b'{"resultPreview": "def f"}', "a resultPreview is not a result"),
        (b'{"error": "rate limit"}', "JSON object with an error"),
        (b'{"error": {"message": "no"}, "request_id": 7}', "JSON object with an error"),
        (b'{"result": "half", "error": "cut off"}', "JSON object with an error"),
        (b'{"status": "error", "message": "no model"}', "reports a failure"),
        (b'{"ok": false}', "reports a failure"),
        # A log before, after or around the object with the result.
        (b'starting\n{"result": "def f(): pass"}\n', "other lines around it"),
        (b'{"resultHash": "Qm1"}\ndone in 3 s\n', "other lines around it"),
        (b'2026-11-17 INFO {"result": "x"}\n', "other lines around it"),
        (b'[info] hello\n{\n  "result": "x"\n}\n', "other lines around it"),
        (b'```json\n{"result": "x"}\n```', "other lines around it"),
        (b'{"result": ', "is not JSON"),
        (b"{'result': 'x'}", "is not JSON"),
        (b'log\nTraceback (most recent call last):\n  File "a.py", line 1\nE: x', "stack trace"),
        (b"TypeError: x is no function\n    at main (/a/b.js:3:7)\n", "stack trace"),
        (b'Exception in thread "main" java.lang.Error\n\tat A.main(A.java:3)', "stack trace"),
        (b"panic: no\n\ngoroutine 1 [running]:\nmain.main()", "stack trace"),
        (b"thread 'main' panicked at src/main.rs:2:5:\nno", "stack trace"),
        (b"Error: 429 too many requests\n", "error message"),
        (b"[ERROR] no model", "error message"),
        (b"openai.RateLimitError: slow down", "error message"),
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
