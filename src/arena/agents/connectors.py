"""Creates the connector of an agent by its type: built in or from a package.

A connector type is a function `connect(agent, secrets) -> Connector`. Other packages add theirs by
the entry point group `arena.connectors`; the name is the `type` in the agent's file.
"""

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import cast

from arena.agents.agent import AgentDefinition
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
"""Types that need an optional package, and the extra that installs it."""

Connect = Callable[[AgentDefinition, Secrets], Connector]


@cache
def connector_types() -> Mapping[str, str]:
    """Every type of connector and its dotted path; the built-in ones cannot be replaced."""
    external = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return {**external, **BUILTIN}


def connect(agent: AgentDefinition, *, environ: Mapping[str, str] | None = None) -> Connector:
    """A connector to `agent` that redacts its secrets. It does not enforce the agent's limits.

    Secrets are taken from `environ` (by default the environment of this process). The connector
    belongs to the event loop it is first used in; the caller closes it.
    """
    kind, known = agent.connector.type, connector_types()
    if kind not in known:
        raise NotFound.among("connector type", kind, known)
    try:
        function = cast(Connect, pkgutil.resolve_name(known[kind]))
    except ImportError as error:
        extra = _EXTRAS.get(kind)
        remedy = f'install it with: pip install "agent-arena[{extra}]"' if extra else str(error)
        raise AgentUnavailable(
            f"the connector {kind!r} needs a package that is not installed; {remedy}",
            retryable=False,
        ) from error
    secrets = Secrets(environ)
    return Redacted(function(agent, secrets), secrets)
