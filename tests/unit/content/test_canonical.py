"""Equal values have equal bytes, and the bytes read back as the value."""

import enum
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.content.canonical import canonical, read_canonical
from arena.content.errors import NotCanonical
from arena.errors import InvalidInput

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # A line for what hypothesis rarely makes: a number no float holds, and two zeros.
    | st.sampled_from([2**70, 0.0, -0.0, 1e308, 5e-324])
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


def test_keys_are_sorted_and_nothing_is_wasted():
    assert canonical({"b": [1, 2.5, None], "a": {"é": True}}) == (
        '{"a":{"é":true},"b":[1,2.5,null]}'.encode()
    )


def test_1_and_1_0_are_different_values():
    assert canonical(1) == b"1"
    assert canonical(1.0) == b"1.0"
    assert type(read_canonical(b"1.0")) is float
    assert type(read_canonical(b"1")) is int


@given(values)
def test_a_value_reads_back_as_it_was(value: object):
    again = read_canonical(canonical(value))
    assert repr(again) == repr(value) or again == value
    assert canonical(again) == canonical(value)


def same(left: object, right: object) -> bool:
    """Equal in value and in kind: 1 is not 1.0, 0.0 is not -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return left == right


@given(values, values)
def test_two_values_have_the_same_bytes_only_if_they_are_the_same(left: object, right: object):
    assert (canonical(left) == canonical(right)) == same(left, right)


@given(values)
def test_every_other_spelling_is_refused(value: object):
    for other in (
        json.dumps(value, indent=1).encode() + b"\n",
        b" " + canonical(value),
        b"\xef\xbb\xbf" + canonical(value),
    ):
        with pytest.raises(NotCanonical):
            read_canonical(other)


class Plain(enum.Enum):
    ONE = 1


DEEP: list[object] = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (math.nan, "the value is nan"),
        ({"a": [1, math.inf]}, r"a\[1\] is inf"),
        ({"a": "\ud800"}, "a is not valid Unicode text"),
        ({"\udfff": 1}, "not Unicode text"),
        ({1: "a"}, "not a string"),
        ({None: "a"}, "not a string"),
        ([{"b": {1, 2}}], r"\[0\].b is of type set"),
        (b"bytes", "type bytes"),
        (Plain.ONE, "type Plain"),
        (DEEP, "nested more than 400 deep"),
        (10**5000, "cannot be written"),
    ],
    ids=range(11),
)
def test_a_value_that_json_cannot_hold_is_refused_with_its_place(value: object, why: str):
    with pytest.raises(InvalidInput, match=why):
        canonical(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"{",
        b"NaN",
        b"[1e999]",  # infinity by another name
        b'{"a":1,"a":1}',
        b'{"b":1,"a":2}',
        b'"\\u0041"',
        b'"\\ud800"',
        b"1.00",
        b"1e2",
        b"-0",
        b"[" * 100_000,
        b"9" * 10_000,
    ],
    ids=range(14),
)
def test_bytes_that_are_not_canonical_are_refused(data: bytes):
    with pytest.raises(NotCanonical):
        read_canonical(data)
