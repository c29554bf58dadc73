"""Reads the file of an agent, and reports its problems."""

import dataclasses
import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

from pydantic import TypeAdapter, ValidationError

from arena.agents.agent import (
    ID_PATTERN,
    LINE_PATTERN,
    VERSION_PATTERN,
    AgentDefinition,
    AgentKeys,
    AgentLimits,
)
from arena.agents.connectors import ABILITIES, connector_types
from arena.agents.spec import SPECS, PlaceSpec, Price, TracesSpec, UsagePointers
from arena.documents.problem import FileProblem, GivenUp, KeyPath, Place, ProblemList, read_content
from arena.documents.validation import Fault, faults_of, type_name
from arena.documents.yaml_reader import Node, YamlReader
from arena.errors import nearest
from arena.fields import LABEL_PATTERN, LABEL_WORDS

MAX_FILE_BYTES = 64 * 1024
PATTERNS = {
    ID_PATTERN: "lower-case letters, digits and hyphens, beginning with a letter or digit",
    VERSION_PATTERN: "a semantic version such as 1.0.0",
    LINE_PATTERN: "one line",
    LABEL_PATTERN: LABEL_WORDS,
}
_ID_LINE = re.compile(rb"""^id:\s*["']?([\w-]+)""", re.MULTILINE)
"""Finds the agent's id even in a file that is not valid YAML."""


class BadFile(Exception):
    """A file does not define an agent; `problems` says why."""

    def __init__(
        self, problems: tuple[FileProblem, ...], agent_id: str | None, *, is_unread: bool
    ) -> None:
        super().__init__(*map(str, problems))
        self.problems = problems
        self.agent_id = agent_id
        """The agent's id, if it can be read."""
        self.is_unread = is_unread
        """Whether the system could not read the file, which may work the next time."""


def read_agent(path: Path) -> tuple[AgentDefinition, Place]:
    """The agent in the file at `path` and the position of its id; `BadFile` with all problems."""
    problems = ProblemList(str(path))
    data, value = b"", cast(object, None)
    try:
        data = read_content(path, problems, max_bytes=MAX_FILE_BYTES)
        node = YamlReader(data, problems, as_json=True).document()
        value = node.value
        keys = _checked(node, problems)
        if keys is not None and not problems:
            fields = {entry.name: getattr(keys, entry.name) for entry in dataclasses.fields(keys)}
            fields["name"] = keys.name or keys.id
            return AgentDefinition(source=path, **fields), node.place(("id",))
    except GivenUp:
        pass  # the last problem says why
    raise BadFile(
        problems.in_order(), _readable_id(value, data), is_unread=problems.has_system_error
    )


def _checked(node: Node, problems: ProblemList) -> AgentKeys | None:
    fault = _connector_fault(node.value)
    for found in (fault, _traces_fault(node.value)):
        if found is not None:
            problems.add(found.place(node), str(found))
    try:
        # As JSON: in strict mode pydantic accepts a mapping for a dataclass only from JSON.
        return _adapter().validate_json(json.dumps(node.value))
    except ValidationError as error:
        for found in faults_of(error, _known_keys, PATTERNS):
            head, rest = found.path[:1], found.path[1:]
            if head == ("connector",):
                if fault is not None:
                    continue
                # The first step inside is the tag of the union member, not a key of the file.
                found = replace(found, path=(*head, *rest[1:]))
            problems.add(found.place(node), str(found))
    return None


@cache
def _adapter() -> TypeAdapter[AgentKeys]:
    # Built on first use: it takes milliseconds, and many commands read no agent.
    return TypeAdapter(AgentKeys)


def _connector_fault(value: object) -> Fault | None:
    """A fault in the type of the connector, which decides its other keys."""
    file = cast(dict[str, object], value) if isinstance(value, dict) else {}
    if "connector" not in file:
        return None
    if not isinstance(file["connector"], dict):
        message = f"must be a mapping, is {type_name(file['connector'])}"
        return Fault(path=("connector",), message=message)
    connector = cast(dict[str, object], file["connector"])
    known = connector_types()
    if "type" not in connector:
        message = f"needs the key 'type': one of {', '.join(sorted(known))}"
        return Fault(path=("connector",), message=message)
    kind = connector["type"]
    if isinstance(kind, str) and kind in known:
        return None
    message = f"unknown type {json.dumps(kind)[:40]}{nearest(str(kind), known)}"
    return Fault(path=("connector", "type"), message=message)


def _traces_fault(value: object) -> Fault | None:
    """A fault in asking for traces from an agent that is not told where to send them."""
    file = cast(dict[str, object], value) if isinstance(value, dict) else {}
    connector = file.get("connector")
    if not file.get("traces") or not isinstance(connector, dict):
        return None
    kind = cast(dict[str, object], connector).get("type")
    if not isinstance(kind, str) or kind not in ABILITIES or "trace" in ABILITIES[kind]:
        return None
    able = ", ".join(name for name, abilities in ABILITIES.items() if "trace" in abilities)
    message = f"is not for the connector {kind!r}, only for: {able}"
    return Fault(path=("traces",), message=message)


def _known_keys(at: KeyPath) -> Iterable[str]:
    match at:
        case ("limits",):
            kind = AgentLimits
        case ("traces",):
            kind = TracesSpec
        case ("connector", str(), "usage"):
            kind = UsagePointers
        case ("connector", str(), "price"):
            kind = Price
        case ("connector", str(), "place"):
            kind = PlaceSpec
        case ("connector", str(name)):
            kind = SPECS[name]
        case _:
            kind = AgentKeys
    return [entry.name for entry in dataclasses.fields(kind)]


def _readable_id(value: object, data: bytes) -> str | None:
    agent_id = cast(dict[str, object], value).get("id") if isinstance(value, dict) else None
    if isinstance(agent_id, str):
        return agent_id
    found = _ID_LINE.search(data)
    return found[1].decode() if found else None
