"""The file of an agent: its keys, and what is said about it when one of them is wrong."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from arena.agents.agent import DEFAULT_VERSION, ID_PATTERN, MAX_ID_LENGTH, Agent, Limits
from arena.agents.agent_yaml import BadFile, Document, Location, Place, Problem, read_document
from arena.agents.connectors import connector_types
from arena.agents.semver import MAX_LENGTH, PATTERN
from arena.agents.spec import SPECS, ConnectorSpec, OtherSpec, UsagePointers
from arena.errors import nearest

_Line = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\r\n\x00]*$")]

_PATTERNS = {
    ID_PATTERN: "lower-case letters, digits and hyphens, beginning with a letter or digit",
    PATTERN: "a semantic version such as 1.0.0",
    r"^[^\r\n\x00]*$": "one line",
}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class LimitsSection(_Strict):
    """The key `limits`."""

    max_concurrency: Annotated[int, Field(ge=1, le=1000)] = Limits().max_concurrency
    per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class AgentFile(_Strict):
    """The keys of an agent's file; what is inside `connector` depends on its type."""

    id: Annotated[str, Field(max_length=MAX_ID_LENGTH, pattern=ID_PATTERN)]
    version: Annotated[str, Field(max_length=MAX_LENGTH, pattern=PATTERN)] = DEFAULT_VERSION
    name: _Line | None = None
    nickname: _Line | None = None
    description: Annotated[str, Field(max_length=10_000)] = ""
    tags: tuple[Annotated[str, Field(min_length=1, max_length=50)], ...] = ()
    connector: dict[str, JsonValue]
    limits: LimitsSection = LimitsSection()


def read_agent(path: Path) -> tuple[Agent, Place]:
    """The agent in the file at `path` and where its id stands.

    Raises `BadFile` with every problem found.
    """
    document = read_document(path)
    file, problems = _read_file(document)
    connector, more = _read_connector(document)
    if problems or more or file is None or connector is None:
        raise BadFile(sorted({*problems, *more}), _given_id(document))
    agent = Agent(
        id=file.id,
        version=file.version,
        name=file.name or file.id,
        nickname=file.nickname,
        description=file.description,
        tags=file.tags,
        connector=connector,
        limits=Limits(
            max_concurrency=file.limits.max_concurrency, per_minute=file.limits.per_minute
        ),
        source=path,
    )
    return agent, document.place(("id",))


def _given_id(document: Document) -> str | None:
    given = document.value.get("id") if isinstance(document.value, dict) else None
    return given if isinstance(given, str) else None


def _read_file(document: Document) -> tuple[AgentFile | None, list[Problem]]:
    try:
        # As JSON, because that is what strict mode knows lists and whole floats from.
        return AgentFile.model_validate_json(json.dumps(document.value)), []
    except ValidationError as error:
        return None, [_problem(document, (), details) for details in error.errors()]


def _read_connector(document: Document) -> tuple[ConnectorSpec | None, list[Problem]]:
    value = document.value.get("connector") if isinstance(document.value, dict) else None
    if not isinstance(value, dict):
        return None, []  # `_read_file` has said so
    known = connector_types()
    if "type" not in value:
        message = f"'type' is missing, must be one of {', '.join(sorted(known))}"
        return None, [document.problem(("connector",), message)]
    kind = value["type"]
    if not isinstance(kind, str) or kind not in known:
        message = f"connector type {_shown(kind)} is unknown{nearest(str(kind), known)}"
        return None, [document.problem(("connector", "type"), message)]
    if kind not in SPECS:
        options = {key: option for key, option in value.items() if key != "type"}
        return OtherSpec(type=kind, options=options), []
    try:
        return TypeAdapter(SPECS[kind]).validate_json(json.dumps(value)), []
    except ValidationError as error:
        return None, [_problem(document, ("connector",), details) for details in error.errors()]


def _problem(document: Document, parent: Location, details: ErrorDetails) -> Problem:
    """What pydantic found, in our words and at its place in the file."""
    location = (*parent, *details["loc"])
    kind = details["type"]
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        known = _known_keys(document, location[:-1])
        message = f"unknown key {str(location[-1])!r}{nearest(str(location[-1]), known)}"
        return document.problem(location, message, at_key=True)
    if kind in ("missing", "missing_argument"):
        return document.problem(location, f"{str(location[-1])!r} is missing")
    name = ".".join(map(str, location)) or "the file"
    shown = f"is {_shown(details['input'])}, " if _is_quotable(location, details["input"]) else ""
    return document.problem(location, f"{name} {shown}{_allowed(details)}")


def _is_quotable(location: Location, value: object) -> bool:
    """Whether a problem, which everybody may read, can hold the value.

    What stands in a connector may be a secret in the wrong place, and so may what holds all of it.
    """
    return location[:1] not in ((), ("connector",)) and not isinstance(value, dict | list)


def _known_keys(document: Document, location: Location) -> Iterable[str]:
    match location:
        case ("limits",):
            return LimitsSection.model_fields
        case ("connector", "usage"):
            return _names(UsagePointers)
        case ("connector",):
            connector = document.value["connector"] if isinstance(document.value, dict) else None
            kind = connector.get("type") if isinstance(connector, dict) else None
            return _names(SPECS[str(kind)])
        case _:
            return AgentFile.model_fields


def _names(spec: type) -> Iterable[str]:
    return [entry.name for entry in dataclasses.fields(spec)]


def _allowed(details: ErrorDetails) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "string_type":
            return "must be text" + ("; put it in quotes" if _is_scalar(details["input"]) else "")
        case "string_pattern_mismatch":
            return f"must be {_PATTERNS.get(context['pattern'], context['pattern'])}"
        case "dict_type" | "dataclass_type" | "model_type" | "model_attributes_type":
            return "must be a mapping of keys to values"
        case "tuple_type" | "list_type":
            return "must be a list"
        case "value_error":
            return str(context["error"])
        case _:
            rest = details["msg"].removeprefix("Input ").removeprefix("String ")
            return rest.replace("should", "must", 1)


def _is_scalar(value: object) -> bool:
    return isinstance(value, bool | int | float)


def _shown(value: object) -> str:
    """A value as the reader of the file would recognise it, short enough for one line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
