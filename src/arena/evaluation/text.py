"""Normalises text for comparison, and makes short excerpts."""

import re
import unicodedata

import regex

EXCERPT_CHARACTERS = 160
MARKS = 64
MARK_RUN = regex.compile(rf"(?<![\p{{M}}\uFF9E\uFF9F])[\p{{M}}\uFF9E\uFF9F]{{{MARKS},}}")
"""More combining marks in a row than any language has (the last two become marks in NFKC)."""
GRAPHEME_JOINER = "\u034f"
"""Has no width; marks are not sorted across it."""


def nfkc(text: str) -> str:
    """The text in NFKC, in linear time.

    Python sorts a run of marks in quadratic time: 100,000 of them take half a minute. So long runs
    are interrupted, as in Unicode's stream-safe text format.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", MARK_RUN.sub(_interrupted, text))


def _interrupted(run: "regex.Match[str]") -> str:
    marks = run.group()
    parts = (marks[place : place + MARKS] for place in range(0, len(marks), MARKS))
    return GRAPHEME_JOINER.join(parts)


def fold(text: str, *, case_sensitive: bool = False) -> str:
    """The text for comparison: NFKC, white space as single spaces, and without case."""
    folded = nfkc(text)
    if not case_sensitive:
        # Case folding can undo the normal form ("ﬃ" for one), so it is normalised again.
        folded = nfkc(folded.casefold())
    return " ".join(folded.split())


def find_keyword(text: str, keyword: str, *, whole_word: bool) -> int | None:
    """Where `keyword` starts in `text` (both folded), or None."""
    if not whole_word:
        place = text.find(keyword)
        return None if place < 0 else place
    # Look-arounds, not \b: a keyword may start or end with a symbol, as in "C++".
    found = re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", text)
    return found.start() if found else None


def excerpt(text: str, start: int = 0, length: int = 0) -> str:
    """An excerpt of `text` around the span, on one line, with … where it was cut."""
    margin = max(0, (EXCERPT_CHARACTERS - length) // 2) if start or length else 0
    begin = max(0, start - margin)
    end = begin + EXCERPT_CHARACTERS
    piece = " ".join(text[begin:end].split())
    return f"{'…' if begin else ''}{piece}{'…' if end < len(text) else ''}"
