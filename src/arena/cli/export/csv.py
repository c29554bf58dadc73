"""CSV (RFC 4180): a header and one row per result.

A spreadsheet executes a cell that begins with `=`, `+`, `-` or `@`. Such a text gets an apostrophe
in front, which spreadsheets take as "this is text"; numbers are written as numbers.
"""

import csv
import io
import re
from collections.abc import AsyncIterator

from arena.cli import output
from arena.cli.export.exported import RUN_FIELDS, ExportedRun, cut, fields_of_run, output_of
from arena.models.step import step_line
from arena.runs.run import Result, Run
from arena.text import to_unicode

MAX_CELL = 32_000
"""A spreadsheet's cell holds 32,767 characters."""

EXECUTED = re.compile(r"\s*[=+\-@\t\r＝＋－＠]")
"""The beginning of a cell that a spreadsheet may execute, also in full-width characters."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Cell = str | int | float | None

NESTED = {"passed", "actual_output", "findings", "steps", "messages", "workspace"}
"""Fields of a result that are no cell; `outcome`, `output` and a text of `steps` stand for some."""

COLUMNS = (
    "run_id",
    *RUN_FIELDS,
    *(name for name in Result.__dataclass_fields__ if name not in NESTED),
    "outcome",
    "quarantined_until",
    "output",
    "steps",
    "turns",
)


async def pieces(exported: ExportedRun) -> AsyncIterator[str]:
    """The header, then a row per result."""
    yield row(COLUMNS)
    async for result in exported.results():
        quarantined = exported.quarantined.get(result.test_id)
        cells = _cells(exported.details.run, result)
        cells["quarantined_until"] = quarantined.until if quarantined else None
        yield row([cells[column] for column in COLUMNS])


def row(cells: list[Cell] | tuple[Cell, ...]) -> str:
    """One line of the file; texts are made safe, numbers stay as they are."""
    written = io.StringIO()
    safe = [safe_text(cell) if isinstance(cell, str) else cell for cell in cells]
    csv.writer(written, lineterminator="\r\n").writerow(safe)
    return written.getvalue()


def safe_text(text: str) -> str:
    """A text that fits into a cell, is valid UTF-8 and is not executed."""
    text = to_unicode(text).replace("\r\n", "\n").replace("\r", "\n")
    text = cut(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), MAX_CELL)
    return f"'{text}" if EXECUTED.match(text) else text


def _cells(run: Run, result: Result) -> dict[str, Cell]:
    # As JSON values, like the other formats: a database may give 1 for 1.0.
    return (
        output.jsonable(result)
        | fields_of_run(run)
        | {
            "outcome": {True: "passed", False: "failed", None: "awaiting"}[result.passed],
            "output": output_of(result),
            "steps": "\n".join(map(step_line, result.steps)) if result.steps else None,
            # How often the agent was asked.
            "turns": max(1, sum(one.role == "user" for one in result.messages or ())),
        }
    )
