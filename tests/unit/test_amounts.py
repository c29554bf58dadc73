"""Amounts are exact on their way to text and back, and nothing else is an amount."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from arena.amounts import Amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0.05", 50_000), ("1", 1_000_000), ("0.000001", 1), ("007.10", 7_100_000), ("0", 0)],
)
def test_text_names_an_amount(text: str, amount: int):
    assert Amount.parse(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "-1",
        "+1",
        "1.",
        ".5",
        "1e3",
        "0,5",
        "0.0000001",
        "NaN",
        "٣",
        "1_0",
    ],
)
def test_other_text_names_none(text: str):
    with pytest.raises(ValueError, match="decimal"):
        Amount.parse(text)


@pytest.mark.parametrize("text", ["99999999999999", "1000000000.000001", "9" * 10, "9" * 5000])
def test_too_much_is_reported_with_the_maximum(text: str):
    with pytest.raises(ValueError, match=r"too large, the maximum is 1000000000$"):
        Amount.parse(text)
    assert Amount.parse("1000000000") == 10**15


@given(st.integers(min_value=0, max_value=10**15))
def test_an_amount_comes_back_as_it_went(amount: int):
    assert Amount.parse(str(Amount(amount))) == amount
    assert str(Amount(-amount)) == (f"-{Amount(amount)}" if amount else "0")


@pytest.mark.parametrize("amount", [5, 0.05, True, None])
def test_json_numbers_are_no_amounts(amount: object):
    with pytest.raises(ValidationError):
        TypeAdapter(Amount).validate_python(amount)


def test_on_the_wire_an_amount_is_text_whatever_its_size_and_sign():
    adapter = TypeAdapter(Amount)
    for amount in (Amount(-50_000), Amount(2**53 - 1)):
        assert adapter.validate_json(adapter.dump_json(amount)) == amount
    assert adapter.dump_json(Amount(50_000)) == b'"0.05"'
