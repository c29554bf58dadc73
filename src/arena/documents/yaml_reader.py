"""Reads YAML as plain values with their positions, one list item at a time.

Built on the parser's *events*: the node graph of a whole file is never built, so reading a file of
thousands of tests takes no more memory than its largest test. The dangers of YAML are limited
here: nesting depth, expansion of aliases, and tags that would construct objects.
"""

import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

import yaml
from yaml import events as ev
from yaml.constructor import SafeConstructor

from arena.documents.problem import BYTE_ORDER_MARK, TOP, KeyPath, Place, ProblemList, place_of_byte
from arena.text import text_problem

MAX_DEPTH = 64
"""How deep lists and mappings may nest."""
MAX_REPEATED = 4 * 1024 * 1024
"""How much content (characters and values) all aliases of one file may repeat together."""

# The pure Python loader accepts the same language but is about ten times slower.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Mark = Any
"""The parser's position of a value, counted from 0. Converted to a `Place` only for a message:
converting all of them was a fifth of the cost of reading."""

_TAG = "tag:yaml.org,2002:"
_CONSTRUCTOR = cast(Any, SafeConstructor())
_CONVERTERS: dict[str, Callable[[yaml.ScalarNode], object]] = {
    _TAG + "int": _CONSTRUCTOR.construct_yaml_int,
    _TAG + "float": _CONSTRUCTOR.construct_yaml_float,
    _TAG + "bool": _CONSTRUCTOR.construct_yaml_bool,
    _TAG + "null": _CONSTRUCTOR.construct_yaml_null,
}
# PyYAML's own tables, so that a scalar means the same as to `yaml.safe_load`. Types without a
# converter stay text: dates, for one, do not exist in JSON.
_RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = {
    first: [(tag, pattern) for tag, pattern in candidates if tag in _CONVERTERS]
    for first, candidates in cast(Any, yaml.SafeLoader).yaml_implicit_resolvers.items()
}


def plain_value(text: str) -> object:
    """The value of an unquoted scalar by the rules of YAML 1.1; ValueError if it has none."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            try:
                return _CONVERTERS[tag](yaml.ScalarNode(tag, text))
            except (ValueError, OverflowError) as error:
                shown = text if len(text) <= 40 else f"{text[:40]}…"
                raise ValueError(f"{shown} is not a usable number: quote it") from error
    return text


@dataclass(slots=True, kw_only=True)
class Node:
    """A value, with the positions of its parts and their keys."""

    value: object
    marks: dict[KeyPath, Mark] = field(default_factory=dict[KeyPath, Mark])
    """The start of each part."""
    key_marks: dict[KeyPath, Mark] = field(default_factory=dict[KeyPath, Mark])

    def place(self, path: KeyPath = (), *, of_key: bool = False) -> Place:
        """The position of the part at `path`, or of the nearest enclosing part that has one."""
        if of_key and path in self.key_marks:
            return _place(self.key_marks[path])
        while path and path not in self.marks:
            path = path[:-1]
        return _place(self.marks[path])


@dataclass(slots=True, kw_only=True)
class Member:
    """One entry of the file's outermost mapping, or one item of its streamed list."""

    key: str
    key_place: Place
    index: int | None = None
    """The item's index in the streamed list; None for every other entry."""
    node: Node


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: object
    weight: int
    height: int


