"""Pages and cursors: a cursor is an opaque text that says where a page ended."""

import base64
import binascii
from datetime import UTC, datetime
from string import hexdigits
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput

Limit = Annotated[int, Field(ge=1, le=1000, description="Maximum number.")]
Cursor = Annotated[
    str | None, Field(max_length=200, description="`next_cursor` of the previous page.")
]
MIN_PREFIX_DIGITS = 4


def id_range(prefix: str, noun: str) -> tuple[UUID, UUID]:
    """The first and the last possible id that begins with `prefix`; dashes do not count."""
    digits = prefix.replace("-", "").lower()
    if not MIN_PREFIX_DIGITS <= len(digits) <= 32 or not set(digits) <= set(hexdigits):
        raise InvalidInput(
            f"{prefix!r} is not the beginning of a {noun}'s id: at least {MIN_PREFIX_DIGITS} of "
            "its hex digits are needed"
        )
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def encode(*parts: object) -> str:
    """A cursor made of these parts."""
    return base64.urlsafe_b64encode("|".join(map(str, parts)).encode()).decode().rstrip("=")


def decode_number(cursor: str | None) -> int:
    """The number in a cursor; 0 without a cursor."""
    if cursor is None:
        return 0
    try:
        number = int(_decode(cursor))
    except ValueError as error:
        raise _invalid(cursor) from error
    # What cursors count is in 32-bit columns; PostgreSQL refuses larger numbers.
    if not 0 <= number < 2**31:
        raise _invalid(cursor)
    return number


def decode_moment(cursor: str | None) -> tuple[datetime, UUID] | None:
    """The time and the id in a cursor."""
    if cursor is None:
        return None
    moment, _, ident = _decode(cursor).partition("|")
    try:
        parsed, run_id = datetime.fromisoformat(moment).astimezone(UTC), UUID(ident)
    except (ValueError, OverflowError) as error:
        raise _invalid(cursor) from error
    return parsed, run_id


def _decode(cursor: str) -> str:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise _invalid(cursor) from error


def _invalid(cursor: str) -> InvalidInput:
    return InvalidInput(f"cursor {cursor!r} is not valid: use next_cursor of the previous page")
