"""The process of the submitted code: the grading process asks it to call functions.

It holds nothing of the grader: no script, no expected value, no verdict. Whatever the submission
does to this process only changes which values it answers with, or ends it.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# The values are of the submission.

from __future__ import annotations

import io
import json
import operator
import os
import random
import sys
import types
from itertools import islice
from typing import Any

from arena.sandbox.harness.grading_values import MUTABLE, decode, encode, write

MAX_OUTPUT = 100_000
MAX_MESSAGE = 2000
SCALARS = (str, int, float, bool, type(None))
MAX_HELD = 100_000
"""Functions, iterators and objects that a submission may hand out."""


class Runner:
    """The submission's module, and what it handed out."""

    def __init__(self, requests: int, replies: int) -> None:
        self._requests = os.fdopen(requests, "rb")
        self._replies = replies
        self._held: list[Any] = []
        self._classes: frozenset[str] = frozenset()
        self._space: dict[str, Any] = {}

    def send(self, message: Any) -> None:
        """Write one line."""
        data = write(message)
        while data:
            data = data[os.write(self._replies, data) :]

    def receive(self) -> Any:
        """Read one line; the process ends with the grading process."""
        line = self._requests.readline()
        if not line:
            os._exit(0)
        return json.loads(line)

    def load(self, request: Any) -> None:
        """Execute the submission, and say what is missing of it."""
        module = types.ModuleType("submission")
        sys.modules["submission"] = module
        self._space = module.__dict__
        self._classes = frozenset(request["classes"])
        code = compile(request["source"], "submission.py", "exec", dont_inherit=True)
        exec(code, self._space)
        for name in request["names"]:
            if name not in self._space:
                raise NameError(f"it does not define {name!r}")

    def serve(self) -> None:
        """Answer every request; the first one is the submission."""
        while True:
            self._serve(self.receive())

    def _serve(self, request: Any) -> None:
        sys.stdout = output = io.StringIO()
        reply: dict[str, Any] = {"number": request["number"]}
        try:
            reply.update(self._answer(request))
        except BaseException as error:
            reply["error"] = describe(error)
        reply["output"] = output.getvalue()[:MAX_OUTPUT]
        self.send(reply)

    def _answer(self, request: Any) -> dict[str, Any]:
        kind = request["kind"]
        if kind == "load":
            self.load(request)
            return {"value": [self._entry(name) for name in request["names"]]}
        if kind == "next":
            return self._following(self._held[request["of"]], request["count"])
        if kind == "call":
            return self._call(self._target(request["of"]), request)
        subject = self._held[request["of"]]
        if kind == "get":
            return {"value": self.encode(getattr(subject, request["name"]))}
        if kind == "set":
            setattr(subject, request["name"], self.decode(request["value"]))
            return {"value": None}
        return self._call(lambda *given: _special(request["name"], subject, given), request)

    def _entry(self, name: str) -> Any:
        value = self._space[name]
        if isinstance(value, type) and issubclass(value, BaseException):
            return {"$": "entry", "exception": _builtin_base(value)}
        return {"$": "entry"} if callable(value) else self.encode(value)

    def _target(self, of: Any) -> Any:
        return self._held[of] if isinstance(of, int) else self._space[of]

    def _call(self, target: Any, request: Any) -> dict[str, Any]:
        given = self.decode(request["arguments"])
        named = self.decode(request["named"])
        mutable = {place: one for place, one in enumerate(given) if isinstance(one, MUTABLE)}
        before = {place: self._text(one) for place, one in mutable.items()}
        reply: dict[str, Any] = {}
        try:
            value = target(*given, **named)
            if hasattr(value, "__await__") and hasattr(value, "send"):
                reply["is_async"] = True
                value = _awaited(value)
            reply["value"] = self.encode(value)
        except BaseException as error:
            reply["error"] = describe(error)
        changed = {place for place in mutable if self._text(mutable[place]) != before[place]}
        reply["changed"] = {str(place): self.encode(mutable[place]) for place in changed}
        return reply

    def _text(self, value: Any) -> bytes:
        return write(encode(value, lambda held: {"$": "same", "v": id(held)}))

    def _following(self, iterator: Any, count: int) -> dict[str, Any]:
        """The next values of an iterator; an error comes after the values before it."""
        values: list[Any] = []
        reply: dict[str, Any] = {"value": values}
        try:
            for value in islice(iterator, count):
                values.append(self.encode(value))
        except BaseException as error:
            reply["failure"] = describe(error)
        reply["is_end"] = len(values) < count
        return reply

    def encode(self, value: Any) -> Any:
        """A value for the grading process."""
        return encode(value, self._hold)

    def _hold(self, value: Any) -> Any:
        kind = type(value)
        if kind.__name__ in self._classes:
            tag = "object"
        elif hasattr(kind, "__next__"):
            tag = "iterator"
        elif kind.__name__ in ("map", "zip", "dict_keys", "dict_values", "dict_items"):
            value, tag = iter(value), "iterator"
        elif callable(value):
            tag = "function"
        else:
            return None
        if len(self._held) >= MAX_HELD:
            raise MemoryError(f"more than {MAX_HELD} functions and iterators were returned")
        self._held.append(value)
        return {"$": tag, "v": len(self._held) - 1}

    def decode(self, value: Any) -> Any:
        """A value from the grading process."""
        return decode(value, self._received)

    def _received(self, tagged: dict[str, Any]) -> Any:
        if tagged["$"] == "own":
            return self._held[tagged["v"]]
        if tagged["$"] == "entry":
            return self._space[tagged["v"]]
        number = tagged["v"]

        def callback(*given: Any) -> Any:
            self.send({"callback": number, "arguments": self.encode(list(given))})
            while "kind" in (reply := self.receive()):
                # The function calls the submission in turn.
                self._serve(reply)
            if "error" in reply:
                raise _builtin(reply["error"]["builtin"])(reply["error"]["message"])
            return self.decode(reply["value"])

        return callback


