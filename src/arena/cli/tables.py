"""Tables that fit the screen."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.cli.output import console, plain
from arena.text import UNKNOWN

GAP = 2
MIN_LAST_COLUMN = 36
"""Other columns are dropped before the last one gets narrower than this."""

DIGITS = re.compile(r"\b([0-9a-f]{8})(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{4})\b")
"""The id of a run or the short version of a suite: commands also take the beginning of these."""

LONG = 50
"""An object longer than this is shown on several lines."""


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Text | str]],
    *,
    right: Collection[str] = (),
    optional: Sequence[str] = (),
    ids: Collection[str] = (),
    lines: int | None = 1,
) -> None:
    """Print a table at most as wide as the screen.

    If the screen is too narrow, the ids in columns of `ids` are shortened to 8 digits; then columns
    of `optional` are dropped, the first one first. The last column gets the remaining width and is
    truncated after `lines` lines (None: never).
    """
    screen = console()
    cells = [dict(zip(columns, map(_one_line, row), strict=True)) for row in rows]
    widths = _widths(columns, cells)
    if not _fits(widths, columns, screen.width):
        for row in cells:
            row.update({name: _shortened(row[name]) for name in ids})
        widths = _widths(columns, cells)
    kept = _fitting(widths, optional, screen.width)
    last = kept[-1]
    room = screen.width - sum(widths[name] + GAP for name in kept[:-1])
    made = Table(box=None, header_style="bold", pad_edge=False)
    for name in kept:
        made.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    for row in cells:
        row[last] = _cut(row[last], screen, max(room, 1), lines)
        made.add_row(*(row[name] for name in kept))
    screen.print(made)


def _widths(columns: Sequence[str], cells: Sequence[Mapping[str, Text]]) -> dict[str, int]:
    return {name: max(len(name), *(row[name].cell_len for row in cells), 0) for name in columns}


def _fits(widths: Mapping[str, int], columns: Sequence[str], width: int) -> bool:
    fixed = sum(widths[name] + GAP for name in columns[:-1])
    return fixed + min(widths[columns[-1]], MIN_LAST_COLUMN) <= width


def _fitting(widths: Mapping[str, int], optional: Sequence[str], width: int) -> list[str]:
    """The columns that fit."""
    kept = list(widths)
    for name in optional:
        if _fits(widths, kept, width):
            break
        kept.remove(name)
    return kept


def _shortened(cell: Text) -> Text:
    return Text(DIGITS.sub(r"\1", cell.plain), style=cell.style)


def _one_line(cell: Text | str) -> Text:
    shown = plain(cell) if isinstance(cell, str) else cell
    return Text(" ".join(shown.plain.split()), style=shown.style)


def _cut(cell: Text, screen: Console, width: int, lines: int | None) -> Text:
    """A text on at most `lines` lines, with an ellipsis if it was truncated."""
    wrapped = cell.wrap(screen, width)
    shown = list(wrapped[:lines])
    if len(wrapped) > len(shown):
        shown[-1].rstrip()
        shown[-1].append(" …")
        shown[-1].truncate(width, overflow="ellipsis")
    return Text("\n").join(shown)


def print_values(values: Mapping[str, object]) -> None:
    """Print one object, a key per line; empty values are left out."""
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(no_wrap=True, style="bold")
    made.add_column(overflow="fold")
    for key, value in values.items():
        if value not in (None, [], ""):
            made.add_row(key, plain(in_words(value)))
    console().print(made)


def in_words(value: object) -> str:
    """A JSON value for people: names without brackets, yes and no, long objects as YAML."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        return ", ".join(map(in_words, cast(list[object], value)))
    if isinstance(value, dict):
        short = json.dumps(value, ensure_ascii=False)
        if len(short) <= LONG:
            return short
        import yaml  # few values are that long, and it is slow to load

        return yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=60).strip()
    return UNKNOWN if value is None else str(value)
