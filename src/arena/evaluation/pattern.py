"""Regular expressions with bounded cost: checked when read, with a timeout when searching."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

import regex

PATTERN_SECONDS = 2.0
"""How long one regular expression may search one answer."""
QUICK_SECONDS = 0.05
"""Longer work is not finished in a thread of this process: others need it too."""
MAX_PATTERN_CHARACTERS = 10_000
MAX_REPEATS = 100_000
"""How large a pattern may become when its counted repeats are expanded: compiling the 23
characters of `((a{1000}){1000}){1000}` takes more memory than a machine has."""

COUNT = regex.compile(r"\{(\d*)(?:,(\d*))?\}")
CALL = regex.compile(r"\(\?(?:R|\d|[+-]\d|&|P>)")
CHARACTER_CLASS = regex.compile(r"\[\^?\]?(?:\\.|[^\]\\])*+\]", flags=regex.DOTALL)


_is_quick: ContextVar[bool] = ContextVar("is_quick", default=False)


class TooSlow(Exception):
    """A regular expression took longer than its limit."""


class NotQuick(Exception):
    """A check takes longer than `QUICK_SECONDS`: a worker process has to do it."""


@contextmanager
def only_quick() -> Generator[None]:
    """Until the block ends, raise `NotQuick` for what takes longer."""
    token = _is_quick.set(True)
    try:
        yield
    finally:
        _is_quick.reset(token)


def refuse_if_only_quick() -> None:
    """Raise `NotQuick` for what cannot be interrupted."""
    if _is_quick.get():
        raise NotQuick


def time_limit(seconds: float) -> float:
    """The limit that holds now for what may take `seconds`."""
    return min(seconds, QUICK_SECONDS) if _is_quick.get() else seconds


def too_slow(message: str) -> Exception:
    """The error for what took longer than its `time_limit`."""
    return NotQuick() if _is_quick.get() else TooSlow(message)


def pattern_fault(pattern: str) -> str | None:
    """Why a regular expression cannot be used, or None."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        return f"is longer than {MAX_PATTERN_CHARACTERS} characters"
    if costly := _costly_part(pattern):
        return costly
    try:
        regex.compile(pattern)
    except (regex.error, ValueError, OverflowError) as fault:
        return f"is not a regular expression: {fault}"
    except RecursionError:
        return "is nested too deep"
    return None


def search(pattern: str, text: str, *, case_sensitive: bool) -> "regex.Match[str] | None":
    """The first match of the pattern in the text; raises `TooSlow` past the limit."""
    flags = 0 if case_sensitive else regex.IGNORECASE
    try:
        # `concurrent` releases the GIL, so that the event loop keeps running.
        seconds = time_limit(PATTERN_SECONDS)
        return regex.search(pattern, text, flags=flags, timeout=seconds, concurrent=True)
    except (TimeoutError, MemoryError) as late:
        raise too_slow(
            f"the pattern {pattern!r} took longer than {PATTERN_SECONDS:g} s on this answer"
        ) from late


def _costly_part(pattern: str) -> str | None:
    """Why a pattern would need unbounded memory. An estimate, which need not know all syntax."""
    sizes = [0]  # the expanded size of each open group so far
    last = 0  # the size of the item that a repeat would apply to
    place = 0
    while place < len(pattern):
        step = 1
        if CALL.match(pattern, place):
            return "calls itself or a group of its own, which may never end"
        if repeat := COUNT.match(pattern, place):
            step = len(repeat.group())
            # Nine digits suffice to exceed the limit; int() of thousands of digits raises.
            times = max(int((repeat[2] or repeat[1] or "1")[:9]), 1)
            sizes[-1] += last * (times - 1)
            last *= times
        elif pattern[place] == "(":
            sizes.append(0)
        elif pattern[place] == ")" and len(sizes) > 1:
            last = max(sizes.pop(), 1)
            sizes[-1] += last
        else:
            step = _step(pattern, place)
            last = 1
            sizes[-1] += 1
        if max(sizes[-1], last) > MAX_REPEATS:
            return f"repeats its parts more than {MAX_REPEATS} times in all"
        place += step
    return None


def _step(pattern: str, place: int) -> int:
    """The length of the item at this position: an escape, a class, or one character."""
    if pattern[place] == "\\":
        return 2
    inside = CHARACTER_CLASS.match(pattern, place)
    return len(inside.group()) if inside else 1
