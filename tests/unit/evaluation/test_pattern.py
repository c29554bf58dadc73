import time

import pytest

from arena.evaluation import pattern as patterns
from arena.evaluation.pattern import TooSlow, pattern_fault, search


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{4}-\d{2}-\d{2}",
        r"\p{Lu}\w+",
        r"[](?R)]{3}",  # signs in a class mean nothing
        r"\(\?R\)",  # nor do escaped ones
        r"(x)(?(1)a|b)",  # a condition is not a call
        r"(?:.{0,200}word){3}",
        r"a{300}",
        "x" * 10_000,
    ],
)
def test_an_ordinary_pattern_has_no_fault(pattern: str) -> None:
    assert pattern_fault(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("(", "not a regular expression: missing )"),
        ("[a", "unterminated character set"),
        ("*", "nothing to repeat"),
        (r"\p{nope}", "unknown property"),
        ("a{99999999999999999999}", "repeats its parts"),
        ("((a{1000}){1000}){1000}", "repeats its parts"),
        ("(((b{50}){50}){50}){50}", "repeats its parts"),
        ("(?R)", "calls itself"),
        ("(a(?1)?)", "calls itself"),
        ("(?<x>a(?&x)?)", "calls itself"),
        ("(" * 4000 + ")" * 4000, "nested too deep"),
        ("x" * 10_001, "longer than 10000"),
    ],
)
def test_a_harmful_pattern_is_refused_at_once(pattern: str, fault: str) -> None:
    start = time.monotonic()
    assert fault in str(pattern_fault(pattern))
    assert time.monotonic() - start < 30


def test_a_search_finds_the_first_place() -> None:
    found = search("b+", "aBBb", case_sensitive=False)
    assert found is not None
    assert found.span() == (1, 4)
    assert search("b+", "aBB", case_sensitive=True) is None


def test_an_endless_search_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERN_SECONDS", 0.3)
    start = time.monotonic()
    with pytest.raises(TooSlow, match=r"took longer than 0\.3 s"):
        search("(a|aa)+$", "a" * 5000 + "!", case_sensitive=True)
    assert 0.3 <= time.monotonic() - start < 30


def test_the_limit_is_a_matter_of_seconds() -> None:
    assert patterns.PATTERN_SECONDS <= 5
