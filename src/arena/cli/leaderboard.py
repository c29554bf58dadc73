"""`arena leaderboard`: the agents, best first."""

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from arena.catalog.suite import short_version
from arena.cli import output
from arena.cli.connection import call, settings_of, source_of
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.operations.scores import ScoreOperations
from arena.scoring.board import BoardEntry, Leaderboard, Provenance
from arena.scoring.intervals import Interval
from arena.scoring.log import Position
from arena.text import UNKNOWN

app = commands()

BAR_CELLS = 20
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]
"""Of `--at`."""
FEW_CELLS = 6
"""Cells of a bar on a narrow screen."""


Category = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only tests of this category count.")
]
Tag = Annotated[str | None, typer.Option(metavar="NAME", help="Only tests with this tag count.")]
MinCoverage = Annotated[
    float,
    typer.Option(min=0, max=1, metavar="SHARE", help="Only scores with data for this much weight."),
]
SuiteName = Annotated[
    str | None, typer.Option(metavar="NAME", help="The board of this suite (else the default).")
]
SuiteVersion = Annotated[
    str | None,
    typer.Option("--version", metavar="TEXT", help="A version: its label or first digits."),
]
At = Annotated[
    datetime | None,
    typer.Option(
        formats=FORMATS, metavar="DATE", help="The board at that moment (UTC unless it says)."
    ),
]
Archived = Annotated[bool, typer.Option("--archived", help="Also archived agents.")]
Limit = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="How many.")]
NextCursor = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The next page: its next_cursor.")
]
Log = Annotated[
    bool, typer.Option("--log", help="Show why the boards changed instead, newest first.")
]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV for spreadsheets.")]


