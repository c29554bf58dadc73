"""Whose fault an HTTP status is: the same answer for every connector that speaks HTTP."""

from arena.agents.connector import AgentBusy
from arena.errors import AgentCrashed, AgentUnavailable, ArenaError
from arena.models.retry_after import seconds_to_wait

MAX_EXCERPT = 300

_BUSY = {429, 502, 503, 504}
_REMEDIES = {
    401: "the agent wants a valid key; check its headers or api_key_env",
    403: "the key may not do that",
    404: "there is no agent at this address; check its url",
}


def fault_of_status(status: int, *, excerpt: str, retry_after: str | None = None) -> ArenaError:
    """The error for an answer that is not a success; `excerpt` is what it said, redacted."""
    said = f": {shortened(excerpt)}" if excerpt.strip() else ""
    if status in _BUSY:
        seconds = seconds_to_wait(retry_after)
        return AgentBusy(
            f"the agent answered with status {status}{said}", retry_after_seconds=seconds
        )
    if status in _REMEDIES:
        message = f"the agent answered with status {status}; {_REMEDIES[status]}{said}"
        return AgentUnavailable(message, retryable=False)
    if 300 <= status < 400:
        message = f"the agent redirects (status {status}); give its final address as url"
        return AgentUnavailable(message, retryable=False)
    return AgentCrashed(f"the agent answered with status {status}{said}")


def shortened(text: str) -> str:
    """`text` in one line, short enough for a message."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_EXCERPT else f"{line[:MAX_EXCERPT]}..."
