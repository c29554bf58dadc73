"""Reads a small YAML file into plain JSON values and remembers where everything stands."""

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import yaml
from pydantic import JsonValue

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32
"""Deeper than any agent's file, and shallow enough for every recursion after this."""

Location = tuple[str | int, ...]
"""The way from the root of a document to a value: keys and indexes."""


class _Mark(Protocol):
    """The two parsers of PyYAML have a class each for this."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


_ID_LINE = re.compile(r"""^id:\s*["']?([\w-]+)""", re.MULTILINE)
"""Tells whose file it is even where it is no YAML."""
_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file; lines and columns count from 1."""

    path: Path
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something wrong in a file, and what is allowed there."""

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class BadFile(Exception):
    """The file does not hold what is needed; `problems` says why."""

    def __init__(self, problems: list[Problem], agent_id: str | None = None) -> None:
        super().__init__(*map(str, problems))
        self.problems = problems
        self.agent_id = agent_id
        """Whose file it is, as far as it can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The value of a file, and the place of each of its parts."""

    path: Path
    value: JsonValue
    root: yaml.Node

    def problem(self, location: Location, message: str, *, at_key: bool = False) -> Problem:
        """A problem with what stands at `location` (or with its key)."""
        return Problem(self.place(location, at_key=at_key), message)

    def place(self, location: Location, *, at_key: bool = False) -> Place:
        """Where the value (or the key) at `location` stands, or its nearest parent."""
        node = self.root
        for depth, step in enumerate(location, start=1):
            child = _child(node, step, at_key=at_key and depth == len(location))
            if child is None:
                break
            node = child
        return _place(self.path, node.start_mark)


def read_document(path: Path) -> Document:
    """The document in the file at `path`; raises `BadFile` with every problem found."""
    text = _read_text(path)
    try:
        return _parsed(path, text)
    except BadFile as wrong:
        found = _ID_LINE.search(text)
        raise BadFile(wrong.problems, found[1] if found else None) from None


def _parsed(path: Path, text: str) -> Document:
    loader = yaml.CSafeLoader(text)
    try:
        _check_events(path, text)
        root = loader.get_single_node()
        if root is None:
            raise BadFile([_problem(path, None, "the file is empty, an agent is needed")])
        problems = list(_node_problems(path, root))
        if problems:
            raise BadFile(problems)
        return Document(path=path, value=_value(loader, root), root=root)
    except yaml.MarkedYAMLError as error:
        what = error.problem or error.context or "not valid"
        raise BadFile([_problem(path, error.problem_mark, f"not valid YAML: {what}")]) from None
    except yaml.YAMLError as error:
        raise BadFile([_problem(path, None, f"not valid YAML: {error}")]) from None
    finally:
        loader.dispose()


def _read_text(path: Path) -> str:
    try:
        # Asked before it is opened: opening a named pipe would wait for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadFile(
                [_problem(path, None, "is not a regular file; an agent's file is wanted")]
            )
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = (error.strerror or "unreadable").lower()
        raise BadFile([_problem(path, None, f"cannot be read: {why}")]) from None
    if len(raw) > MAX_BYTES:
        raise BadFile([_problem(path, None, f"longer than {MAX_BYTES // 1024} KiB, the limit")])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise BadFile([Problem(Place(path, line, column), message)]) from None


def _check_events(path: Path, text: str) -> None:
    """Refuses what could blow up in memory or on the stack, before anything is built."""
    depth = 0
    events = cast(Iterator[yaml.Event], yaml.parse(text, Loader=yaml.CSafeLoader))  # pyright: ignore[reportUnknownMemberType]
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise BadFile([_problem(path, event.start_mark, "aliases are not allowed here")])
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise BadFile([_problem(path, event.start_mark, message)])


def _node_problems(path: Path, node: yaml.Node) -> Iterator[Problem]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _node_problems(path, item)
    elif isinstance(node, yaml.MappingNode):
        seen: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                yield _problem(path, key.start_mark, "a key must be a plain word")
            elif key.value in seen:
                first = seen[key.value].start_mark.line + 1
                yield _problem(
                    path, key.start_mark, f"{key.value!r} is written twice, first in line {first}"
                )
            else:
                seen[key.value] = key
            yield from _node_problems(path, value)


def _value(loader: yaml.CSafeLoader, node: yaml.Node) -> JsonValue:
    """The JSON value of a node: dates and other fancies of YAML stay the text they are."""
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _value(loader, value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item) for item in node.value]
    if node.tag not in _SCALARS:
        return str(node.value)
    try:
        value: JsonValue = loader.construct_object(node)  # pyright: ignore[reportUnknownMemberType]
    except ValueError as error:
        raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from None
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(node.value)
    return value


def _child(node: yaml.Node, step: str | int, *, at_key: bool) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key if at_key else value
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step]
    return None


def _problem(path: Path, mark: _Mark | None, message: str) -> Problem:
    return Problem(_place(path, mark), message)


def _place(path: Path, mark: _Mark | None) -> Place:
    return Place(path, mark.line + 1, mark.column + 1) if mark else Place(path)
