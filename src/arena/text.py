"""Text that can be stored in every database and sent as UTF-8; numbers as text for people.

Keep it free of heavy imports: every room uses it, and every command loads it.
"""

from unicodedata import category

from arena.errors import InvalidInput

UNKNOWN = "–"
"""Shown for a value that is not known or does not exist; an unknown number is not zero."""

REDACTED = "[redacted]"
"""Shown instead of a secret."""
JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
JOINED = ("So", "Sk", "Mn", "Mc", "Lo")
"""The Unicode categories of emoji, their modifiers, and letters of scripts without capitals."""
NOT_UNICODE = "is not valid Unicode text: it contains a lone surrogate"


def is_unicode(text: str) -> bool:
    """Whether `text` can be UTF-8: JSON and YAML escapes can give half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_problem(text: str) -> str | None:
    """Why `text` cannot be stored, phrased to follow its name; None if it can."""
    # PostgreSQL cannot store NUL in a text column.
    if "\0" in text:
        return "must not contain NUL"
    return None if is_unicode(text) else NOT_UNICODE


def to_unicode(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD, and pairs of surrogates joined."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def storable(text: str) -> str:
    """`text` with everything that cannot be stored replaced by U+FFFD."""
    return to_unicode(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def printable(text: str) -> str:
    """`text` with every character that could control a terminal replaced by U+FFFD.

    Escape sequences, other control characters and direction marks could hide or fake output.
    Newlines stay, and so do joiners where a script or an emoji (a family, a profession) needs them.
    In a Latin word they would only hide that it is another word.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" or _joins(text, place) else "\N{REPLACEMENT CHARACTER}"
        for place, c in enumerate(text)
    )


def _joins(text: str, place: int) -> bool:
    """Whether a character is a joiner between two others that can be joined."""
    around = text[place - 1 : place], text[place + 1 : place + 2]
    return text[place] in JOINERS and all(one and category(one) in JOINED for one in around)


def utf8(text: str, name: str) -> bytes:
    """`text` as UTF-8; InvalidInput with `name` if that is impossible."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name} {NOT_UNICODE} (character {error.start})") from None


def score_text(value: float | None) -> str:
    """A score with one decimal, or a dash."""
    if value is None:
        return UNKNOWN
    # Never rounded up to 100: 1,999 of 2,000 misses a gate at 100, and must look like it.
    return f"{min(value, 99.99):.2f}" if 99.95 <= value < 100 else f"{value:.1f}"


def percent_text(value: float | None) -> str:
    """A percentage, or a dash."""
    return UNKNOWN if value is None else f"{score_text(value)} %"


def seconds_text(value: float | None) -> str:
    """A duration in ms or s, or a dash."""
    if value is None:
        return UNKNOWN
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
