"""Amounts are exact on their way to text and back, and nothing else is an amount."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from arena.schemas import TestMoney, decimal_text, minor_units


@pytest.mark.parametrize(
    ("text", "amount"),
    [("0.05", 50_000), ("1", 1_000_000), ("0.000001", 1), ("007.10", 7_100_000), ("0", 0)],
)
def test_text_names_an_amount(text: str, amount: int):
    assert minor_units(text) == amount


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
        "9" * 11,
    ],
)
def test_other_text_names_none(text: str):
    with pytest.raises(ValueError, match="decimal"):
        minor_units(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_an_amount_comes_back_as_it_went(amount: int):
    assert minor_units(decimal_text(amount)) == amount
    assert decimal_text(-amount) == ("-" + decimal_text(amount) if amount else "0")


@pytest.mark.parametrize("amount", [5, 0.05, True, None])
def test_json_numbers_are_no_amounts(amount: object):
    with pytest.raises(ValidationError):
        TestMoney.model_validate({"account": "alice", "amount": amount})
