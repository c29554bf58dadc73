"""Canonical JSON: one way to write a value, so that equal values have equal CIDs.

UTF-8, keys in the order of their code points, no spaces, nothing escaped that need not be. What
was written reads back as it was: an int stays an int of any size, a float stays that very float
(shortest digits), so 1 and 1.0 are two values with two CIDs, as are 0.0 and -0.0.
"""

import json
import math
from collections.abc import Iterator
from typing import NoReturn, cast

from arena.errors import InvalidInput
from arena.text import NOT_UNICODE, is_unicode

MAX_DEPTH = 400
"""How deep lists and objects may nest; Python's own reader ends at about a thousand."""
ATOMS = (str, int, float, bool, type(None))

Steps = tuple[str | int, ...]


class NotCanonical(InvalidInput):
    """The bytes are not canonical JSON."""

    code = "not_canonical"


def canonical(value: object) -> bytes:
    """The value as canonical JSON; InvalidInput, with the path, for what JSON cannot say."""
    for at, found in _within(value):
        wrong = _fault(found)
        if wrong is None and len(at) > MAX_DEPTH:
            wrong = f"is nested more than {MAX_DEPTH} deep"
        if wrong:
            raise InvalidInput(f"{_place(at)} {wrong}")
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
        )
    except ValueError as wrong:  # a whole number with more digits than Python writes
        raise InvalidInput(f"the value cannot be written as JSON: {wrong}") from None
    return text.encode()


def read_json(data: bytes) -> object:
    """The value of JSON in any spelling that leaves no doubt: UTF-8, no key twice, no NaN."""
    try:
        value = json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_constant)
        canonical(value)
    except (ValueError, RecursionError, InvalidInput) as wrong:
        raise NotCanonical(f"not JSON: {wrong}") from None
    return value


def read_canonical(data: bytes) -> object:
    """The value that canonical JSON says; `NotCanonical` for every other spelling of it."""
    value = read_json(data)
    if canonical(value) != data:
        raise NotCanonical("JSON, but not canonical: keys out of order, spaces, or other spellings")
    return value


def _within(value: object) -> Iterator[tuple[Steps, object]]:
    """Each value inside and the way to it, without recursion; stops going down at the limit."""
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


def _fault(found: object) -> str | None:
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
        return None if math.isfinite(found) else f"is {found}, which JSON cannot say"
    if isinstance(found, (*ATOMS, list, tuple)):
        return None
    return f"is of type {type(found).__name__}, which JSON cannot say"


def _place(at: Steps) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return path.removeprefix(".") or "the value"


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("an object names a key twice")
    return document


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
