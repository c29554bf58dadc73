"""Text that can be stored in every database and sent as UTF-8: no NUL and no lone surrogate."""

from arena.errors import InvalidInput

NOT_UNICODE = "is not valid Unicode text: it contains a lone surrogate"


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold `text`: JSON and YAML can spell half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def text_problem(text: str) -> str | None:
    """Why `text` cannot be stored, to follow its name in a message; None if it can be."""
    # PostgreSQL cannot store NUL in a text column.
    if "\0" in text:
        return "must not contain NUL"
    return None if is_unicode(text) else NOT_UNICODE


def to_unicode(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD; halves that form a pair are joined."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def storable(text: str) -> str:
    """`text` with whatever cannot be stored replaced by U+FFFD."""
    return to_unicode(text).replace("\0", "\N{REPLACEMENT CHARACTER}")


def utf8(text: str, name: str) -> bytes:
    """`text` as UTF-8; if that is impossible, an error that calls it `name`."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{name} {NOT_UNICODE} (character {error.start})") from None
