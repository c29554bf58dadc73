"""Values between a grader and the submitted code, as JSON; what JSON lacks is tagged with `$`.

Only plain values arrive: a subclass of int or list comes as the int or list that it holds, so a
comparison in the grader never runs a method of the submission. Functions and iterators stay where
they are, and a number stands for them.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# The values are untrusted: their types are what this file finds out.

from __future__ import annotations

import base64
import json
import math
from collections import deque
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 200
SAFE_INTEGER = 2**53
"""Beyond it JavaScript's numbers are not exact."""
CONSTANTS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "undefined": None, "...": ...}
SEQUENCES: dict[str, type] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "deque": deque,
}
MODULES = {
    "Decimal": "decimal",
    "Fraction": "fractions",
    "date": "datetime",
    "datetime": "datetime",
    "timedelta": "datetime",
}
"""Types of the standard library that are values, and their modules."""

Holding = Callable[[Any], Any]
"""What stands for a value that is not plain; None if nothing does."""


class NotPlain(TypeError):
    """A value that cannot be passed between the processes."""


def write(message: Any) -> bytes:
    """A message as one line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def encode(value: Any, hold: Holding, depth: int = 0) -> Any:
    """The value as JSON can hold it."""
    if value is None or value is True or value is False:
        return value
    if depth > MAX_DEPTH:
        raise NotPlain(f"a value is nested more than {MAX_DEPTH} levels deep")
    # The type itself and not isinstance: the latter asks the value's __class__, which may lie.
    kind: type = type(value)
    for known, encoded in _ENCODERS:
        if issubclass(kind, known):
            return encoded(value, hold, depth + 1)
    if MODULES.get(kind.__name__) == kind.__module__:
        return {"$": kind.__name__, "v": _library_value(value)}
    held = hold(value)
    if held is None:
        raise NotPlain(f"a {kind.__name__} is not a plain value")
    return held


def _encode_int(value: int, hold: Holding, depth: int) -> Any:
    number = int.__int__(value)
    if -SAFE_INTEGER <= number <= SAFE_INTEGER:
        return number
    return {"$": "int", "v": hex(number)}


def _encode_float(value: float, hold: Holding, depth: int) -> Any:
    number = float.__float__(value)
    if number != number:
        return {"$": "nan"}
    if number in (math.inf, -math.inf):
        return {"$": "inf" if number > 0 else "-inf"}
    return number


def _encode_dict(value: Any, hold: Holding, depth: int) -> Any:
    items = list(dict.items(value))
    if all(type(key) is str for key, _ in items) and "$" not in [key for key, _ in items]:
        return {key: encode(item, hold, depth) for key, item in items}
    pairs = [[encode(key, hold, depth), encode(item, hold, depth)] for key, item in items]
    return {"$": "dict", "v": pairs}


def _encode_list(value: Any, hold: Holding, depth: int) -> Any:
    return [encode(item, hold, depth) for item in list.__iter__(value)]


def _sequence(tag: str) -> Callable[[Any, Holding, int], Any]:
    members = SEQUENCES[tag].__iter__

    def encoded(value: Any, hold: Holding, depth: int) -> Any:
        return {"$": tag, "v": [encode(item, hold, depth) for item in members(value)]}

    return encoded


_ENCODERS: tuple[tuple[type, Callable[[Any, Holding, int], Any]], ...] = (
    (str, lambda value, hold, depth: str.__str__(value)),
    (int, _encode_int),
    (float, _encode_float),
    (list, _encode_list),
    (dict, _encode_dict),
    *((SEQUENCES[tag], _sequence(tag)) for tag in SEQUENCES),
    (bytes, lambda value, hold, depth: {"$": "bytes", "v": base64.b64encode(value).decode()}),
    (
        bytearray,
        lambda value, hold, depth: {"$": "bytearray", "v": base64.b64encode(value).decode()},
    ),
    (
        complex,
        lambda value, hold, depth: {
            "$": "complex",
            "v": [_encode_float(part, hold, depth) for part in (value.real, value.imag)],
        },
    ),
    (
        range,
        lambda value, hold, depth: {"$": "range", "v": [value.start, value.stop, value.step]},
    ),
    (type(...), lambda value, hold, depth: {"$": "..."}),
)


def _library_value(value: Any) -> Any:
    if type(value).__name__ == "timedelta":
        return [value.days, value.seconds, value.microseconds]
    if type(value).__name__ in ("date", "datetime"):
        return value.isoformat()
    return str(value)


def decode(value: Any, held: Callable[[dict[str, Any]], Any], depth: int = 0) -> Any:
    """The value that `encode` wrote; `held` gives what a number stands for."""
    if depth > MAX_DEPTH + 1:
        raise ValueError("a value is nested too deeply")
    if isinstance(value, list):
        return [decode(item, held, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if "$" not in value:
        return {key: decode(item, held, depth + 1) for key, item in value.items()}
    tag: Any = value["$"]
    content: Any = value.get("v")
    if tag in CONSTANTS:
        return CONSTANTS[tag]
    if tag in SEQUENCES:
        return SEQUENCES[tag](decode(item, held, depth + 1) for item in content)
    if tag == "dict":
        return {
            decode(key, held, depth + 1): decode(item, held, depth + 1) for key, item in content
        }
    if tag in MODULES:
        return _from_library(tag, content)
    return _SCALARS[tag](content) if tag in _SCALARS else held(value)


_SCALARS: dict[str, Callable[[Any], Any]] = {
    "int": lambda content: int(content, 16),
    "number": float,
    "bytes": lambda content: base64.b64decode(content),
    "bytearray": lambda content: bytearray(base64.b64decode(content)),
    "complex": lambda content: complex(*(decode(part, _nothing) for part in content)),
    "range": lambda content: range(*content),
}


def _nothing(tagged: dict[str, Any]) -> Any:
    raise ValueError(f"unknown tag {tagged.get('$')!r}")


def _from_library(tag: str, content: Any) -> Any:
    # Imported when such a value comes: most problems have none.
    kind = getattr(__import__(MODULES[tag]), tag)
    if tag == "timedelta":
        return kind(*content)
    return kind.fromisoformat(content) if tag in ("date", "datetime") else kind(content)


def put_back(target: Any, changed: Any) -> None:
    """Change `target` in place into `changed`: what a function did to its argument."""
    if isinstance(target, list):
        for place in range(min(len(target), len(changed))):
            target[place] = _merged(target[place], changed[place])
        target[:] = target[: len(changed)] + changed[len(target) :]
    elif isinstance(target, dict):
        merged = {key: _merged(target.get(key), item) for key, item in changed.items()}
        target.clear()
        target.update(merged)
    elif isinstance(target, (set, deque)):
        target.clear()
        for member in changed:
            target.add(member) if isinstance(target, set) else target.append(member)
    elif isinstance(target, bytearray):
        target[:] = changed


MUTABLE = (list, dict, set, deque, bytearray)


def _merged(old: Any, new: Any) -> Any:
    """The old value, changed, where both are of one kind: others may refer to it."""
    if isinstance(old, MUTABLE) and type(old) is type(new):
        put_back(old, new)
        return old
    return new
