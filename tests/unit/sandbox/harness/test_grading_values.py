"""Values between a grader and the submitted code."""

import json
import math
from collections import Counter, OrderedDict, deque, namedtuple
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from arena.sandbox.harness.grading_values import NotPlain, decode, encode, put_back, write

Pair = namedtuple("Pair", "a b")


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def there_and_back(value: Any) -> Any:
    return decode(json.loads(write(encode(value, lambda _: None))), lambda _: None)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**53) - 1,
        1 << 20_000,
        1.5,
        math.inf,
        -math.inf,
        "text \ud800 \n",
        [1, [2]],
        (1, (2,)),
        {1, 2},
        frozenset({1}),
        {"a": 1},
        {1: 2, (3, 4): {5}},
        {"$": "a tag"},
        b"\xff\x00",
        bytearray(b"x"),
        1 + 2j,
        range(1, 9, 2),
        deque([1]),
        Decimal("1.10"),
        Fraction(1, 3),
        date(2024, 2, 29),
        datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC),
        timedelta(days=-1, microseconds=5),
        ...,
    ],
    # pytest cannot print the large number.
    ids=lambda value: type(value).__name__,
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


def test_nan_and_the_sign_of_zero_survive() -> None:
    assert math.isnan(there_and_back(math.nan))
    assert math.copysign(1, there_and_back(-0.0)) == -1


def test_a_subclass_comes_as_the_plain_value() -> None:
    assert type(there_and_back(Liar(3))) is int
    assert there_and_back(Pair(1, 2)) == (1, 2)
    assert type(there_and_back(Counter("aa"))) is dict
    assert type(there_and_back(OrderedDict(a=1))) is dict


def test_what_is_not_plain_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (object(), endless, [object()]):
        with pytest.raises(NotPlain):
            encode(value, lambda _: None)


def test_changes_are_made_in_the_same_objects() -> None:
    inner = [1, 2]
    target: list[Any] = [inner, {"a": inner}, 3]
    put_back(target, [[1], {"a": [1], "b": 2}, 4, 5])
    assert target == [[1], {"a": [1], "b": 2}, 4, 5]
    assert target[0] is inner
