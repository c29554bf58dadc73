"""Who answers: the agents Arena knows and the ways to reach them.

An **agent** is described by a YAML file (`agent_file`) that the **registry** reads and keeps up to
date. `connect(agent)` gives a **connector**: one question in, one answer out, with the agent's
limits kept, its secrets redacted and its time-outs real. There are five connectors (`command`,
`python`, `http`, `openai`, `a2a`), each loaded when it is first used; other packages add theirs by
the entry point group `arena.connectors`.

This room imports `arena.errors` and nothing else of Arena. It reads no settings: folders are passed
in, and the environment is only looked at for the variables an agent's file names.
"""

from arena.agents.agent import Agent, Limits
from arena.agents.agent_file import read_agent
from arena.agents.agent_yaml import BadFile, Place, Problem
from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    AgentBusy,
    Answer,
    Connector,
    Question,
    Usage,
)
from arena.agents.connectors import connect, connector_types
from arena.agents.limits import Limiter
from arena.agents.registry import BUILTIN_DIRECTORY, Registry
from arena.agents.secrets import Secrets
from arena.agents.spec import (
    A2ASpec,
    CommandSpec,
    ConnectorSpec,
    HttpSpec,
    OpenAISpec,
    OtherSpec,
    PythonSpec,
)

__all__ = [
    "BUILTIN_DIRECTORY",
    "MAX_OUTPUT_BYTES",
    "A2ASpec",
    "Agent",
    "AgentBusy",
    "Answer",
    "BadFile",
    "CommandSpec",
    "Connector",
    "ConnectorSpec",
    "HttpSpec",
    "Limiter",
    "Limits",
    "OpenAISpec",
    "OtherSpec",
    "Place",
    "Problem",
    "PythonSpec",
    "Question",
    "Registry",
    "Secrets",
    "Usage",
    "connect",
    "connector_types",
    "read_agent",
]
