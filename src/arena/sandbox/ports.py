"""The interfaces of providers and sandboxes, and their values."""

import json
import marshal
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

from arena.sandbox.harness.encode import encode, load
from arena.sandbox.limits import Limit


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """The result of a command."""

    stdout: str
    stderr: str
    exit_code: int
    """128 + n if signal n ended it, as in a shell."""
    limit: Limit | None = None
    """The limit that ended it, if one did."""
    duration_ms: float = 0.0


class Sandbox(Protocol):
    """An isolated working folder in which commands run; nothing in it outlives it."""

    @property
    def id(self) -> str:
        """Names the sandbox for `SandboxProvider.destroy`."""
        ...

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Write a regular file at `path`, relative to the working folder; follows no link."""
        ...

    async def read_file(self, path: str) -> str:
        """The text of the regular file at `path`; follows no link."""
        ...

    async def exec(self, command: str, timeout: float | None = None) -> ExecResult:
        """Run `command` with a shell in the working folder and wait until it has ended."""
        ...

    async def destroy(self) -> None:
        """End everything in it and delete its files; a second call does nothing."""
        ...


class SandboxProvider(Protocol):
    """Makes sandboxes."""

    async def create(self, image: str | None = None, timeout: float | None = None) -> Sandbox:
        """A fresh sandbox. `timeout` is the default, in seconds, of its commands."""
        ...

    async def destroy(self, id: str) -> None:
        """Destroy the sandbox called `id`; an unknown one is already gone."""
        ...

    async def close(self) -> None:
        """Destroy every sandbox and release what the provider holds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """Arguments, and the value that should be returned."""

    __test__: ClassVar[bool] = False

    input: Sequence[object]
    expected: object
    desc: str = ""
    tolerance: float | None = None
    """The allowed difference between two numbers; None: that of all the cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of one case."""

    desc: str
    passed: bool
    got: object
    """The value that was returned; None if there was none, and `error` says why."""
    expected: object
    error: str | None = None
    limit: Limit | None = None
    duration_ms: float = 0.0
    """Measured outside the sandbox, from the previous result to this one."""
    stdout: str = ""
    engine: str = ""
    """What ran it: 'python 3.11.2', 'node v20.20.2', 'gcc …'."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """One submission and its inputs. Without the expected values, on purpose."""

    language: str
    """'python' or 'javascript'."""
    source: str
    function_name: str
    inputs: Sequence[Sequence[object]]

    def request(self) -> bytes:
        """The child's request as JSON."""
        inputs = [encode(list(arguments)) for arguments in self.inputs]
        document = {"source": self.source, "function": self.function_name, "inputs": inputs}
        return json.dumps(document).encode()

    def marshalled(self) -> bytes:
        """The same for a Python child, in the format that is cheapest to read."""
        inputs = [load(encode(list(arguments))) for arguments in self.inputs]
        # Version 2 has no references, so equal inputs of two cases stay separate objects: a
        # function that changes one must not change the other.
        return marshal.dumps((self.source, self.function_name, inputs), 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """The outcome of one input: a value, or an error."""

    value: object = None
    error: str | None = None
    limit: Limit | None = None
    duration_ms: float = 0.0
    stdout: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionOutcome:
    """The outcome of a submission: one per input, in order."""

    engine: str
    cases: Sequence[CaseOutcome]
    stdout: str = field(default="", repr=False)
    stderr: str = field(default="", repr=False)


@runtime_checkable
class SharedMachine(Protocol):
    """A provider whose submissions share this machine's cores, so only some run at once."""

    def slot(self) -> AbstractAsyncContextManager[object]:
        """Held while one submission runs."""
        ...


@runtime_checkable
class FewLanguages(Protocol):
    """A provider that runs only some languages; if it is one, a submission need not name it."""

    @property
    def languages(self) -> Sequence[str]:
        """Their names, as in the table of languages."""
        ...


@runtime_checkable
class FunctionCaller(Protocol):
    """A provider with a fast path for functions, in addition to sandboxes."""

    async def call(self, call: FunctionCall) -> FunctionOutcome:
        """Run the submission once, with every input, in a fresh isolated process."""
        ...
