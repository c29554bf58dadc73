"""`arena runs compare`: two runs side by side, as text, JSON, Markdown or HTML."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.baseline_report import list_lines
from arena.cli.connection import call
from arena.cli.run_name import RUN_HELP, find_run
from arena.operations.comparisons import ComparisonOperations
from arena.operations.runs import RunOperations
from arena.runs.comparison import RunComparison
from arena.runs.differences import (
    changes_between,
    comparison_notes,
    comparison_verdict,
    run_text,
)
from arena.text import printable


class CompareFormat(StrEnum):
    """The formats of a comparison."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


class ComparedRunOperations(RunOperations, ComparisonOperations):
    """Operations that compare runs."""


def compare_runs(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="A", help=RUN_HELP)],
    second: Annotated[str, typer.Argument(metavar="B", help="The other run.")],
    kind: Annotated[
        CompareFormat, typer.Option("--format", help="The format.")
    ] = CompareFormat.TEXT,
    to: Annotated[
        str,
        typer.Option("--output", metavar="FILE", help="The file to write (-: standard output)."),
    ] = "-",
) -> None:
    """Compare two runs on the tests that both have. Says whether B is better or worse than A."""
    # Imported here: the other commands about runs do not write files.
    from arena.cli.export.target import Target

    target = Target(format=kind, name=to)
    target.check()

    async def compared(arena: ComparedRunOperations) -> RunComparison:
        return await arena.compare_runs(await find_run(arena, first), await find_run(arena, second))

    comparison = call(context, ComparedRunOperations, compared)
    target.write_text(document(comparison, kind))
    if to != "-":
        output.line(f"wrote {to}")


def document(comparison: RunComparison, kind: CompareFormat) -> str:
    """The comparison in a format."""
    # Imported here: each format needs its own.
    if kind is CompareFormat.HTML:
        from arena.dashboard.report.comparison import comparison_page

        return comparison_page(comparison)
    if kind is CompareFormat.MARKDOWN:
        from arena.cli.export.comparison import comparison_text

        return comparison_text(comparison)
    if kind is CompareFormat.JSON:
        return output.as_json(comparison, indent=2) + "\n"
    return "\n".join(map(printable, _lines(comparison))) + "\n"


def _lines(comparison: RunComparison) -> Iterator[str]:
    yield f"A  {run_text(comparison.first)}"
    yield f"B  {run_text(comparison.second)}"
    yield comparison_verdict(comparison)
    yield from list_lines(changes_between(comparison))
    yield from map(str, comparison_notes(comparison))