class YamlReader:
    """Reads the UTF-8 bytes of one file. A reader is used once."""

    def __init__(
        self, data: bytes | BinaryIO, problems: ProblemList, *, as_json: bool = False
    ) -> None:
        """`data` is the content, or the open file if that is too large to hold."""
        source = data.removeprefix(BYTE_ORDER_MARK) if isinstance(data, bytes) else data
        self._data = source if isinstance(source, bytes) else b""
        self._problems = problems
        self._as_json = as_json
        """Whether to read keys that are not strings, NaN and the infinities as text."""
        self._events = cast(Iterator[Any], cast(Any, yaml).parse(source, Loader=LOADER))
        self._anchors: dict[str, _Anchored | None] = {}
        self._repeated = 0
        self._node = Node(value=None)

    def document(self) -> Node:
        """The whole file as one value.

        Problems are added to the list; raises `GivenUp` if reading cannot continue.
        """
        (node,) = self._guarded(self._document())
        return node

    def items(self) -> Iterator[Node]:
        """The items of a file that is one list, one by one.

        Problems are added to the list; raises `GivenUp` if reading cannot continue.
        """
        return self._guarded(self._items())

    def members(self, streamed: str) -> Iterator[Member]:
        """The entries of the outermost mapping; the list `streamed` comes item by item.

        Problems are added to the list; raises `GivenUp` if reading cannot continue.
        """
        return self._guarded(self._members(streamed))

    def _guarded(self, parts: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from parts
        except yaml.YAMLError as error:
            place, message = _syntax_problem(error, self._data)
            raise self._problems.give_up(place, message) from error
        finally:
            cast(Any, self._events).close()

    def _document(self) -> Iterator[Node]:
        self._expect_start("the file is empty")
        yield self._root_node(next(self._events), 0)
        self._expect_end()

    def _items(self) -> Iterator[Node]:
        self._expect_start("the file is empty; it needs a list of rows")
        start = next(self._events)
        if type(start) is not ev.SequenceStartEvent:
            message = "the file must be a list of rows"
            raise self._problems.give_up(_place(start.start_mark), message)
        self._refuse_tag(start)
        while type(item := next(self._events)) is not ev.SequenceEndEvent:
            yield self._root_node(item, 1)
        self._expect_end()

    def _members(self, streamed: str) -> Iterator[Member]:
        self._expect_start(f"the file is empty; it needs {streamed!r}")
        start = next(self._events)
        if type(start) is not ev.MappingStartEvent:
            message = f"the file must be a mapping with the key {streamed!r}"
            raise self._problems.give_up(_place(start.start_mark), message)
        self._refuse_tag(start)
        first_places: dict[str, Place] = {}
        while type(event := next(self._events)) is not ev.MappingEndEvent:
            key = self._key(event, 1)
            if key in first_places:
                self._report_duplicate(key, event, first_places[key])
            elif key is not None:
                first_places[key] = _place(event.start_mark)
                yield from self._member(key, _place(event.start_mark), streamed)
                continue
            self._root_node(next(self._events), 1)  # a bad key: its value is skipped
        self._expect_end()

    def _member(self, key: str, place: Place, streamed: str) -> Iterator[Member]:
        event = next(self._events)
        if key == streamed and type(event) is ev.SequenceStartEvent:
            self._refuse_tag(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = None  # the list is never held as a whole
            index = 0
            while type(item := next(self._events)) is not ev.SequenceEndEvent:
                node = self._root_node(item, 2)
                yield Member(key=key, key_place=place, index=index, node=node)
                index += 1
        else:
            yield Member(key=key, key_place=place, node=self._root_node(event, 1))

    def _expect_start(self, message_if_empty: str) -> None:
        next(self._events)  # start of stream
        if type(next(self._events)) is ev.StreamEndEvent:
            raise self._problems.give_up(TOP, message_if_empty)

    def _expect_end(self) -> None:
        next(self._events)  # end of document
        after = next(self._events)
        if type(after) is not ev.StreamEndEvent:
            message = "a second YAML document begins here; a file holds one: use two files"
            raise self._problems.give_up(_place(after.start_mark), message)

    def _root_node(self, event: Any, depth: int) -> Node:
        self._node = Node(value=None)
        self._node.value = self._compose(event, (), depth)
        return self._node

    def _compose(self, event: Any, path: KeyPath, depth: int) -> object:
        """The value that begins with `event`; consumes the events up to its end."""
        self._node.marks[path] = event.start_mark
        kind = cast(type[object], type(event))
        if kind is ev.AliasEvent:
            return self._alias(event, depth)
        anchor = event.anchor
        if anchor is not None:
            self._anchors[anchor] = None  # not usable before it is complete
        if kind is ev.ScalarEvent:
            value = self._scalar(event)
        elif depth > MAX_DEPTH:
            message = f"lists and mappings nest more than {MAX_DEPTH} deep here"
            raise self._problems.give_up(_place(event.start_mark), message)
        else:
            self._refuse_tag(event)
            is_list = kind is ev.SequenceStartEvent
            value = self._sequence(path, depth) if is_list else self._mapping(path, depth)
        if anchor is not None:
            self._anchors[anchor] = _Anchored(value, *_measure(value))
        return value

    def _scalar(self, event: Any) -> object:
        text = cast(str, event.value)
        self._refuse_tag(event)
        if event.implicit[0] and event.tag is None:
            try:
                value = plain_value(text)
            except ValueError as error:
                self._problems.add(_place(event.start_mark), str(error))
                return text
            is_finite = not isinstance(value, float) or math.isfinite(value)
            return value if is_finite or not self._as_json else text
        if event.style == '"' and (problem := text_problem(text)):
            self._problems.add(_place(event.start_mark), f"the text {problem}")
        return text

    def _sequence(self, path: KeyPath, depth: int) -> list[object]:
        items: list[object] = []
        while type(event := next(self._events)) is not ev.SequenceEndEvent:
            items.append(self._compose(event, (*path, len(items)), depth + 1))
        return items

    def _mapping(self, path: KeyPath, depth: int) -> dict[str, object]:
        values: dict[str, object] = {}
        merges: list[tuple[Mark, object]] = []
        while type(event := next(self._events)) is not ev.MappingEndEvent:
            if _is_merge(event):
                at = (*path, "<<")
                merges.append((event.start_mark, self._compose(next(self._events), at, depth)))
                continue
            key = self._key(event, depth)
            at = (*path, str(key))
            if key in values:
                self._report_duplicate(key, event, _place(self._node.key_marks[at]))
                # Composed all the same, to consume its events and to find the problems in it.
                key, at = None, (*path, f"{key} (again)")
            self._node.key_marks[at] = event.start_mark
            value = self._compose(next(self._events), at, depth + 1)
            if key is not None:
                values[key] = value
        for mark, merged in merges:  # last: a mapping's own keys win over merged ones
            self._merge(values, merged, path, mark)
        return values

    def _merge(self, values: dict[str, object], merged: object, path: KeyPath, mark: Mark) -> None:
        """Add the keys that `values` does not have itself; earlier sources win."""
        sources = cast(list[object], merged) if isinstance(merged, list) else [merged]
        for source in sources:
            if not isinstance(source, dict):
                self._problems.add(_place(mark), "'<<' merges a mapping or a list of mappings")
                return
            for key, value in cast(dict[str, object], source).items():
                if key not in values:
                    values[key] = value
                    self._node.marks[(*path, key)] = mark

    def _key(self, event: Any, depth: int) -> str | None:
        """The key at `event`; None (and a problem) if it cannot be a key."""
        is_scalar = type(event) is ev.ScalarEvent
        if is_scalar and event.anchor is None:
            key = self._scalar(event)
        else:
            key = self._compose(event, ("a key",), depth + 1)
        if self._as_json and is_scalar:
            key = event.value
        if isinstance(key, str):
            return sys.intern(key)  # the same few keys in thousands of tests
        message = "a key must be a string"
        if isinstance(key, bool | int | float):
            message += f", YAML reads this one as {str(key).lower()}: quote it"
        self._problems.add(_place(event.start_mark), message)
        return None

    def _alias(self, event: Any, depth: int) -> object:
        name = event.anchor
        anchored = self._anchors.get(name)
        if anchored is None:
            message = f"the alias *{name} has no anchor &{name} before it"
            if name in self._anchors:
                message = f"the alias *{name} would contain itself"
            self._problems.add(_place(event.start_mark), message)
            return None
        self._repeated += anchored.weight
        if self._repeated > MAX_REPEATED:
            most = f"{MAX_REPEATED // 1024**2} MiB"
            message = f"the aliases of this file repeat more than {most}; write fewer of them"
            raise self._problems.give_up(_place(event.start_mark), message)
        if depth + anchored.height > MAX_DEPTH:
            message = f"with this alias, values nest more than {MAX_DEPTH} deep"
            raise self._problems.give_up(_place(event.start_mark), message)
        return anchored.value

    def _refuse_tag(self, event: Any) -> None:
        """Report a tag other than the value's own type: tags can construct objects."""
        if event.tag is None:
            return
        is_list = type(event) is ev.SequenceStartEvent
        is_mapping = type(event) is ev.MappingStartEvent
        allowed = _TAG + ("seq" if is_list else "map" if is_mapping else "str")
        if event.tag not in ("!", allowed):
            tag = event.tag.replace(_TAG, "!!")
            message = f"the tag {tag} is not allowed; plain values need none"
            self._problems.add(_place(event.start_mark), message)

    def _report_duplicate(self, key: str | None, event: Any, first: Place) -> None:
        self._problems.add(_place(event.start_mark), f"duplicate key {key!r}; first: {first}")


def _place(mark: Mark) -> Place:
    return Place(mark.line + 1, mark.column + 1)


def _is_merge(event: Any) -> bool:
    return type(event) is ev.ScalarEvent and event.value == "<<" and event.implicit[0]


def _measure(value: object) -> tuple[int, int]:
    """The size of a value (characters and values in it) and its nesting depth."""
    if isinstance(value, str):
        return 1 + len(value), 0
    if not isinstance(value, dict | list):
        return 1, 0
    parts: list[object] = []
    if isinstance(value, dict):
        body = cast(dict[str, object], value)
        parts += [*body.keys(), *body.values()]
    else:
        parts += cast(list[object], value)
    weight, height = 1, 0
    for part in parts:
        part_weight, part_height = _measure(part)
        weight += part_weight
        height = max(height, part_height)
    return weight, height + 1


def _syntax_problem(error: yaml.YAMLError, data: bytes) -> tuple[Place, str]:
    """Where the parser stopped, and why."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        reason = " ".join(filter(None, (error.context, error.problem)))
        return Place(mark.line + 1, mark.column + 1), f"is not valid YAML: {reason}"
    if isinstance(error, yaml.reader.ReaderError):
        place = place_of_byte(data, error.position)
        return place, f"is not valid YAML: a character that is not allowed (byte {error.position})"
    return TOP, f"is not valid YAML: {error}"
