"""Output of commands: text, tables and JSON."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.text import UNKNOWN, printable

T = TypeVar("T")

STYLES = {
    "completed": "green",
    "passed": "green",
    "failed": "red",
    "timeout": "red",
    "error": "red",
    "cancelled": "yellow",
    "interrupted": "yellow",
    "budget_exceeded": "yellow",
    "running": "cyan",
    "awaiting_review": "magenta",
    "awaiting": "magenta",
    "open": "cyan",
    "answered": "yellow",
    "done": "green",
    "pending": "dim",
    "assigned": "cyan",
    "submitted": "cyan",
    "paid": "green",
    "refunded": "yellow",
    "expired": "red",
    "working": "cyan",
    "stopping": "yellow",
    "silent": "red",
}


class Screen(Console):
    """A console that survives the exit of its reader (head, less)."""

    def on_broken_pipe(self) -> None:
        """Discard further output; the command still returns its exit code."""
        self.quiet = True
        discard_output()


def discard_output() -> None:
    """Redirect standard output to /dev/null from now on."""
    # The descriptor itself: Python flushes standard output again at exit and would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console(*, stderr: bool = False) -> Console:
    """The console for tables. Without a terminal: no colours, and lines are not truncated."""
    made = Screen(stderr=stderr, highlight=False)
    # A pipe has no width: a fixed large one keeps a row on one line for grep.
    if not made.is_terminal:
        made = Screen(stderr=stderr, highlight=False, width=200, no_color=True)
    return made


def line(text: str, *, end: str = "\n", at_once: bool = False) -> None:
    """Print a line unchanged; `at_once` flushes it, for a program that waits for it."""
    try:
        print(text, end=end, flush=at_once)
    except BrokenPipeError:
        discard_output()


def print_json(value: object) -> None:
    """A value as JSON on standard output, by the names of the API."""
    line(as_json(value, indent=2))


def show(value: T, printer: Callable[[T], object], *, as_json: bool) -> None:
    """Print a value as JSON, or for people with its printer."""
    if as_json:
        print_json(value)
    else:
        printer(value)


def as_json(value: object, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """A value as JSON, by the names of the API."""
    return json.dumps(jsonable(value), indent=indent, ensure_ascii=ascii_only)


def jsonable(value: object) -> Any:
    """A value, or a dictionary or list of values, as JSON values."""
    if isinstance(value, dict):
        return {key: jsonable(one) for key, one in cast(dict[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [jsonable(one) for one in cast(list[object], value)]
    return _adapter(type(value)).dump_python(value, mode="json", by_alias=True)


@cache
def _adapter(kind: type[object]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def table(title: str, *columns: str, right: Iterable[str] = (), wraps: str | None = None) -> Table:
    """A plain table; columns in `right` are right-aligned, `wraps` (or the last) may wrap."""
    made = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    numbers, flexible = set(right), columns[-1] if wraps is None else wraps
    for column in columns:
        justify = "right" if column in numbers else "left"
        overflow = "fold" if column == flexible else "ellipsis"
        made.add_column(column, justify=justify, no_wrap=column != flexible, overflow=overflow)
    return made


def fitting(screen: Console, wide: Table, narrow: Table) -> Table:
    """The wide table if it fits the screen, else the narrow one."""
    return wide if fits(screen, wide) else narrow


def fits(screen: Console, made: Table) -> bool:
    """Whether a table fits the screen without wrapping."""
    endless = screen.options.update(max_width=10_000)
    return screen.measure(made, options=endless).maximum <= screen.width


def status(word: str) -> Text:
    """A state in its colour."""
    return Text(word, style=STYLES.get(word, ""))


def counted(number: int, word: str) -> str:
    """A number of things: `1 file`, `2 files`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def moment(value: datetime | None) -> str:
    """A time within a sentence: `2026-11-18 12:00 UTC`."""
    return UNKNOWN if value is None else f"{time_cell(value).removesuffix(':00')} UTC"


def time_cell(value: datetime | None) -> str:
    """A time in a column of a table, whose heading says that it is UTC."""
    return UNKNOWN if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def plain(text: str | None) -> Text:
    """Untrusted text, without markup or control characters."""
    return Text(printable((text or "").replace("\t", " ").replace("\r\n", "\n")))
