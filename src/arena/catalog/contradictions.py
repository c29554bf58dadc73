"""Finds tests that no answer can pass: required and forbidden words that exclude each other."""

from arena.evaluation.standard import AllOf, AnyOf, Standard
from arena.evaluation.text import find_keyword, fold
from arena.evaluation.validators import Contains, Keywords, NotContains


def contradiction(standard: Standard) -> str | None:
    """Why no answer can pass: required and forbidden words that exclude each other."""
    if not isinstance(standard, AllOf | AnyOf):
        return None
    inner = [contradiction(part) for part in standard.parts]
    if isinstance(standard, AnyOf):
        return inner[0] if all(inner) else None
    found = next((reason for reason in inner if reason), None)
    return found or _excluded_word(standard)


def _excluded_word(standard: AllOf) -> str | None:
    for requiring in (part for part in standard.parts if isinstance(part, Contains)):
        for forbidding in (part for part in standard.parts if isinstance(part, NotContains)):
            for word in requiring.contains:
                for forbidden in forbidding.contains:
                    if _excludes(forbidding, forbidden, requiring, word):
                        return f'"{word}" must be there, and "{forbidden}" must not'
    return None


def _excludes(forbidding: Keywords, forbidden: str, requiring: Keywords, word: str) -> bool:
    """Whether every text with `word` in it has the forbidden word too."""
    if forbidding.case_sensitive and not requiring.case_sensitive:
        return False  # the word may occur in another case
    if forbidding.whole_word and not requiring.whole_word:
        return False  # "category" contains "cat", but not as a word
    sensitive = forbidding.case_sensitive
    inside = fold(word, case_sensitive=sensitive), fold(forbidden, case_sensitive=sensitive)
    return find_keyword(*inside, whole_word=forbidding.whole_word) is not None
