"""An agent as data, so that it can be asked from a machine that does not have its file."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from arena.agents.agent import AgentDefinition, AgentKeys
from arena.agents.placement import is_bundled
from arena.agents.registry import BUILTIN_DIRECTORY
from arena.agents.spec import OtherSpec
from arena.errors import InfrastructureError

BUNDLED = "bundled"
"""The key of a file that comes with Arena, wherever that is installed."""


@cache
def _adapter() -> TypeAdapter[AgentKeys]:
    # Built on first use: it takes milliseconds, and only queued runs need it.
    return TypeAdapter(AgentKeys)


def freeze(agent: AgentDefinition) -> dict[str, Any]:
    """The keys of the agent's file and where it is; no secret, only their names."""
    body: dict[str, Any] = {
        field.name: to_jsonable_python(getattr(agent, field.name))
        for field in dataclasses.fields(AgentKeys)
    }
    if isinstance(agent.connector, OtherSpec):
        body["connector"] = {"type": agent.connector.type, **agent.connector.options}
    if agent.source is not None and is_bundled(agent.source):
        return body | {BUNDLED: agent.source.name}
    return body | {"source": str(agent.source.absolute()) if agent.source else None}


def thaw(body: Mapping[str, Any]) -> AgentDefinition:
    """The agent that was frozen."""
    keys = dict(body)
    source = keys.pop("source", None)
    path = Path(source) if source else None
    if bundled := keys.pop(BUNDLED, None):
        path = BUILTIN_DIRECTORY / bundled
    # As JSON: in strict mode pydantic accepts a mapping for a dataclass only from JSON.
    try:
        read = _adapter().validate_json(json.dumps(keys))
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise InfrastructureError(
            f"the agent was stored by another release of Arena: {'; '.join(wrong)}",
            retryable=False,
        ) from error
    fields: dict[str, Any] = {
        field.name: getattr(read, field.name) for field in dataclasses.fields(AgentKeys)
    }
    fields["name"] = read.name or read.id
    return AgentDefinition(source=path, **fields)


def digest_of(body: Mapping[str, Any]) -> str:
    """The digest of a frozen agent."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