@app.command()
def leaderboard(
    context: typer.Context,
    category: Category = None,
    tag: Tag = None,
    min_coverage: MinCoverage = 0.0,
    suite: SuiteName = None,
    suite_version: SuiteVersion = None,
    at: At = None,
    archived: Archived = False,
    limit: Limit = 20,
    cursor: NextCursor = None,
    log: Log = False,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show the agents on the board of a suite, best first."""
    if as_json and as_csv:
        raise InvalidInput("--json and --csv: give one of them")
    if log:
        show_log(context, suite, limit, cursor, as_json=as_json)
        return
    board = call(
        context,
        ScoreOperations,
        lambda arena: arena.leaderboard(
            category=category,
            tag=tag,
            min_coverage=min_coverage,
            suite=suite,
            version=suite_version,
            at=at and (at if at.tzinfo else at.replace(tzinfo=UTC)),
            archived=archived,
            limit=limit,
            cursor=cursor,
        ),
    )
    if as_json:
        output.print_json(board)
    elif as_csv:
        _print_csv(board)
    elif board.leaderboard:
        _print_table(board, f", category {category}" if category else f", tag {tag}" if tag else "")
    else:
        filters = {"--category": category, "--tag": tag, "--min-coverage": min_coverage}
        given = [f"{name} {value}" for name, value in filters.items() if value]
        _print_nothing(board, given, source_of(settings_of(context)))
    if board.next_cursor and not as_json:
        more = f"{board.total} in all; more with: --cursor {board.next_cursor}"
        # A spreadsheet gets nothing but its rows.
        typer.echo(more, err=True) if as_csv else output.line(more)


def _print_nothing(board: Leaderboard, filters: Sequence[str], source: str) -> None:
    if filters:
        output.line(f"nothing to rank with {' '.join(filters)}; without: arena leaderboard")
    elif board.at:
        output.line("the board was empty then; arena leaderboard --log shows since when it changes")
    else:
        output.line(f"nothing to rank yet in {source}; start with: arena run AGENT")
    if board.archived:
        output.line(f"{board.archived} archived; see: arena leaderboard --archived")
    if others := [name for name in board.suites if name != board.suite]:
        output.line(f"other suites: {', '.join(others)} (--suite NAME)")


def _print_table(board: Leaderboard, part: str) -> None:
    screen = output.console()
    screen.print(_title(board) + part, style="bold")
    screen.print(output.fitting(screen, _wide(board.leaderboard), _narrow(board.leaderboard)))
    for note in _notes(board):
        screen.print(output.plain(note), style="dim")


def _title(board: Leaderboard) -> str:
    """Which board this is."""
    if board.suite is None:
        return "no suite has a complete run yet"
    version = board.suite_label or short_version(board.suite_version or "")
    when = f", as of {output.moment(board.at)}" if board.at else ""
    return f"suite {board.suite} {version} ({output.counted(board.suite_tests or 0, 'test')}){when}"


def _notes(board: Leaderboard) -> Iterator[str]:
    """What a reader of the table should know."""
    for entry in board.leaderboard:
        name = f"{entry.agent_id} {entry.agent_version}"
        yield from (f"{name}: {remark}" for remark in _remarks(entry))
    if any(entry.provisional for entry in board.leaderboard):
        yield "* provisional: some of the weight has no data yet"
    shares = asdict(board.weights)
    named = ", ".join(f"{name.replace('_', ' ')} {share:.0%}" for name, share in shares.items())
    yield f"overall = {named}; success = answered without error, whatever the verdict"
    if board.newer:
        versions = ", ".join(row.label or short_version(row.version) for row in board.newer)
        yield f"newer versions without a complete run: {versions}"
    others = [name for name in board.suites if name != board.suite]
    if others:
        yield f"other suites: {', '.join(others)} (--suite NAME)"
    if board.archived:
        yield f"{board.archived} archived (--archived shows them); they count for the ranks"


def _remarks(entry: BoardEntry) -> Iterator[str]:
    """What a reader of one row should know."""
    if entry.unranked_because:
        yield f"not ranked, {entry.unranked_because}"
    elif entry.provenance == Provenance.REPORTED:
        yield "reported from elsewhere, a claim"
    if entry.is_other_file:
        yield "same version, other file: its file changed between its runs"
    if entry.judge_family:
        yield f"judged by a model of its own family ({entry.judge_family})"
    if entry.error_rate:
        yield f"the infrastructure failed {entry.error_rate:.1%} of its attempts"


def _wide(entries: Sequence[BoardEntry]) -> Table:
    scores = ("overall", "rating", "success", "cost eff.", "tests", "runs")
    columns = ("rank", "agent", "version", "benchmark", "", "interval", *scores)
    right = set(columns) - {"agent", "version", "", "interval", "rating", "runs"}
    lines = output.table("", *columns, right=right)
    for entry in entries:
        lines.add_row(
            place(entry),
            entry.agent_id,
            entry.agent_version,
            score(entry.benchmark_score),
            bar(entry.benchmark_score),
            _interval(entry.intervals.benchmark),
            score(entry.overall_score) + ("*" if entry.provisional else " "),
            stars(entry),
            score(entry.success_rate_score),
            score(entry.cost_efficiency_score),
            UNKNOWN if entry.tests is None else f"{entry.tests}/{entry.suite_tests}",
            attempts(entry),
        )
    return lines


def _narrow(entries: Sequence[BoardEntry]) -> Table:
    """The same for a screen of 80 columns: without intervals, runs and cost efficiency."""
    columns = ("rank", "agent", "vers.", "bench", "", "score", "stars", "succ", "tests")
    lines = output.table("", *columns, right=set(columns) - {"agent", "vers.", ""}, wraps="agent")
    for entry in entries:
        lines.add_row(
            UNKNOWN if entry.rank is None else str(entry.rank),
            entry.agent_id,
            entry.agent_version,
            score(entry.benchmark_score),
            bar(entry.benchmark_score, FEW_CELLS),
            score(entry.overall_score) + ("*" if entry.provisional else " "),
            UNKNOWN if entry.avg_user_rating is None else f"{entry.avg_user_rating:.1f}",
            score(entry.success_rate_score),
            UNKNOWN if entry.tests is None else f"{entry.tests}/{entry.suite_tests}",
        )
    return lines


def attempts(entry: BoardEntry) -> str:
    """How many complete runs stand behind an entry, and how much they differ."""
    if entry.runs < 2 or entry.runs_lowest is None or entry.runs_highest is None:
        return str(entry.runs or UNKNOWN)
    return f"latest of {entry.runs} ({entry.runs_lowest:.1f}–{entry.runs_highest:.1f})"


def show_log(
    context: typer.Context, suite: str | None, limit: int, cursor: str | None, *, as_json: bool
) -> None:
    """Print the log of the boards."""
    # Imported here: the board itself does without it.
    from arena.operations.boards import BoardOperations

    found = call(
        context,
        BoardOperations,
        lambda arena: arena.board_log(suite=suite, limit=limit, cursor=cursor),
    )
    if as_json:
        output.print_json(found)
        return
    rows = [
        (
            str(one.number),
            output.moment(one.at),
            one.kind.replace("_", " "),
            f"{one.agent_id}@{one.agent_version}" if one.agent_id else UNKNOWN,
            f"{_rank(one.before)} → {_rank(one.after)}" if one.agent_id else UNKNOWN,
            one.reason + (f" (by {one.by})" if one.by else ""),
        )
        for one in found.events
    ]
    columns = ("no.", "when", "what", "agent", "rank", "why")
    print_table(columns, rows, right=("no.",), optional=("no.", "rank"), lines=2)
    if found.next_cursor:
        output.line(f"more with: --cursor {found.next_cursor}")


def _rank(position: Position | None) -> str:
    return UNKNOWN if position is None or position.rank is None else str(position.rank)


def place(entry: BoardEntry) -> str:
    """A rank with the range that the intervals allow."""
    if entry.rank is None:
        return UNKNOWN
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
