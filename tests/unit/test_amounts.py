"""Amounts are exact on their way to text and back, and nothing else is an amount."""

import copy
import pickle

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
        "0.0000000000000000001",
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


WEI = 10**18


@pytest.mark.parametrize(
    ("text", "minor", "decimals"),
    [("0.05", 50_000, 6), ("0.0000001", 10**11, 18), ("0.000000000000000001", 1, 18)],
)
def test_an_amount_has_the_decimals_that_its_text_needs(text: str, minor: int, decimals: int):
    amount = Amount.parse(text)
    assert (int(amount), amount.decimals, str(amount)) == (minor, decimals, text)


def test_amounts_of_other_decimals_compare_by_value():
    coins, wei = Amount(50_000), Amount(WEI // 20, 18)
    assert coins == wei and coins <= wei and coins >= wei
    assert (coins != wei) is False
    assert Amount(1, 18) < Amount(1) < Amount(2 * 10**12, 18)
    assert Amount(1) != Amount(1, 18) and Amount(1) > Amount(1, 18)
    assert {Amount(5): "five"}[Amount(5)] == "five"


def test_an_amount_is_converted_exactly_or_not_at_all():
    assert Amount(50_000).at(18) == Amount(WEI // 20, 18)
    assert Amount(WEI // 20, 18).at(6).decimals == 6
    with pytest.raises(ValueError, match=r"0\.0000001 has more than 6 decimals"):
        Amount(10**11, 18).at(6)


def test_a_copy_keeps_the_decimals():
    amount = Amount(7, 18)
    assert copy.deepcopy(amount).decimals == pickle.loads(pickle.dumps(amount)).decimals == 18
