"""Spans of time and moments, as people type them."""

import re
from datetime import datetime, timedelta

from arena import clock
from arena.errors import InvalidInput

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"([0-9]{1,9})([smhd]?)")


def seconds_in(name: str, text: str) -> int:
    """The seconds that `90`, `90s`, `10m`, `2h` or `1d` stand for."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InvalidInput(f"{name} is {text!r}; write it like 90s, 10m, 2h or 1d")
    return int(found[1]) * UNITS[found[2] or "s"]


def is_span(text: str) -> bool:
    """Whether a text is a span of time, as opposed to a date."""
    return _SPAN.fullmatch(text.strip()) is not None


def moment_of(name: str, text: str) -> datetime:
    """The moment that a span from now, or a date with a time zone, stands for."""
    try:
        if is_span(text):
            return clock.now() + timedelta(seconds=seconds_in(name, text))
        # Without a zone it is the reader's own.
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError):  # the second: beyond what a calendar has
        told = f"{name} is {text!r}; write it like 2h, 1d or {example_moment()}"
        raise InvalidInput(told) from None


def example_moment() -> str:
    """A date as it can be typed now: one that is written down here would be past some day."""
    return f"{clock.now() + timedelta(days=7):%Y-%m-%dT12:00:00Z}"
