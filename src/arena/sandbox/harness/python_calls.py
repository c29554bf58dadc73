"""Calls a Python function with every input and writes one line per result."""

from __future__ import annotations

import io
import json
import marshal
import os
import random
import sys
import types
from typing import Any

from arena.sandbox.harness.encode import NotEncodable, encode, load, quote
from arena.sandbox.harness.hardening import REQUEST, RESULT

MAX_MESSAGE = 2000
WARM_UP_ROUNDS = 64
_write, _read, _exit, _len = os.write, os.read, os._exit, len


class CountingOutput(io.FileIO):
    """Standard output that counts its bytes, so that each case gets its own part of it."""

    count = 0

    def write(self, data: Any, /) -> int:
        """Write all of `data`, which a pipe may take in pieces."""
        view = memoryview(data)
        done = 0
        while done < _len(view):
            done += _write(1, view[done:])
        self.count += done
        return done


output = CountingOutput(1, "wb", closefd=False)


def prepare(config: dict[str, object]) -> None:
    """Create the streams in the zygote, so that a child has them for free."""
    # One seed for every child: a submission gives the same result twice.
    random.seed(0)
    wrapped = io.BufferedWriter(output)
    sys.stdout = io.TextIOWrapper(wrapped, encoding="utf-8", errors="backslashreplace")
    errors = io.BufferedWriter(io.FileIO(2, "wb", closefd=False))
    sys.stderr = io.TextIOWrapper(
        errors, encoding="utf-8", errors="backslashreplace", line_buffering=True
    )
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115


def read_all(descriptor: int) -> bytes:
    """Read `descriptor` to its end and close it."""
    pieces: list[bytes] = []
    # Small pieces first: a large buffer means many fresh pages, each a page fault.
    while piece := _read(descriptor, 1 << 12 if len(pieces) < 4 else 1 << 20):
        pieces.append(piece)
    os.close(descriptor)
    return b"".join(pieces)


def emit(line: str, descriptor: int = RESULT) -> None:
    """Write one whole line."""
    data = line.encode("ascii") + b"\n"
    # Usually one call; a pipe may accept a long line in pieces.
    while (done := _write(descriptor, data)) < _len(data):
        data = data[done:]


def run() -> None:
    """Everything a child does: read the request, call, answer, exit without clean-up."""
    answer(read_all(REQUEST))
    # Marks the end of the results: the supervisor need not wait for the process to exit.
    os.close(RESULT)
    _exit(0)


def answer(data: bytes) -> None:
    """Write one line per input of the request, or one that says why there is no function."""
    # marshal touches a quarter of the memory that JSON does, and the supervisor is trusted. JSON
    # is for sandboxes whose Python may have another version.
    source, name, inputs = marshal.loads(data) if data[:1] == b"(" else _from_json(data)
    try:
        function = find_function(source, name)
    except BaseException as error:
        emit(f"[-1,{describe(error)},{flushed()}]")
        return
    call_all(function, inputs)


def warm_up() -> None:
    """Answer sample requests in the zygote, with every descriptor at /dev/null.

    The interpreter specialises code while it runs and caches its look-ups. What happens before the
    clone need not be repeated in every child, each time in a freshly copied page.
    """
    for _ in range(WARM_UP_ROUNDS):
        read_all(os.dup(REQUEST))
        answer(marshal.dumps(("def f(a, b): return {'a': [a, b, 1.5, None]}", "f", [[1, "x"]]), 2))
    del sys.modules["submission"]


def _from_json(data: bytes) -> tuple[str, str, list[Any]]:
    request = json.loads(data)
    return request["source"], request["function"], request["inputs"]


def find_function(source: str, name: str) -> Any:
    """Execute the submission as a module and return its function."""
    module = types.ModuleType("submission")
    sys.modules["submission"] = module
    exec(compile(source, "submission.py", "exec", dont_inherit=True), module.__dict__)
    function = module.__dict__.get(name)
    if function is None:
        raise NotEncodable(f"the submission does not define {name!r}")
    if not callable(function):
        raise NotEncodable(f"{name!r} is not a function but a {type(function).__name__}")
    return function


def call_all(function: Any, inputs: list[Any]) -> None:
    """Write one line per input (a list of arguments, or its JSON): the value or the exception."""
    for index, item in enumerate(inputs):
        try:
            arguments: Any = load(item) if type(item) is str else item
            value = function(*arguments)
            if hasattr(value, "__await__"):
                value = _await(value)
            line = f'"value",{encode(value)}'
        except BaseException as error:
            line = describe(error)
        emit(f"[{index},{line},{flushed()}]")


def _await(value: Any) -> Any:
    # Imported late: it is large, and most submissions are not asynchronous.
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def flushed() -> int:
    """How many bytes have been written to standard output, after flushing it."""
    try:
        sys.stdout.flush()
    except BaseException:
        # A submission may have closed or replaced it, and its replacement may raise anything.
        return output.count
    return output.count


def describe(error: BaseException) -> str:
    """The kind and text of an error, as two JSON values."""
    if isinstance(error, MemoryError):
        return '"memory","MemoryError"'
    try:
        text = str(error)
    except BaseException:
        text = "(the error's message cannot be read)"
    if isinstance(error, NotEncodable):
        return f'"error",{quote(text[:MAX_MESSAGE])}'
    place = _line_of(error)
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f'"error",{quote(message[:MAX_MESSAGE] + place)}'


def _line_of(error: BaseException) -> str:
    """The innermost line of the submission in the error's traceback."""
    if isinstance(error, SyntaxError):
        return ""
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "submission.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" (line {line})" if line else ""
