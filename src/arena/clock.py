"""The current time, and times in requests: always in UTC."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime


def now() -> datetime:
    """The current time, in UTC."""
    return datetime.now(UTC)


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A time in a request: it must have a time zone, and is converted to UTC."""
