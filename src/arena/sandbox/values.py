"""Equality of values: one rule for every language.

Values are those of JSON and a few more. Integers and floats are one kind of number (1 equals 1.0,
exactly; a float from 2 ** 53 on also equals the integer that JavaScript writes for it), true is not
1, the order of a list matters and that of an object does not, NaN equals NaN and nothing else, -0
equals 0, `UNDEFINED` is not null and a key that holds it is still a key. Sets and maps (`SetValue`,
`MapValue`) equal only their own kind, in any order of their members.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Final, cast


@dataclass(frozen=True, slots=True)
class Undefined:
    """JavaScript's undefined, which is not null."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = Undefined()


@dataclass(frozen=True, slots=True)
class SetValue:
    """A set that a function returned."""

    members: Sequence[object]


@dataclass(frozen=True, slots=True)
class MapValue:
    """A JavaScript Map that a function returned: keys may be anything."""

    entries: Sequence[tuple[object, object]]


Pair = tuple[object, object]
EXACT = 2**53
"""From here on not every integer is a float."""


def equal(got: object, expected: object, tolerance: float | None = None) -> bool:
    """Whether `got` equals `expected`, with numbers within `tolerance` of each other."""
    # A stack instead of recursion: a value may be nested deeper than Python's recursion limit.
    pending: list[Pair] = [(got, expected)]
    while pending:
        left, right = pending.pop()
        parts = _parts(left, right, tolerance)
        if parts is None:
            return False
        pending.extend(parts)
    return True


def _parts(left: object, right: object, tolerance: float | None) -> Sequence[Pair] | None:
    """The pairs that must be equal for these two to be equal; None if they already differ."""
    kind = _kind(left)
    if kind != _kind(right):
        return None
    if kind == "array":
        items, others = cast(Sequence[object], left), cast(Sequence[object], right)
        return list(zip(items, others, strict=True)) if len(items) == len(others) else None
    if kind == "object":
        members, others = cast(Mapping[str, object], left), cast(Mapping[str, object], right)
        same_keys = members.keys() == others.keys()
        return [(members[key], others[key]) for key in members] if same_keys else None
    if kind in ("set", "map"):
        same = _same_members(_unordered(left), _unordered(right), tolerance)
    elif kind == "number":
        same = _same_number(cast(float, left), cast(float, right), tolerance)
    else:
        same = left == right
    return () if same else None


# In this order: in Python a bool is an int.
_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "null"),
    (bool, "boolean"),
    ((int, float), "number"),
    (str, "string"),
    ((list, tuple), "array"),
    (Mapping, "object"),
    (Undefined, "undefined"),
    ((SetValue, set, frozenset), "set"),
    (MapValue, "map"),
)


def _kind(value: object) -> str:
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return f"python {type(value).__qualname__}"


def _same_number(left: float, right: float, tolerance: float | None) -> bool:
    # NaN is the value that differs from itself; math.isnan does not take the largest integers.
    if left != left or right != right:
        return left != left and right != right
    # Python compares an int with a float exactly, without rounding either.
    if left == right or _is_written(left, right) or _is_written(right, left):
        return True
    if tolerance is None or _infinite(left) or _infinite(right):
        return False
    if _is_exact(left) and _is_exact(right):
        # Rounding changes a difference by one part in 2**53 at most: it decides unless the two are
        # that close, and takes a tenth of the time.
        difference = abs(left - right)
        if isfinite(difference) and abs(difference - tolerance) > tolerance * 1e-12:
            return difference < tolerance
    return abs(Fraction(left) - Fraction(right)) <= Fraction(tolerance)


def _is_written(number: float, digits: float) -> bool:
    """Whether JavaScript writes the large float `number` with these digits: 2 ** 60 as …847000."""
    if not isinstance(number, float) or isinstance(digits, float) or not isfinite(number):
        return False
    return abs(number) >= EXACT and int(Decimal(repr(number))) == digits


def _is_exact(value: float) -> bool:
    """Whether arithmetic with floats takes the value as it is."""
    return isinstance(value, float) or abs(value) <= EXACT


def _infinite(value: float) -> bool:
    return isinstance(value, float) and not isfinite(value)


def _unordered(value: object) -> Sequence[object]:
    if isinstance(value, SetValue):
        return value.members
    if isinstance(value, MapValue):
        return value.entries
    return list(cast("set[object]", value))


def _same_members(left: Sequence[object], right: Sequence[object], tolerance: float | None) -> bool:
    if len(left) != len(right):
        return False
    # Quadratic, because members need not be hashable; the expected value bounds the length.
    rest = list(right)
    for member in left:
        for place, candidate in enumerate(rest):
            if equal(member, candidate, tolerance):
                del rest[place]
                break
        else:
            return False
    return True
