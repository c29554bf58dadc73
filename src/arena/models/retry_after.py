"""The header Retry-After: how long a server asks to be left alone."""

from datetime import UTC
from email.utils import parsedate_to_datetime

from arena import clock

_MAX_SECONDS = 3600.0


def seconds_to_wait(retry_after: str | None) -> float | None:
    """The header Retry-After in seconds: it holds seconds or a date."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            date = parsedate_to_datetime(retry_after)
        except (ValueError, OverflowError):  # a year or a zone of many digits
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - clock.now()).total_seconds()
    # Written so that a NaN fails it too.
    return min(max(seconds, 0.0), _MAX_SECONDS) if seconds == seconds else None
