"""How text is made comparable, and how a part of it is shown."""

import re
import unicodedata

EXCERPT_CHARACTERS = 160


def fold(text: str, *, case_sensitive: bool = False) -> str:
    """The text as it is compared: one form per character, one space per gap, no case."""
    folded = unicodedata.normalize("NFKC", text)
    if not case_sensitive:
        # Case folding can undo the normal form ("ﬃ" and friends), hence a second pass.
        folded = unicodedata.normalize("NFKC", folded.casefold())
    return " ".join(folded.split())


def find_keyword(text: str, keyword: str, *, whole_word: bool) -> int | None:
    """Where `keyword` starts in `text` (both folded), or None."""
    if not whole_word:
        place = text.find(keyword)
        return None if place < 0 else place
    # Look-arounds instead of \b: a keyword may itself begin or end with a sign, as in "C++".
    found = re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", text)
    return found.start() if found else None


def sayable(text: str) -> str:
    """The text as UTF-8 can hold it: half of a surrogate pair is shown as its code."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def excerpt(text: str, start: int = 0, length: int = 0) -> str:
    """A short piece of `text` around the span, on one line, with … where it was cut."""
    margin = max(0, (EXCERPT_CHARACTERS - length) // 2) if start or length else 0
    begin = max(0, start - margin)
    end = begin + EXCERPT_CHARACTERS
    piece = " ".join(text[begin:end].split())
    return f"{'…' if begin else ''}{piece}{'…' if end < len(text) else ''}"
