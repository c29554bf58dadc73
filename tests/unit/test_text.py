"""One rule for text that can be stored and sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.text import is_unicode, storable, text_problem, to_unicode, utf8

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
