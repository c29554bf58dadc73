"""The team that the current work is done for; machines and caches are shared by team.

Set where work begins (a request, a run, the judging of a task) and read where teams compete for
something: turns of the sandbox, slots of an agent, calls of a judge, threads. A context variable,
because everything between the two would only pass it on.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

DEFAULT_TEAM = "default"

_team: ContextVar[str] = ContextVar("team", default=DEFAULT_TEAM)


def current_team() -> str:
    """The team that the current task works for."""
    return _team.get()


@contextmanager
def working_for(team_id: str) -> Generator[None]:
    """Work for this team until the block ends."""
    token = _team.set(team_id)
    try:
        yield
    finally:
        _team.reset(token)
