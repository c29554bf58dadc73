"""The submitted code as the grader sees it: functions that ask another process.

Only plain values come back. A submission that ends its process, takes too long or breaks the
protocol has failed, whatever the grader makes of it: `Failed` goes to `Code.on_failure` first.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import builtins
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from arena.sandbox.harness.grading_objects import Function, Remote, parts_of
from arena.sandbox.harness.grading_values import decode, encode, put_back, write

MAX_REPLY_BYTES = 16 * 1024 * 1024
PATIENCE = 3
"""Waiting for a core does not count, up to this many times the limit."""
WORTH_WAITING_SECONDS = 0.01
MAX_AT_ONCE = 256
"""Values of an iterator that are fetched at a time."""
RUNNERS = {"python": "runner.py", "javascript": "runner.js"}
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}
UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
"""What decoding a hostile value may raise."""


class Failed(BaseException):
    """The submitted code ended, took too long or broke the protocol."""


class Unprotected(Exception):
    """The submitted code could read the grading process."""


class Code:
    """The process of the submitted code, and the conversation with it."""

    def __init__(self, request: Any, on_failure: Callable[[str], None]) -> None:
        self._request = request
        self._on_failure = on_failure
        self._left = float(request["code_seconds"])
        self._patience = PATIENCE * self._left
        self._waited = 0.0
        """How long the process has waited for a core, as far as that was added to its time."""
        self._number = 0
        self._callbacks: list[Any] = []
        self._errors: dict[str, type[BaseException]] = {}
        """The exceptions among the named classes."""
        self._pending = b""
        self.has_answered = False
        """Whether a value of the submission has reached the grader."""
        self.is_waiting = False
        self.ended: str | None = None
        """Why there is no process any more."""

    def start(self) -> dict[str, Any]:
        """Start the process and load the submission; the entry points by name."""
        runner = RUNNERS[self._request["runner_language"]]
        with open(runner, "w") as file:  # noqa: PTH123
            file.write(self._request["runner"])
        asking, self._to = os.pipe()
        self._from, answering = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        actions = [
            (os.POSIX_SPAWN_DUP2, asking, 0),
            (os.POSIX_SPAWN_DUP2, answering, 1),
            (os.POSIX_SPAWN_DUP2, null, 2),
        ]
        command = [*self._request["runner_command"], runner]
        self._process = os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=actions)
        for descriptor in (asking, answering, null):
            os.close(descriptor)
        self.ended, self._pending, self._callbacks, self._waited = None, b"", [], 0.0
        if not self._received().get("protected"):
            raise Unprotected
        names = [*self._request["entry_points"], *self._request["classes"]]
        load = {
            "source": self._request["source"],
            "names": names,
            "classes": self._request["classes"],
        }
        reply = self._reply("load", load)
        if "error" in reply:
            self.end(f"the submitted code cannot be loaded: {_shown(reply['error'])}")
        return {name: self._entry(name, reply["value"][n]) for n, name in enumerate(names)}

    def _entry(self, name: str, value: Any) -> Any:
        if name in self._request["classes"]:
            base = value.get("exception") if isinstance(value, dict) else None
            return Remote(self, name) if base is None else self._own_error(name, base)
        if not isinstance(value, dict) or value.get("$") != "entry":
            self.has_answered = True
            return decode(value, self._handed_out)
        return Function(self, name, name)

    def _own_error(self, name: str, base: Any) -> Any:
        # The same class after a restart: the tests already have it.
        if name not in self._errors:
            kind: Any = type(name, (_builtin_error(base) or Exception,), {})
            self._errors[name] = kind
        return self._errors[name]

    def restart(self) -> None:
        """Start again, where the process has ended and another check follows."""
        if self.ended is not None:
            self.start()

    def end(self, reason: str) -> None:
        """The submission has failed."""
        self.is_waiting = False
        os.kill(self._process, signal.SIGKILL)
        _, status = os.waitpid(self._process, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            reason = "over the limit: cpu_time"
        self.ended = reason
        os.close(self._to)
        os.close(self._from)
        self._on_failure(reason)
        raise Failed(reason)

    def call(self, of: Any, given: Any, named: Any = None, kind: str = "call", **more: Any) -> Any:
        """Call a function of the submission; its value, or its exception."""
        arguments = {
            "of": of,
            "arguments": encode(list(given), self.hold),
            "named": encode(dict(named or {}), self.hold),
        }
        reply = self._reply(kind, {**arguments, **more})
        try:
            for place, changed in reply.get("changed", {}).items():
                put_back(given[int(place)], decode(changed, self._handed_out))
        except UNREADABLE as error:
            self.end(f"the submitted code broke the protocol: {error!r}")
        if reply.get("is_async") is True and self._request["runner_language"] == "python":
            return self._awaitable(reply)
        return self._value(reply, is_next=more.get("name") == "__next__")

    async def _awaitable(self, reply: dict[str, Any]) -> Any:
        return self._value(reply)

    def ask(self, kind: str, **message: Any) -> Any:
        """The value of another request."""
        return self._value(self._reply(kind, message))

    def following(self, of: int) -> Iterator[Any]:
        """The values of an iterator of the submission, some at a time."""
        count = 1
        while True:
            reply = self._reply("next", {"of": of, "count": count})
            yield from self._value(reply)
            if "failure" in reply:
                raise self._exception(reply["failure"])
            if reply.get("is_end", True):
                return
            count = min(2 * count, MAX_AT_ONCE)

    def _value(self, reply: dict[str, Any], is_next: bool = False) -> Any:
        if sys.stdout is not sys.__stdout__:
            # The grader captures what is printed, as it would in one process.
            sys.stdout.write(str(reply.get("output", "")))
        self.has_answered = True
        if "error" in reply:
            error = self._exception(reply["error"])
            if isinstance(error, StopIteration) and not is_next:
                # As in a generator (PEP 479): it would end a loop over `map(candidate, …)`.
                raise RuntimeError("a function raised StopIteration") from error
            raise error
        try:
            return decode(reply["value"], self._handed_out)
        except UNREADABLE as error:
            return self.end(f"the submitted code broke the protocol: {error!r}")

    def _exception(self, described: Any) -> BaseException:
        """The exception of the submission: of the same built-in type, with plain arguments."""
        try:
            kind = _builtin_error(described["builtin"])
            name, message = str(described["type"]), str(described["message"])
            own = next((one for one in described.get("types", ()) if one in self._errors), None)
            arguments = decode(described["arguments"], self._handed_out)
            attributes = dict(decode(described.get("attributes", {}), self._handed_out))
        except UNREADABLE as error:
            self.end(f"the submitted code broke the protocol: {error!r}")
            raise
        kind = self._errors[own] if own is not None else kind or Exception
        try:
            if kind.__name__ != name:
                kind = type(name, (kind,), {})
            error = kind(*arguments)
        except (TypeError, ValueError):
            error = Exception(message)
        for name, value in attributes.items():
            is_plain = value is None or isinstance(value, (str, int, float))
            if is_plain and name.isidentifier() and not hasattr(error, name):
                setattr(error, name, value)
        error.described = _shown(described)  # pyright: ignore[reportAttributeAccessIssue]
        return error

    def _reply(self, kind: str, message: dict[str, Any]) -> dict[str, Any]:
        if self.ended is not None:
            self._on_failure(self.ended)
            raise Failed(self.ended)
        self._number += 1
        # A function that the submission calls back may call the submission in turn.
        number, was_waiting = self._number, self.is_waiting
        self.is_waiting = True
        started = time.monotonic()
        self._send({"kind": kind, "number": number, **message}, started)
        reply = self._received(started)
        while "callback" in reply:
            self._send(self._called_back(reply), started)
            reply = self._received(started)
        self.is_waiting = was_waiting
        if not was_waiting:
            self._left -= time.monotonic() - started
        if reply.get("number") != number or not ("value" in reply or "error" in reply):
            self.end("the submitted code broke the protocol: not the reply to the last call")
        return reply

    def _called_back(self, request: dict[str, Any]) -> dict[str, Any]:
        """The submission called a function that the grader gave it."""
        try:
            function = self._callbacks[request["callback"]]
            given = decode(request["arguments"], self._handed_out)
        except UNREADABLE as error:
            self.end(f"the submitted code broke the protocol: {error!r}")
            raise
        try:
            return {"value": encode(function(*given), self.hold)}
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            return {"error": {"builtin": kinds[0], "message": str(error)}}

    def _send(self, message: Any, started: float) -> None:
        data = memoryview(write(message))
        os.set_blocking(self._to, False)
        while data:
            self._wait(self._to, select.POLLOUT, started)
            try:
                data = data[os.write(self._to, data) :]
            except BlockingIOError:
                continue
            except OSError:
                self.end("the submitted code ended its process")

    def _received(self, started: float | None = None) -> dict[str, Any]:
        """The next line of the process; anything but an object in JSON is a violation."""
        started = time.monotonic() if started is None else started
        pieces = [self._pending]
        size = len(self._pending)
        while b"\n" not in pieces[-1]:
            self._wait(self._from, select.POLLIN, started)
            piece = os.read(self._from, 1 << 16)
            size += len(piece)
            if not piece:
                self.end("the submitted code ended its process")
            if size > MAX_REPLY_BYTES:
                self.end(f"the submitted code returned more than {MAX_REPLY_BYTES >> 20} MiB")
            pieces.append(piece)
        line, _, self._pending = b"".join(pieces).partition(b"\n")
        try:
            reply = json.loads(line)
        except (ValueError, RecursionError, MemoryError) as error:
            reply = None
            self.end(f"the submitted code broke the protocol: {error!r}")
        if not isinstance(reply, dict):
            self.end("the submitted code broke the protocol: not an object")
        return reply  # pyright: ignore[reportReturnType]

    def _wait(self, descriptor: int, event: int, started: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        while True:
            left = self._left - (time.monotonic() - started)
            if left > 0 and poll.poll(left * 1000):
                return
            if not self._extend():
                self._left = 0.0
                seconds = self._request["code_seconds"]
                self.end(f"over the limit: the submitted code took more than {seconds:g} s")

    def _extend(self) -> bool:
        """Add the time that the process waited for a core, which does not count."""
        waited = max(_waited_for_a_core(self._process) - self._waited, 0.0)
        self._waited += waited
        more = min(waited, self._patience)
        self._patience -= more
        self._left += more
        return more > WORTH_WAITING_SECONDS

    def hold(self, value: Any) -> Any:
        """What stands for a value that is not plain; None if nothing does."""
        if isinstance(value, Remote):
            of = parts_of(value)[1]
            return {"$": "own" if isinstance(of, int) else "entry", "v": of}
        if isinstance(value, Function):
            return {"$": "own" if isinstance(value.of, int) else "entry", "v": value.of}
        if not callable(value):
            return None
        self._callbacks.append(value)
        return {"$": "callback", "v": len(self._callbacks) - 1}

    def _handed_out(self, tagged: dict[str, Any]) -> Any:
        tag, of = tagged["$"], tagged["v"]
        if type(of) is not int:
            raise ValueError(f"unknown tag {tag!r}")
        if tag == "iterator":
            return self.following(of)
        if tag == "function":
            return Function(self, of, "function")
        if tag == "object" and self._request["classes"]:
            return Remote(self, of)
        raise ValueError(f"unknown tag {tag!r}")


def _waited_for_a_core(pid: int) -> float:
    """How long the first thread of a process was runnable but not running; 0 if that is hidden."""
    try:
        with open(f"/proc/{pid}/schedstat") as file:  # noqa: PTH123
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _builtin_error(name: Any) -> type[BaseException] | None:
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def _shown(described: Any) -> str:
    """An exception of the submission, in words."""
    if not isinstance(described, dict):
        return "an error"
    text = f"{described.get('type')}: {described.get('message')}"[:2000]
    line = described.get("line")
    return f"{text} (line {line} of the submission)" if isinstance(line, int) else text
