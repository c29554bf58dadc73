"""Where an agent can be asked from: any machine, or those with a label."""

import re
import socket
from pathlib import Path

from arena.agents.agent import AgentDefinition
from arena.agents.connectors import runs_here
from arena.agents.registry import BUILTIN_DIRECTORY
from arena.agents.spec import CommandSpec, PythonSpec
from arena.fields import MAX_LABEL_LENGTH


def label_of(agent: AgentDefinition) -> str | None:
    """The label of the workers that can ask this agent; None: all can.

    An agent that needs files or a server of this machine is asked from this machine, unless its
    file names another label.
    """
    if agent.placement is not None:
        return agent.placement
    if is_bundled(agent.source):
        return None
    is_local = isinstance(agent.connector, CommandSpec | PythonSpec) or runs_here(agent)
    return host_label() if is_local else None


def host_label() -> str:
    """The label of this machine: its name."""
    name = re.sub(r"[^a-z0-9.-]+", "-", socket.gethostname().lower()).strip(".-")
    return name[:MAX_LABEL_LENGTH].rstrip(".-") or "localhost"


def is_bundled(source: Path | None) -> bool:
    """Whether an agent's file comes with Arena, so that every machine has it."""
    return source is not None and source.parent == BUILTIN_DIRECTORY
