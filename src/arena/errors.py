"""The errors of Arena, by whose fault they are.

    ArenaError
    ├── CallerError               the caller can fix it               exit 2, HTTP 4xx
    │   ├── InvalidInput
    │   ├── NotFound
    │   ├── Conflict
    │   ├── Unauthorized
    │   └── Forbidden
    ├── AgentFault                the agent's own failure: it becomes a failed result
    │   ├── AgentCrashed
    │   ├── AgentTimedOut
    │   └── AgentSaidNothing
    └── InfrastructureError       neither of them; may be retried       exit 3, HTTP 503
        ├── AgentUnavailable
        ├── LimitReached          a team has used up its share            HTTP 429
        └── StorageFull                                                   HTTP 507

The class docstring is the default message. `code` is stable: programs may rely on it.
"""

import difflib
from collections.abc import Iterable


class ArenaError(Exception):
    """Something went wrong in Arena."""

    code: str = "arena_error"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(self.message)


class CallerError(ArenaError):
    """The request is not valid."""

    code = "caller_error"


class InvalidInput(CallerError):
    """A value is not valid here."""

    code = "invalid_input"


class NotFound(CallerError):
    """There is nothing by that name."""

    code = "not_found"

    @classmethod
    def among(cls, what: str, name: str, known: Iterable[str]) -> "NotFound":
        """The error for an unknown `name`, with the nearest known one."""
        return cls(f"no {what} is called {name!r}{nearest(name, known)}")


class Conflict(CallerError):
    """The thing is not in a state that allows this."""

    code = "conflict"


class Unauthorized(CallerError):
    """A valid token is needed: send it as 'Authorization: Bearer <token>'."""

    code = "unauthorized"


class Forbidden(CallerError):
    """The token does not allow that."""

    code = "forbidden"


class AgentFault(ArenaError):
    """The agent failed at its task."""

    code = "agent_fault"


class AgentCrashed(AgentFault):
    """The agent ended with an error."""

    code = "agent_crashed"


class AgentTimedOut(AgentFault):
    """The agent did not answer in time."""

    code = "agent_timed_out"


class AgentSaidNothing(AgentFault):
    """The agent answered with nothing."""

    code = "agent_said_nothing"


class InfrastructureError(ArenaError):
    """Something between Arena and the agent does not work."""

    code = "infrastructure_error"
    retry_after_seconds: float | None = None
    """When a retry makes sense; None if that is not known."""

    def __init__(self, message: str | None = None, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable
        """False if a retry cannot help: a program that is not installed."""


class AgentUnavailable(InfrastructureError):
    """The agent cannot be reached."""

    code = "agent_unavailable"


class LimitReached(InfrastructureError):
    """The team has used up its share for now."""

    code = "limit_reached"


class StorageFull(InfrastructureError):
    """There is no space left to store this."""

    code = "storage_full"


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for an error message: the closest known name, or all names if there are few."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    if 0 < len(names) <= 12:
        return f"; known: {', '.join(names)}"
    return ""
