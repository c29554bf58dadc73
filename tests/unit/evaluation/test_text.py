import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.evaluation.text import EXCERPT_CHARACTERS, excerpt, find_keyword, fold, nfkc

TEXT = st.text(st.characters(codec="utf-8"))


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Hello", "hello"),
        ("  two \n\t words  ", "two words"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),  # case folding, not lower case
        ("ﬁle", "file"),  # a ligature
        ("１２３", "123"),  # full-width digits
        ("e\u0301", "é"),  # two characters that are one
        ("a\u00a0b", "a b"),  # a space that does not break
        ("", ""),
    ],
)
def test_folding_makes_one_form_of_many(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_folding_can_keep_case() -> None:
    assert fold(" Ａ  b ", case_sensitive=True) == "A b"


@given(TEXT, st.booleans())
@example("ͅͅ", False)
@example("ᾴ", False)
def test_folding_twice_is_folding_once(text: str, case_sensitive: bool) -> None:
    once = fold(text, case_sensitive=case_sensitive)
    assert fold(once, case_sensitive=case_sensitive) == once


def test_folding_every_single_character_twice_is_folding_it_once() -> None:
    surrogates = range(0xD800, 0xE000)
    every = (chr(n) for n in range(sys.maxunicode + 1) if n not in surrogates)
    assert [c for c in every if fold(fold(c)) != fold(c)] == []


@given(TEXT)
def test_folding_is_blind_to_case(text: str) -> None:
    assert fold(text.casefold()) == fold(text)


@given(TEXT)
def test_a_folded_text_has_single_spaces_and_none_around(text: str) -> None:
    folded = fold(text)
    assert folded == folded.strip()
    assert "  " not in folded


@pytest.mark.parametrize(
    ("text", "keyword", "place"),
    [
        ("a cat sat", "cat", 2),
        ("concatenate", "cat", None),
        ("the cat's", "cat", 4),
        ("cats and a cat", "cat", 11),
        ("use c++ now", "c++", 4),
        ("use c++11 now", "c++", None),
        ("naïve", "na", None),
        ("snake_case", "snake", None),
        ("a-b", "b", 2),
    ],
)
def test_a_whole_word_has_no_letters_or_digits_beside_it(
    text: str, keyword: str, place: int | None
) -> None:
    assert find_keyword(text, keyword, whole_word=True) == place


def test_without_that_option_a_part_of_a_word_is_enough() -> None:
    assert find_keyword("concatenate", "cat", whole_word=False) == 3
    assert find_keyword("dog", "cat", whole_word=False) is None


def test_an_excerpt_of_a_short_text_is_the_text_on_one_line() -> None:
    assert excerpt("a\n  b") == "a b"


@given(st.text(min_size=400, max_size=2000, alphabet="abc "), st.integers(0, 399))
def test_an_excerpt_is_short_and_shows_the_place(text: str, start: int) -> None:
    marked = f"{text[:start]}X{text[start:]}"
    shown = excerpt(marked, start, 1)
    assert "X" in shown
    assert len(shown) <= EXCERPT_CHARACTERS + 2
    assert shown.endswith("…") or len(marked) - start < EXCERPT_CHARACTERS


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\uff9e\u0316"])
def test_many_marks_in_a_row_are_normalised_in_linear_time(marks: str) -> None:
    # In quadratic time this would take an hour.
    assert fold("a" + marks * 500_000) == fold("A" + marks * 500_000)


@given(st.text(st.sampled_from("ae\u0301\u0316\u0323\uff9e\u1e9b가"), max_size=60))
def test_fewer_marks_are_normalised_as_unicode_says(text: str) -> None:
    assert nfkc(text) == unicodedata.normalize("NFKC", text)
