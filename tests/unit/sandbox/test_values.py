import copy
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.values import UNDEFINED, MapValue, SetValue, equal

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.just(UNDEFINED)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_every_value_equals_its_copy(value) -> None:
    assert equal(value, copy.deepcopy(value))


@given(values, values)
def test_equality_has_no_direction(left, right) -> None:
    assert equal(left, right) == equal(right, left)


@given(values)
def test_a_list_of_one_is_not_its_member(value) -> None:
    assert not equal([value], value)


@given(st.dictionaries(st.text(max_size=3), values, max_size=5))
def test_the_order_of_keys_does_not_matter(document) -> None:
    assert equal(dict(reversed(document.items())), document)


@given(st.lists(st.integers(), min_size=2, unique=True))
def test_the_order_of_a_list_matters(items) -> None:
    assert not equal(items[::-1], items)


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_an_integer_equals_its_float(number) -> None:
    assert equal(number, float(number))


@given(st.integers(min_value=2**53))
def test_large_integers_are_not_rounded(number) -> None:
    assert not equal(number, number + 1)


def test_a_large_float_equals_its_exact_value_and_what_javascript_writes() -> None:
    number = 2.0**60
    assert equal(number, 1152921504606846976)
    assert equal(number, 1152921504606847000)
    assert not equal(number, 1152921504606846977)
    assert not equal(1152921504606846976, 1152921504606847000)


@given(st.lists(values, max_size=5))
def test_sets_have_no_order(members) -> None:
    assert equal(SetValue(members), SetValue(members[::-1]))
    assert not equal(SetValue(members), list(members))


DIFFERENT = [
    (True, 1),  # a truth is not a number
    (False, 0),
    (None, UNDEFINED),  # null is not undefined
    (None, False),
    ("1", 1),
    ({}, []),
    ([], None),
    ({"a": UNDEFINED}, {}),  # a key with nothing in it is a key
    (math.inf, -math.inf),
    (math.nan, None),
    (0.1 + 0.2, 0.3),
    (2**53 + 1, float(2**53)),
    ([1, 2], [1, 2, 3]),
    (MapValue([("a", 1)]), {"a": 1}),
    (10**400, math.inf),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_these_are_different(left, right) -> None:
    assert not equal(left, right)
    assert not equal(right, left)


SAME = [
    (math.nan, math.nan),
    (-0.0, 0),
    (1, 1.0),
    ((1, 2), [1, 2]),
    ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}),
    (MapValue([(1, "a"), (2, "b")]), MapValue([(2, "b"), (1, "a")])),
    ({1, 2}, SetValue([2, 1])),
    (10**400, 10**400),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_these_are_the_same(left, right) -> None:
    assert equal(left, right)
    assert equal(right, left)


def test_a_tolerance_holds_at_every_depth_and_is_inclusive() -> None:
    assert equal({"a": [1.05]}, {"a": [1]}, tolerance=0.1)
    assert equal(1.5, 1, tolerance=0.5)
    assert not equal(1.51, 1, tolerance=0.5)
    assert not equal(math.inf, 1e308, tolerance=1e300)
    assert not equal("1.0", "1.01", tolerance=1)


def test_a_tolerance_takes_numbers_of_any_size() -> None:
    assert equal(10**400, 10**400 + 1, tolerance=1)
    assert not equal(10**400, 1.0, tolerance=1)


def test_depth_is_not_limited_by_the_stack() -> None:
    left: list[object] = []
    right: list[object] = []
    for _ in range(100_000):
        left, right = [left], [right]
    assert equal(left, right)
    # Taken apart by hand: Python would recurse while freeing them.
    while left:
        left, right = left[0], right[0]  # type: ignore[assignment]
