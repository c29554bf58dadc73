"""Normalises text for comparison, and makes short excerpts."""

import re
import unicodedata

EXCERPT_CHARACTERS = 160


def fold(text: str, *, case_sensitive: bool = False) -> str:
    """The text for comparison: NFKC, white space as single spaces, and without case."""
    folded = unicodedata.normalize("NFKC", text)
    if not case_sensitive:
        # Case folding can undo the normal form ("ﬃ" for one), so it is normalised again.
        folded = unicodedata.normalize("NFKC", folded.casefold())
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
