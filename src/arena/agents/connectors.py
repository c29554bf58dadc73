"""Creates the connector of an agent by its type: built in or from a package.

A connector type is a function `connect(agent, secrets) -> Connector`. Other packages add theirs by
the entry point group `arena.connectors`; the name is the `type` in the agent's file.
"""

import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Literal, cast
from urllib.parse import urlsplit

from arena.agents.agent import AgentDefinition
from arena.agents.connector import Connector
from arena.agents.secrets import Redacted, Secrets
from arena.agents.spec import CommandSpec
from arena.errors import AgentUnavailable, NotFound

ENTRY_POINTS = "arena.connectors"

BUILTIN: Mapping[str, str] = {
    "command": "arena.agents.command:connect",
    "python": "arena.agents.callable:connect",
    "http": "arena.agents.http:connect",
    "openai": "arena.agents.chat:connect",
    "a2a": "arena.agents.a2a:connect",
}

Ability = Literal["conversation", "tools", "workspace", "trace"]
"""What a connector can do besides sending one prompt."""

ABILITIES: Mapping[str, frozenset[Ability]] = {
    "command": frozenset({"conversation", "trace", "workspace"}),
    "python": frozenset({"conversation", "trace", "workspace"}),
    "http": frozenset({"conversation", "trace", "workspace"}),
    "openai": frozenset({"conversation", "tools"}),
    "a2a": frozenset({"conversation"}),
}
"""Of the built-in types; a connector of another package has them as `connect.abilities`."""

_EXTRAS = {"a2a": "a2a"}
"""Types that need an optional package, and the extra that installs it."""

Connect = Callable[[AgentDefinition, Secrets], Connector]


@cache
def connector_types() -> Mapping[str, str]:
    """Every type of connector and its dotted path; the built-in ones cannot be replaced."""
    external = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return {**external, **BUILTIN}


def abilities_of(agent: AgentDefinition) -> frozenset[Ability]:
    """What the connector of an agent can do besides sending one prompt."""
    spec = agent.connector
    if spec.type in ABILITIES:
        is_able = getattr(spec, "can_converse", True)
        return ABILITIES[spec.type] - (frozenset() if is_able else {"conversation"})
    return frozenset(getattr(_function(agent), "abilities", ()))


def runs_here(agent: AgentDefinition) -> bool:
    """Whether the agent may be able to read the files of this machine."""
    spec = agent.connector
    if isinstance(spec, CommandSpec):
        return spec.place is None
    address = getattr(spec, "url", None) or getattr(spec, "base_url", None)
    if isinstance(address, str):
        host = urlsplit(address).hostname or ""
        return host == "localhost" or host == "::1" or host.startswith("127.")
    return True


def connect(agent: AgentDefinition, *, environ: Mapping[str, str] | None = None) -> Connector:
    """A connector to `agent` that redacts its secrets. It does not enforce the agent's limits.

    Secrets are taken from `environ` (by default the environment of this process). The connector
    belongs to the event loop it is first used in; the caller closes it.
    """
    function = _function(agent)
    secrets = Secrets(environ)
    connector = function(agent, secrets)
    if agent.traces is not None:
        connector = _traced(connector, agent, secrets)
    return Redacted(connector, secrets)


def _function(agent: AgentDefinition) -> Connect:
    """The function that connects this type of agent."""
    kind, known = agent.connector.type, connector_types()
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


def _traced(connector: Connector, agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector, with the spans of its agent."""
    if "trace" not in abilities_of(agent):
        message = f"the connector {agent.connector.type!r} cannot pass traces on; remove 'traces'"
        raise AgentUnavailable(message, retryable=False)
    try:
        # Imported on first use: the HTTP server and the messages of OTLP take 0.2 s to load.
        from arena.agents.traced import Traced
    except ImportError as error:
        raise AgentUnavailable(
            f"traces need the package of {error.name}, which is not installed; install it with:"
            ' pip install "agent-arena[traces]"',
            retryable=False,
        ) from error
    return Traced(connector, agent, secrets)
