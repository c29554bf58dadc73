"""What a command prints: text, tables and JSON."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table
from rich.text import Text

T = TypeVar("T")

STYLES = {
    "completed": "green",
    "passed": "green",
    "failed": "red",
    "timeout": "red",
    "error": "red",
    "cancelled": "yellow",
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
}


class Screen(Console):
    """A console that survives a reader (head, less) that goes away."""

    def on_broken_pipe(self) -> None:
        """Drop what is left to print; the command still gets to its exit code."""
        self.quiet = True
        discard_output()


def discard_output() -> None:
    """Send standard output to nowhere from here on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console(*, stderr: bool = False) -> Console:
    """Where tables go. Not a terminal: no colours, and lines are not cut."""
    made = Screen(stderr=stderr, highlight=False)
    if not made.is_terminal:
        made = Screen(stderr=stderr, highlight=False, width=200, no_color=True)
    return made


def line(text: str, *, end: str = "\n", at_once: bool = False) -> None:
    """A line as it is, however long; `at_once` if a reader of a pipe waits for it."""
    try:
        print(text, end=end, flush=at_once)
    except BrokenPipeError:
        discard_output()


def print_json(value: object) -> None:
    """A value as JSON on standard output, by the names of the API."""
    line(as_json(value, indent=2))


def show(value: T, printer: Callable[[T], object], *, as_json: bool) -> None:
    """A value as JSON, or as its printer shows it to people."""
    if as_json:
        print_json(value)
    else:
        printer(value)


def as_json(value: object, *, indent: int | None = None) -> str:
    """A value as JSON, by the names of the API."""
    return json.dumps(jsonable(value), indent=indent, ensure_ascii=False)


def jsonable(value: object) -> Any:
    """A value, or a dictionary or list of values, as JSON can hold it."""
    if isinstance(value, dict):
        return {key: jsonable(one) for key, one in cast(dict[str, object], value).items()}
    if isinstance(value, list | tuple):
        return [jsonable(one) for one in cast(list[object], value)]
    return _adapter(type(value)).dump_python(value, mode="json", by_alias=True)


@cache
def _adapter(kind: type[object]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def table(title: str, *columns: str, right: Iterable[str] = (), wraps: str | None = None) -> Table:
    """A plain table; the columns in `right` hold numbers, `wraps` (or the last) gives way."""
    made = Table(title=title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    numbers, gives_way = set(right), columns[-1] if wraps is None else wraps
    for column in columns:
        justify = "right" if column in numbers else "left"
        overflow = "fold" if column == gives_way else "ellipsis"
        made.add_column(column, justify=justify, no_wrap=column != gives_way, overflow=overflow)
    return made


def fitting(screen: Console, wide: Table, narrow: Table) -> Table:
    """The wide table if the screen has room for it."""
    endless = screen.options.update(max_width=10_000)
    return wide if screen.measure(wide, options=endless).maximum <= screen.width else narrow


def status(word: str) -> Text:
    """A state in its colour."""
    return Text(word, style=STYLES.get(word, ""))


def percent(value: float | None) -> str:
    """A share, or a dash if there is none."""
    if value is None:
        return "–"
    # All but one of thousands is not all: a gate at 100 is missed, and must be seen to be.
    return f"{min(value, 99.99):.2f} %" if 99.95 <= value < 100 else f"{value:.1f} %"


def seconds(value: float | None) -> str:
    """A span of time with a fitting number of digits."""
    if value is None:
        return "–"
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def counted(number: int, word: str) -> str:
    """A number of things: `1 file`, `2 files`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def moment(value: datetime | None) -> str:
    """A moment in the reader's own time zone."""
    return "–" if value is None else value.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def plain(text: str | None) -> Text:
    """Untrusted text: shown as it is, without markup or control characters."""
    shown = "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}"
        for c in (text or "").replace("\t", " ").replace("\r\n", "\n")
    )
    return Text(shown)
