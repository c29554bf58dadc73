"""From an agent to a connector: by the type its file names, built in or from another package.

A connector is a function `connect(agent, secrets) -> Connector`. Another package offers one by the
entry point group `arena.connectors`; its name is the `type` in the agent's file.
"""

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import cast

from arena.agents.agent import Agent
from arena.agents.connector import Connector
from arena.agents.secrets import Redacted, Secrets
from arena.errors import AgentUnavailable, NotFound

ENTRY_POINTS = "arena.connectors"

BUILTIN: Mapping[str, str] = {
    "command": "arena.agents.command:connect",
    "python": "arena.agents.callable:connect",
    "http": "arena.agents.http:connect",
    "openai": "arena.agents.chat:connect",
    "a2a": "arena.agents.a2a:connect",
}

_EXTRAS = {"a2a": "a2a"}
"""Types that need an optional package, and the extra that brings it."""

Connect = Callable[[Agent, Secrets], Connector]


@cache
def connector_types() -> Mapping[str, str]:
    """Every type of connector and where it is found; the built-in ones cannot be replaced."""
    offered = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return {**offered, **BUILTIN}


def connect(agent: Agent, *, environ: Mapping[str, str] | None = None) -> Connector:
    """A connector to `agent` that keeps its secrets; its limits are kept by a `Limiter`.

    Secrets are taken from `environ` (by default the environment of this process). The connector
    belongs to the event loop it is first used in, and to its caller, who closes it.
    """
    secrets = Secrets(environ)
    connector = _connect_function(agent.connector.type)(agent, secrets)
    return Redacted(connector, secrets)


def _connect_function(kind: str) -> Connect:
    known = connector_types()
    if kind not in known:
        raise NotFound.among("connector type", kind, known)
    try:
        return cast(Connect, pkgutil.resolve_name(known[kind]))
    except ImportError as error:
        extra = _EXTRAS.get(kind)
        remedy = f'install it with: pip install "agent-arena[{extra}]"' if extra else str(error)
        raise AgentUnavailable(
            f"the connector {kind!r} needs a package that is not installed; {remedy}",
            retryable=False,
        ) from error
