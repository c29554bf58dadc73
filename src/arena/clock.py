"""What time it is, and how a moment is written: always in UTC."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A moment that a caller names: it has a time zone, and is kept in UTC."""
