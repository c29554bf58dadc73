"""`arena leaderboard`: the agents, best first."""

import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from arena.cli import output
from arena.cli.connection import call, settings_of, source_of
from arena.cli.options import Json, commands
from arena.errors import InvalidInput
from arena.operations.scores import ScoreOperations
from arena.scoring.board import BoardEntry, Leaderboard
from arena.scoring.intervals import Interval
from arena.text import UNKNOWN

app = commands()

BAR_CELLS = 20
FEW_CELLS = 6
"""Cells of a bar on a narrow screen."""


@app.command()
def leaderboard(
    context: typer.Context,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only tests of this category count.")
    ] = None,
    tag: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only tests with this tag count.")
    ] = None,
    min_coverage: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Only scores with data for this much weight."
        ),
    ] = 0.0,
    limit: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="How many.")] = 20,
    cursor: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The next page: its next_cursor.")
    ] = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV for spreadsheets.")] = False,
) -> None:
    """Show the agents, best first."""
    if as_json and as_csv:
        raise InvalidInput("--json and --csv: give one of them")
    board = call(
        context,
        ScoreOperations,
        lambda arena: arena.leaderboard(
            category=category, tag=tag, min_coverage=min_coverage, limit=limit, cursor=cursor
        ),
    )
    if as_json:
        output.print_json(board)
    elif as_csv:
        _print_csv(board)
    elif not board.leaderboard:
        filters = {"--category": category, "--tag": tag, "--min-coverage": min_coverage}
        given = [f"{name} {value}" for name, value in filters.items() if value]
        output.line(_nothing(given, source_of(settings_of(context))))
    else:
        _print_table(board)
    if board.next_cursor and not as_json:
        more = f"{board.total} in all; more with: --cursor {board.next_cursor}"
        # A spreadsheet gets nothing but its rows.
        typer.echo(more, err=True) if as_csv else output.line(more)


def _nothing(filters: Sequence[str], source: str) -> str:
    if not filters:
        return f"nothing to rank yet in {source}; start with: arena run AGENT"
    return f"nothing to rank with {' '.join(filters)}; without: arena leaderboard"


def _print_table(board: Leaderboard) -> None:
    screen = output.console()
    screen.print(output.fitting(screen, _wide(board.leaderboard), _narrow(board.leaderboard)))
    shares = asdict(board.weights)
    named = ", ".join(f"{name.replace('_', ' ')} {share:.0%}" for name, share in shares.items())
    screen.print(f"weights: {named}", style="dim")
    if any(entry.provisional for entry in board.leaderboard):
        screen.print("* provisional: some of the weight has no data yet", style="dim")


def _wide(entries: Sequence[BoardEntry]) -> Table:
    scores = ("benchmark", "rating", "success", "cost eff.", "coverage")
    columns = ("rank", "agent", "version", "overall", "", "interval", *scores)
    right = set(columns) - {"agent", "version", "", "interval", "rating"}
    lines = output.table("", *columns, right=right)
    for entry in entries:
        lines.add_row(
            place(entry),
            entry.agent_id,
            entry.agent_version,
            score(entry.overall_score),
            bar(entry.overall_score),
            _interval(entry.intervals.overall),
            score(entry.benchmark_score),
            stars(entry),
            score(entry.success_rate_score),
            score(entry.cost_efficiency_score),
            f"{entry.coverage * 100:.0f} %" + (" *" if entry.provisional else "  "),
        )
    return lines


def _narrow(entries: Sequence[BoardEntry]) -> Table:
    """The same for a screen of 80 columns: without intervals and coverage."""
    columns = ("rank", "agent", "vers.", "score", "", "bench", "stars", "succ", "cost")
    lines = output.table("", *columns, right=set(columns) - {"agent", "vers.", ""}, wraps="agent")
    for entry in entries:
        lines.add_row(
            str(entry.rank),
            entry.agent_id,
            entry.agent_version,
            score(entry.overall_score) + ("*" if entry.provisional else " "),
            bar(entry.overall_score, FEW_CELLS),
            score(entry.benchmark_score),
            UNKNOWN if entry.avg_user_rating is None else f"{entry.avg_user_rating:.1f}",
            score(entry.success_rate_score),
            score(entry.cost_efficiency_score),
        )
    return lines


def place(entry: BoardEntry) -> str:
    """A rank with the range that the intervals allow."""
    if entry.rank_low == entry.rank_high or entry.rank_low is None:
        return str(entry.rank)
    return f"{entry.rank} ({entry.rank_low}–{entry.rank_high})"


def bar(score: float | None, cells: int = BAR_CELLS) -> Text:
    """A score as a bar of eighths."""
    # Unicode has blocks of an eighth: 20 cells show steps of less than a point.
    eighths = round((score or 0.0) / 100 * cells * 8)
    full, rest = divmod(eighths, 8)
    shown = "█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else "")
    return Text(shown.ljust(cells), style="green")


def stars(entry: BoardEntry) -> str:
    """The average rating and the number of ratings."""
    if entry.avg_user_rating is None:
        return UNKNOWN
    return f"★ {entry.avg_user_rating:.1f} ({entry.feedback_count})"


def score(value: float | None) -> str:
    """A score to the cent, or a dash if there is none."""
    return UNKNOWN if value is None else f"{value:.2f}"


def _interval(interval: Interval | None) -> str:
    return UNKNOWN if interval is None else f"{interval.low:.1f}–{interval.high:.1f}"


def _print_csv(board: Leaderboard) -> None:
    # Flat columns: spreadsheets cannot use the nested intervals.
    names = [one.name for one in fields(BoardEntry) if one.name != "intervals"]
    writer = csv.writer(sys.stdout)
    writer.writerow([*names, "overall_low", "overall_high"])
    for entry in board.leaderboard:
        interval = entry.intervals.overall
        bounds = (interval.low, interval.high) if interval else ("", "")
        writer.writerow([*(getattr(entry, name) for name in names), *bounds])
