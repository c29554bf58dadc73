import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.sandbox.harness.encode import MAX_DEPTH, NotEncodable, encode, load
from arena.sandbox.results import decode
from arena.sandbox.values import SetValue, equal

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4) | st.just("$arena"), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(plain)
def test_what_is_encoded_comes_back(value) -> None:
    assert equal(decode(encode(value)), value)


@given(plain)
def test_what_goes_in_arrives_in_python(value) -> None:
    assert equal(load(encode(value)), value)


@given(plain)
def test_a_line_is_ascii_and_one_line(value) -> None:
    assert encode(value).isascii()
    assert "\n" not in encode(value)


@given(st.text(st.characters(categories=["Cs", "Lu", "Cc"]), max_size=5))
def test_lone_surrogates_survive(text) -> None:
    assert decode(encode(text)) == json.loads(json.dumps(text))


def test_sets_are_tagged() -> None:
    assert decode(encode({3})) == SetValue([3])
    assert decode(encode(frozenset("a"))) == SetValue(["a"])


def test_python_keys_become_json_keys() -> None:
    assert decode(encode({1: "a", None: "b", False: "c"})) == {"1": "a", "null": "b", "false": "c"}
    assert decode(encode({1.5: 0})) == {"1.5": 0}


class Liar(int):
    def __repr__(self) -> str:
        return "42"

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 42


class Pretender(list):
    def __iter__(self):
        return iter(["lie"])


class Disguise:
    @property
    def __class__(self):
        return int


def test_a_subclass_is_what_it_holds() -> None:
    assert decode(encode([Liar(7), Pretender([1]), type("D", (dict,), {})(a=1)])) == [
        7,
        [1],
        {"a": 1},
    ]


REFUSED = [
    (object(), "object"),
    (Disguise(), "Disguise"),
    (b"bytes", "bytes"),
    (10**5000, "digits"),
    ({(1,): 2}, "key"),
    ({1: 0, "1": 0}, "two keys"),
    ((x for x in ()), "generator"),
]


@pytest.mark.parametrize(("value", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_what_is_not_a_value_is_refused_with_a_reason(value, reason) -> None:
    with pytest.raises(NotEncodable, match=reason):
        encode(value)


def test_depth_is_limited() -> None:
    value: list[object] = []
    for _ in range(MAX_DEPTH + 1):
        value = [value]
    with pytest.raises(NotEncodable, match="nested"):
        encode(value)
    value.append(value)
    with pytest.raises(NotEncodable, match="nested"):
        encode(value)


def test_special_numbers_are_tagged() -> None:
    assert math.isnan(decode(encode(math.nan)))  # type: ignore[arg-type]
    assert decode(encode([math.inf, -math.inf])) == [math.inf, -math.inf]
