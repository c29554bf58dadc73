"""Text that can be stored and sent, and numbers as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.text import (
    is_unicode,
    percent_text,
    seconds_text,
    storable,
    text_problem,
    to_unicode,
    utf8,
)

ANY_TEXT = st.text(st.characters(codec=None))
"""Lone surrogates and NUL included."""


@given(ANY_TEXT)
def test_storable_text_has_no_problem_and_stays_the_same(text):
    stored = storable(text)
    assert text_problem(stored) is None
    assert storable(stored) == stored
    if text_problem(text) is None:
        assert stored == text


@given(ANY_TEXT)
def test_text_is_unicode_when_utf8_can_hold_it(text):
    assert is_unicode(to_unicode(text))
    if is_unicode(text):
        assert utf8(text, "it") == text.encode()
        assert to_unicode(text) == text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("a\0b", "a�b"),
        ("a\ud800b", "a�b"),
        ("\udc00\ud800", "��"),  # the halves in the wrong order
        ("\ud83d" + "\ude42", "🙂"),  # two halves that JSON spelt one after the other
    ],
)
def test_what_cannot_be_stored_is_replaced(text, stored):
    assert storable(text) == stored


def test_nul_is_unicode_but_cannot_be_stored():
    assert to_unicode("a\0b") == "a\0b"
    assert text_problem("a\0b") == "must not contain NUL"


def test_a_lone_surrogate_is_named_with_its_position():
    with pytest.raises(InvalidInput, match=r"the result .* lone surrogate \(character 2\)"):
        utf8("ab\ud800", "the result")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0 ms"),
        (0.0123, "12 ms"),
        (0.9994, "999 ms"),
        (1.0, "1.0 s"),
        (61, "61.0 s"),
    ],
)
def test_a_duration_has_a_suitable_unit(value: float | None, shown: str):
    assert seconds_text(value) == shown


def test_a_missing_share_is_a_dash():
    assert (percent_text(None), percent_text(0.0), percent_text(91.666)) == (
        "–",
        "0.0 %",
        "91.7 %",
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [(99.94, "99.9"), (99.95, "99.95"), (99.98, "99.98"), (99.9999, "99.99"), (100.0, "100.0")],
)
def test_a_score_below_100_is_never_shown_as_100(value: float, shown: str):
    assert percent_text(value) == f"{shown} %"