class Iterating:
    """An iterator, also where its class is one whose objects are handed out."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)


def _special(name: str, subject: Any, given: Any) -> Any:
    """What the interpreter would do for an operator, `len` or `for`."""
    if name == "__iter__":
        return Iterating(iter(subject))
    if name == "__bool__":
        return bool(subject)
    function = vars(operator).get(name)
    if function:
        return function(subject, *given)
    # On the type, not on the object.
    method = getattr(type(subject), name, None)
    if method is None:
        # What `list` expects of an object without a length.
        raise TypeError(f"an object of type {type(subject).__name__} has no {name}")
    return method(subject, *given)


def describe(error: BaseException) -> dict[str, Any]:
    """What an exception is, in plain values."""
    kind = type(error)
    try:
        message = str(error)[:MAX_MESSAGE]
    except BaseException:
        message = "(the error's message cannot be read)"
    plain = [one for one in error.args if isinstance(one, SCALARS)]
    whole = len(plain) == len(error.args) and len(message) < MAX_MESSAGE
    arguments = encode(plain, lambda _: None) if whole else [message]
    attributes = {name: one for name, one in vars(error).items() if isinstance(one, SCALARS)}
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "submission.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return {
        "type": kind.__name__,
        "types": [one.__name__ for one in kind.__mro__],
        "builtin": _builtin_base(kind),
        "attributes": encode(attributes, lambda _: None),
        "message": message,
        "arguments": arguments,
        "line": line,
    }


def _builtin_base(kind: type) -> str:
    return next(one.__name__ for one in kind.__mro__ if one.__module__ == "builtins")


def _builtin(name: str) -> Any:
    import builtins

    found = getattr(builtins, name, None)
    is_error = isinstance(found, type) and issubclass(found, Exception)
    return found if is_error else RuntimeError


def _awaited(value: Any) -> Any:
    import asyncio

    async def wait() -> Any:
        return await value

    return asyncio.run(wait())


def is_protected() -> bool:
    """Whether the grading process cannot be read from here: asked before the submission runs."""
    try:
        os.close(os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY))
    except OSError:
        return True
    return False


def main() -> None:
    """Take the channel away from standard input and output, then serve."""
    requests, replies = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    random.seed(0)
    runner = Runner(requests, replies)
    runner.send({"protected": is_protected()})
    runner.serve()
