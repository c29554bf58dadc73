"""Turns pydantic's errors in a document into faults: where, and what to write instead."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from arena.documents.problem import KeyPath, Place
from arena.errors import nearest
from arena.text import NOT_UNICODE

if TYPE_CHECKING:
    from arena.documents.yaml_reader import Node

MESSAGES = {
    "string_type": "must be a string, is {type}",
    "string_unicode": NOT_UNICODE,
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "literal_error": "must be {expected}",
    "bool_type": "must be true or false, is {type}",
    "int_type": "must be a whole number, is {type}",
    "int_from_float": "must be a whole number, is {input}",
    "float_type": "must be a number, is {type}",
    "finite_number": "must be a finite number",
    "tuple_type": "must be a list, is {type}",
    "list_type": "must be a list, is {type}",
    "dict_type": "must be a mapping, is {type}",
    "dataclass_type": "must be a mapping, is {type}",
    "too_short": "must not be empty",
    "too_long": "has {actual_length} entries, at most {max_length} are allowed",
    "greater_than": "must be above {gt:g}, is {input}",
    "greater_than_equal": "must be {ge:g} or more, is {input}",
    "less_than_equal": "must be at most {le:g}, is {input}",
}
"""Our message for each type of pydantic error.

Text values are never quoted: a string in an agent's file may be a misplaced secret.
"""

TYPE_NAMES: dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}
MAX_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault in a document, and the path to it."""

    path: KeyPath
    message: str
    of_key: bool = False
    """Whether the last key of the path itself is wrong, not its value."""

    def __str__(self) -> str:
        at = dotted(self.path[:-1] if self.of_key else self.path)
        return f"{at}: {self.message}" if at else self.message

    def place(self, node: "Node") -> Place:
        """Its position in the document."""
        return node.place(self.path, of_key=self.of_key)


def dotted(path: KeyPath) -> str:
    """A path in the usual notation: `expected.contains[2]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def type_name(value: object) -> str:
    """The type of a value, in words."""
    return TYPE_NAMES.get(type(value), type(value).__name__)


def faults_of(
    error: ValidationError,
    known: Callable[[KeyPath], Iterable[str]],
    patterns: Mapping[str, str] | None = None,
) -> Iterator[Fault]:
    """Each fault; `known` gives the keys allowed at a path, `patterns` describes regexes."""
    for details in error.errors(include_url=False):
        path: KeyPath = details["loc"]
        kind, given = details["type"], details["input"]
        if kind == "float_type" and isinstance(given, int) and not isinstance(given, bool):
            kind = "finite_number"  # an int too large for a float
        elif kind == "int_type" and isinstance(given, float):
            kind = "int_from_float"
        if kind == "too_short" and given:
            continue  # pydantic also reports it for a list whose entries are all invalid
        if kind in ("missing", "missing_argument"):
            yield Fault(path=path[:-1], message=f"needs the key {path[-1]!r}")
        elif kind in ("extra_forbidden", "unexpected_keyword_argument", "invalid_key"):
            names = list(known(path[:-1]))
            hint = nearest(str(path[-1]), names) or f"; known: {', '.join(names)}"
            message = f"unknown key {path[-1]!r}{hint}"
            yield Fault(path=(*path[:-1], str(path[-1])), message=message, of_key=True)
        elif kind == "string_pattern_mismatch" and patterns:
            message = f"must be {patterns[details.get('ctx', {})['pattern']]}"
            yield Fault(path=path, message=message)
        else:
            context: dict[str, Any] = {**details.get("ctx", {}), "type": type_name(given)}
            context["input"] = str(given)[:MAX_SHOWN]
            message = str(context.get("error", details["msg"]))
            if kind in MESSAGES:
                message = MESSAGES[kind].format(**context) + _hint(kind, given)
            yield Fault(path=path, message=message)


def _hint(kind: str, given: object) -> str:
    """How to fix a value that YAML reads as another type than intended."""
    if kind == "string_type" and isinstance(given, bool | int | float):
        return ": quote it"
    if kind.endswith("_type") and isinstance(given, str) and len(given) < MAX_SHOWN:
        # Imported for this message only: YAML is slow to load, and JSON documents do not need it.
        from arena.documents.yaml_reader import plain_value

        with suppress(ValueError):
            return "" if isinstance(plain_value(given), str) else ": remove the quotes"
    return ""
