"""Values as one line of JSON, by their true type, and back.

The encoder reads every value through the built-in types' own methods, which it saved before any
submission ran: a subclass of int, str, list or dict is encoded as the plain value it holds, and
its overrides are never called. What JSON cannot express is tagged: {"$arena": "nan"}.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# The values are untrusted: their types are what this file finds out.

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as quote
from math import inf, nan
from typing import Any

TAG = "$arena"
MAX_DEPTH = 200
# Python refuses to print longer integers; 14,000 bits are a little less than its 4,300 digits.
MAX_INTEGER_BITS = 14_000


class NotEncodable(Exception):
    """The format cannot express the value; the message says why."""


_bits = int.bit_length
_integer = int.__int__
_decimal = int.__repr__
_float = float.__float__
_float_text = float.__repr__
_text = str.__str__
_pairs: Callable[[Any], Any] = dict.items
# Checked in this order; for each exact type its own iterator and the text around its members.
_SEQUENCES: tuple[tuple[type, Callable[[Any], Any], str, str], ...] = (
    (list, list.__iter__, "[", "]"),
    (tuple, tuple.__iter__, "[", "]"),
    (set, set.__iter__, '{"$arena":"set","members":[', "]}"),
    (frozenset, frozenset.__iter__, '{"$arena":"set","members":[', "]}"),
)


def encode(value: Any, depth: int = 0) -> str:
    """`value` as JSON in ASCII, without a newline; `NotEncodable` says why not."""
    if value is None:
        return "null"
    kind: type = type(value)
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar(value)
    if depth >= MAX_DEPTH:
        raise NotEncodable(f"the result is nested more than {MAX_DEPTH} levels deep")
    # issubclass(type(x)) and not isinstance: the latter asks x.__class__, which may lie.
    if issubclass(kind, dict):
        return _encode_dict(value, depth + 1)
    for exact, members, start, end in _SEQUENCES:
        if issubclass(kind, exact):
            return start + ",".join([encode(item, depth + 1) for item in members(value)]) + end
    for exact, other in _SCALARS.items():
        if issubclass(kind, exact):
            return other(value)
    raise NotEncodable(f"the result holds a {kind.__name__}, which is not a JSON value")


def _encode_boolean(value: object) -> str:
    return "true" if value is True else "false"


def _encode_integer(value: int) -> str:
    if _bits(value) > MAX_INTEGER_BITS:
        raise NotEncodable("the result holds an integer of more than 4,200 digits")
    return _decimal(_integer(value))


def _encode_float(value: float) -> str:
    number = _float(value)
    if number != number:
        return '{"$arena":"nan"}'
    if number in (float("inf"), float("-inf")):
        return '{"$arena":"infinity"}' if number > 0 else '{"$arena":"-infinity"}'
    return _float_text(number)


def _encode_text(value: str) -> str:
    return quote(_text(value))


def _encode_dict(value: Any, depth: int) -> str:
    seen: dict[str, str] = {}
    for key, item in _pairs(value):
        name = _encode_key(key)
        if name in seen:
            raise NotEncodable(f"two keys of the result are both {name} in JSON")
        seen[name] = encode(item, depth)
    if '"$arena"' in seen:
        entries = ",".join([f"[{name},{item}]" for name, item in seen.items()])
        return '{"$arena":"object","entries":[' + entries + "]}"
    return "{" + ",".join([f"{name}:{item}" for name, item in seen.items()]) + "}"


def _encode_key(key: Any) -> str:
    """Keys as Python's own json writes them: 1 becomes "1", None becomes "null"."""
    kind: type = type(key)
    if issubclass(kind, str):
        return quote(_text(key))
    if key is None or issubclass(kind, (int, float)):
        return quote(encode(key))
    raise NotEncodable(f"a key of the result is a {kind.__name__}, which JSON does not have")


_SCALARS: dict[type, Callable[[Any], str]] = {
    bool: _encode_boolean,
    str: _encode_text,
    int: _encode_integer,
    float: _encode_float,
}


# The Python values of the tags; Python has no undefined.
_CONSTANTS = {"nan": nan, "infinity": inf, "-infinity": -inf, "undefined": None}


def load(text: str) -> object:
    """The value that `encode` wrote, as a Python function takes it."""
    return json.loads(text, object_hook=_untag if '"$arena"' in text else None)


def _untag(document: dict[str, Any]) -> Any:
    tag = document.get(TAG)
    if not isinstance(tag, str):
        return document
    if tag in _CONSTANTS:
        return _CONSTANTS[tag]
    return set(document["members"]) if tag == "set" else dict(document["entries"])
