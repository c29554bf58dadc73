"""Reads the tools of a test, which Arena plays; recorded answers are put into the test itself."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field, StrictInt, StrictStr

from arena.documents.problem import GivenUp, KeyPath, ProblemList, read_content
from arena.documents.validation import Fault, type_name
from arena.errors import InvalidInput
from arena.evaluation.fields import Body, InvalidStandard, IsJson, Json, Text, checked, read
from arena.evaluation.validators import schema_problem

MAX_TOOLS = 100
MAX_ANSWERS = 1000
MAX_CASSETTE_BYTES = 1024 * 1024
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every server accepts as the name of a function."""

Arguments = Annotated[dict[str, Any], IsJson]


def _name_fault(name: str) -> str | None:
    return None if NAME.fullmatch(name) else "must be 1 to 64 letters, digits, '_' or '-'"


def _parameters_fault(schema: object) -> str | None:
    if fault := schema_problem(schema):
        return fault
    if not isinstance(schema, dict) or cast(dict[str, object], schema).get("type") != "object":
        return "must be a JSON Schema with type: object"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault(Body):
    kind: Literal["timeout", "error", "garbage"]
    message: Annotated[Text, IsJson] | None = None
    calls: Annotated[
        tuple[Annotated[StrictInt, Field(ge=1)], ...], Field(min_length=1, max_length=MAX_ANSWERS)
    ] = ()

    def faults(self) -> Iterator[Fault]:
        if self.kind == "garbage" and self.message is not None:
            yield Fault(path=("message",), message="is for a timeout or an error, not for garbage")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer(Body):
    arguments: Arguments | None = None
    answer: Json = None
    fault: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recorded(Body):
    arguments: Json = None
    result: Json = None
    error: Annotated[Text, IsJson] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tool(Body):
    name: Annotated[Text, checked(_name_fault)]
    description: Annotated[StrictStr, IsJson] = ""
    parameters: Annotated[Json, checked(_parameters_fault)] = None
    answer: Json = None
    answers: Annotated[list[Any], Field(min_length=1, max_length=MAX_ANSWERS)] | None = None
    recorded: Annotated[list[Any], Field(min_length=1, max_length=MAX_ANSWERS)] | None = None
    cassette: Text | None = None
    fault: Json = None


WAYS = ("answer", "answers", "recorded", "cassette")
"""How a tool knows its answers."""


def read_tools(
    value: Sequence[object], folder: Path | None, faults: list[Fault]
) -> tuple[dict[str, Any], ...]:
    """The tools as they are kept with a test; their faults are added to `faults`.

    `folder` is the one of the test file, in which a cassette is looked for; None: there is none.
    """
    tools = [
        tool
        for i, one in enumerate(value)
        if (tool := _read_tool(one, folder, faults, ("tools", i))) is not None
    ]
    names: set[str] = set()
    for i, tool in enumerate(tools):
        if tool["name"] in names:
            faults.append(Fault(path=("tools", i, "name"), message="another tool has this name"))
        names.add(tool["name"])
    return tuple(tools)


def cassettes_of(value: Sequence[object], folder: Path) -> list[Path]:
    """The cassettes that tools name."""
    tools = [cast(Mapping[str, object], one) for one in value if isinstance(one, Mapping)]
    return [folder / name for one in tools if isinstance(name := one.get("cassette"), str)]


def check_tools(value: Sequence[object]) -> None:
    """Refuse tools that no test file can have given a test."""
    faults: list[Fault] = []
    read_tools(value, None, faults)
    if faults:
        raise InvalidInput(InvalidStandard(faults).message)


def _read_tool(
    value: object, folder: Path | None, faults: list[Fault], at: KeyPath
) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None  # the check of the keys reports it
    body = dict(cast(Mapping[str, Any], value))
    before = len(faults)
    tool = read(_Tool, body, faults, at)
    if tool is None:
        return None
    fault = _read_fault(body, faults, at)
    given = [way for way in WAYS if way in body]
    if len(given) > 1:
        message = f"a tool has only one of {', '.join(WAYS)}"
        faults.append(Fault(path=(*at, given[1]), message=message, of_key=True))
    elif not given and ("fault" not in body or (fault is not None and fault.calls)):
        faults.append(Fault(path=at, message=f"needs one of the keys {', '.join(WAYS)}"))
    if tool.answers is not None:
        for i, one in enumerate(tool.answers):
            _read_answer(one, faults, (*at, "answers", i))
    if tool.cassette is not None:
        body["recorded"] = _cassette(tool, folder, faults, (*at, "cassette"))
        del body["cassette"]
    for i, one in enumerate(tool.recorded or ()):
        read(_Recorded, one, faults, (*at, "recorded", i))
    return body if len(faults) == before else None


def _read_answer(value: object, faults: list[Fault], at: KeyPath) -> None:
    if read(_Answer, value, faults, at) is None:
        return
    body = cast(Mapping[str, Any], value)
    fault = _read_fault(body, faults, at)
    if "answer" not in body and ("fault" not in body or (fault is not None and fault.calls)):
        faults.append(Fault(path=at, message="needs the key 'answer' or 'fault'"))
    elif "answer" in body and fault is not None and not fault.calls:
        message = "every call fails, so there is no answer; say with 'calls' which ones fail"
        faults.append(Fault(path=(*at, "fault"), message=message))


def _read_fault(body: Mapping[str, Any], faults: list[Fault], at: KeyPath) -> _Fault | None:
    if "fault" not in body:
        return None
    value = body["fault"]
    return read(
        _Fault, {"kind": value} if isinstance(value, str) else value, faults, (*at, "fault")
    )


def _cassette(
    tool: _Tool, folder: Path | None, faults: list[Fault], at: KeyPath
) -> list[dict[str, Any]]:
    """The calls of the tool in a cassette: a JSON list of steps, or an answer that has some."""
    name = tool.cassette or ""
    try:
        if folder is None or Path(name).is_absolute():
            raise ValueError("must be the path of a file, seen from the test file")
        calls = list(_recorded_calls(tool.name, _content(folder / name)))
        if not calls:
            raise ValueError(f"has no calls of {tool.name}")
    except ValueError as error:
        faults.append(Fault(path=at, message=f"{name}: {error}"))
        return []
    inner: list[Fault] = []
    for i, call in enumerate(calls):
        read(_Recorded, call, inner, (i,))
    faults += [replace(fault, path=at, message=f"{name}: {fault}") for fault in inner]
    return calls


def _content(path: Path) -> object:
    problems = ProblemList(str(path))
    try:
        return json.loads(read_content(path, problems, max_bytes=MAX_CASSETTE_BYTES))
    except GivenUp as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("is nested too deep") from None


def _recorded_calls(tool: str, content: object) -> Iterator[dict[str, Any]]:
    if isinstance(content, dict):
        content = cast(dict[str, object], content).get("steps")
    if not isinstance(content, list):
        raise ValueError("must be a JSON list of steps, or an object that has 'steps'")
    for one in cast(list[object], content):
        if not isinstance(one, dict):
            raise ValueError(f"a step must be an object, not {type_name(one)}")
        step = cast(dict[str, Any], one)
        if step.get("tool", tool) == tool:
            kept = {key: step.get(key) for key in ("arguments", "result", "error")}
            yield {key: value for key, value in kept.items() if value is not None}
