"""Canonical JSON: one encoding per value, so that equal values have equal CIDs.

UTF-8, keys sorted by code point, no spaces, no unnecessary escapes. Values survive a round trip: an
int of any size stays an int, a float stays exactly that float (shortest digits), so 1 and 1.0 are
two values with two CIDs, as are 0.0 and -0.0.
"""

import json
import math
from collections.abc import Collection, Iterator
from typing import NoReturn, cast

from arena.content.errors import NotCanonical
from arena.errors import InvalidInput
from arena.text import NOT_UNICODE, is_unicode

MAX_DEPTH = 400
"""How deep lists and objects may nest; Python's own parser stops at about a thousand."""
ATOMS = (str, int, float, bool, type(None))

Steps = tuple[str | int, ...]


def canonical(value: object) -> bytes:
    """The value as canonical JSON; InvalidInput with the path if JSON cannot express it."""
    if _has_problem(value):
        _refuse(value)
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        )
    except ValueError as error:  # an integer with more digits than Python prints
        raise InvalidInput(f"the value cannot be written as JSON: {error}") from None
    return text.encode()


def read_json(data: bytes) -> object:
    """The value of any unambiguous JSON: UTF-8, no duplicate keys, no NaN."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_constant)
        canonical(value)
    except (ValueError, RecursionError, InvalidInput) as error:
        raise NotCanonical(f"not JSON: {error}") from None
    return value


def read_canonical(data: bytes) -> object:
    """The value of canonical JSON; `NotCanonical` for any other encoding."""
    value = read_json(data)
    if canonical(value) != data:
        raise NotCanonical("JSON, but not canonical: keys out of order, spaces, or escapes")
    return value


def _has_problem(value: object) -> bool:
    """Whether `_refuse` would; without the paths, which take most of its time and memory."""
    if _problem(value):
        return True
    inside = [iter(_inner(value))]
    while inside:
        for found in inside[-1]:
            if len(inside) > MAX_DEPTH or _problem(found):
                return True
            if inner := _inner(found):
                inside.append(iter(inner))
                break
        else:
            inside.pop()
    return False


def _inner(value: object) -> Collection[object]:
    if isinstance(value, dict):
        return cast("dict[object, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list | tuple) else ()


def _refuse(value: object) -> None:
    """Raise for the first value that JSON cannot express, with its path."""
    for at, found in _within(value):
        problem = _problem(found)
        if problem is None and len(at) > MAX_DEPTH:
            problem = f"is nested more than {MAX_DEPTH} deep"
        if problem:
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
            raise InvalidInput(f"{path.removeprefix('.') or 'the value'} {problem}")


def _within(value: object) -> Iterator[tuple[Steps, object]]:
    """Every value within `value` and its path, without recursion."""
    pending: list[tuple[Steps, object]] = [((), value)]
    while pending:
        at, found = pending.pop()
        yield at, found
        if isinstance(found, dict):
            members = cast("dict[str, object]", found)
            pending.extend(((*at, name), member) for name, member in members.items())
        elif isinstance(found, list | tuple):
            items = cast("list[object]", found)
            pending.extend(((*at, place), item) for place, item in enumerate(items))


def _problem(found: object) -> str | None:
    if isinstance(found, dict):
        for key in cast("dict[object, object]", found):
            if not isinstance(key, str):
                return f"has the key {key!r}, which is not a string"
            if not is_unicode(key):
                return f"has the key {key!r}, which is not Unicode text"
        return None
    if isinstance(found, str):
        return None if is_unicode(found) else NOT_UNICODE
    if isinstance(found, float):
        return None if math.isfinite(found) else f"is {found}, which JSON cannot express"
    if isinstance(found, (*ATOMS, list, tuple)):
        return None
    return f"is of type {type(found).__name__}, which JSON cannot express"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("an object has a key twice")
    return document


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
