"""Parses durations and times from the command line."""

import re
from datetime import datetime, timedelta

from arena import clock
from arena.errors import InvalidInput

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"([0-9]{1,9})([smhd]?)")


def seconds_in(name: str, text: str) -> int:
    """The seconds of `90`, `90s`, `10m`, `2h` or `1d`."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(f"{name} is {text!r}; write it like 90s, 10m, 2h or 1d")
    return int(found[1]) * UNITS[found[2] or "s"]


def is_span(text: str) -> bool:
    """Whether a text is a duration, not a date."""
    return _SPAN.fullmatch(text.strip()) is not None


def moment_of(name: str, text: str) -> datetime:
    """The time of a duration from now, or of a date."""
    try:
        if is_span(text):
            return clock.now() + timedelta(seconds=seconds_in(name, text))
        # Without a zone it is local time.
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):  # OverflowError: after the year 9999
        message = f"{name} is {text!r}; write it like 2h, 1d or {example_moment()}"
        raise InvalidInput(message) from None


def example_moment() -> str:
    """An example date in the future; a fixed one would be in the past some day."""
    return f"{clock.now() + timedelta(days=7):%Y-%m-%dT12:00:00Z}"
