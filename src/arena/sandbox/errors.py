"""The errors of sandboxes, by whose fault they are.

InfrastructureError
├── SandboxUnavailable     this machine cannot isolate; has the probe's report
├── ToolchainMissing       a compiler or interpreter is not installed
├── SandboxFailed          the sandbox itself failed; nobody is charged, try again
└── GraderFailed           a grader's own script failed; what it judges has no score
AgentFault
├── LimitReached           the submission went over a limit, and which
│   └── WorkspaceFull      no space left for its files
├── ProtocolViolation      the submission wrote something that is not a result
└── UnsafeFile             a link, a pipe or a device instead of a regular file
Conflict
└── SandboxDestroyed       used after it was destroyed
InvalidInput
├── InvalidPath            a file name that leaves the sandbox or cannot be one
└── LanguageRefused        its language is neither named nor evident, or contradicts the standard's
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from arena.errors import AgentFault, Conflict, InfrastructureError, InvalidInput

HOW_TO_NAME = (
    "name it: in the field `language` (--language), by the ending of the file, or in the Markdown "
    "fence (```python)"
)
"""What a submitter can do if the language of its code is unclear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStep:
    """One requirement of the machine, and whether it is met."""

    name: str
    works: bool
    detail: str = ""
    remedy: str = ""
    """How to fix it; empty if nothing can be done."""
    required: bool = True


class SandboxUnavailable(InfrastructureError):
    """Untrusted code cannot be isolated on this machine, so it is not run."""

    code = "sandbox_unavailable"

    def __init__(self, message: str | None = None, *, report: Sequence[ProbeStep] = ()) -> None:
        super().__init__(message, retryable=False)
        self.report = tuple(report)
        """Every step that was tried, in order."""

    @classmethod
    def at(cls, name: str, detail: str, remedy: str) -> Self:
        """The error for one step that does not work on this machine."""
        step = ProbeStep(name=name, works=False, detail=detail, remedy=remedy)
        return cls(f"{detail}; {remedy}", report=[step])


class ToolchainMissing(InfrastructureError):
    """The language cannot be run here: its compiler or interpreter is not installed."""

    code = "toolchain_missing"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, retryable=False)


class SandboxFailed(InfrastructureError):
    """The sandbox itself failed; the submission is not to blame."""

    code = "sandbox_failed"


class GraderFailed(InfrastructureError):
    """The script of a grader failed, so there is no score."""

    code = "grader_failed"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, retryable=False)


class LimitReached(AgentFault):
    """The submission went over a limit."""

    code = "limit_reached"

    def __init__(self, message: str | None = None, *, limit: str) -> None:
        super().__init__(message or f"over the limit: {limit}")
        self.limit = limit


class WorkspaceFull(LimitReached):
    """The sandbox has no space left for files."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"there is no room for {path!r} in the sandbox; delete files there, or raise "
            "workspace_bytes or workspace_files in its limits",
            limit="workspace_size",
        )


class ProtocolViolation(AgentFault):
    """The submission wrote something that is not a result."""

    code = "protocol_violation"


class UnsafeFile(AgentFault):
    """The path does not lead to a regular file."""

    code = "unsafe_file"


class SandboxDestroyed(Conflict):
    """The sandbox has been destroyed; create a new one."""

    code = "sandbox_destroyed"


class InvalidPath(InvalidInput):
    """Not a path inside a sandbox."""

    code = "invalid_path"


class LanguageRefused(InvalidInput):
    """The language of the submission is neither named nor evident, or not the one asked for."""

    code = "language_refused"
