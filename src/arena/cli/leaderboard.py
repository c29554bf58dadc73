"""`arena leaderboard`: the agents, best first."""

import csv
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena import clock
from arena.catalog.suite import short_version
from arena.cli import output
from arena.cli.connection import call, settings_of, source_of
from arena.cli.options import Json, commands
from arena.cli.tables import print_table
from arena.errors import InvalidInput, NotFound
from arena.operations.scores import ScoreOperations
from arena.scoring.board import BoardEntry, Leaderboard, Provenance
from arena.scoring.intervals import Interval
from arena.scoring.log import BoardLog, Position
from arena.text import UNKNOWN

app = commands()

BAR_CELLS = 20
FEW_CELLS = 6
"""Cells of a bar on a narrow screen."""
DROPPED = ("", "cost eff.", "rating")
"""Columns that a narrow screen does without, the bar first; never the interval."""


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
    str | None,
    typer.Option(metavar="DATE", help="The board at that moment (UTC unless it says)."),
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
        board_only = {"--category": category, "--tag": tag, "--min-coverage": min_coverage}
        board_only |= {"--version": suite_version, "--at": at}
        refuse_with_log(**board_only, **{"--archived": archived, "--csv": as_csv})
        show_log(context, suite, limit, cursor, as_json=as_json)
        return
    moment = past_moment(at)
    board = call(
        context,
        ScoreOperations,
        lambda arena: arena.leaderboard(
            category=category,
            tag=tag,
            min_coverage=min_coverage,
            suite=suite,
            version=suite_version,
            at=moment,
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
        print_board(board, f", category {category}" if category else f", tag {tag}" if tag else "")
    else:
        filters = {"--category": category, "--tag": tag, "--min-coverage": min_coverage}
        given = [f"{name} {value}" for name, value in filters.items() if value]
        _print_nothing(board, given, source_of(settings_of(context)))
    if board.next_cursor and not as_json:
        more = f"{board.total} in all; more with: --cursor {board.next_cursor}"
        # A spreadsheet gets nothing but its rows.
        typer.echo(more, err=True) if as_csv else output.line(more)


def refuse_with_log(**options: object) -> None:
    """Refuse options that the log would ignore."""
    for name, value in options.items():
        if value:
            raise InvalidInput(f"--log cannot be combined with {name}")


def past_moment(text: str | None) -> datetime | None:
    """The moment that `--at` names; UTC unless it says."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        examples = "2026-11-18, 2026-11-18T12:00 or 2026-11-18T12:00+01:00"
        raise InvalidInput(f"--at: {text!r} is not a date: write {examples}") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment > clock.now():
        raise InvalidInput(f"--at: {text} is in the future")
    return moment


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


def print_board(board: Leaderboard, part: str) -> None:
    """Print a board as a table; `part` says which tests count, if not all do."""
    screen = output.console()
    screen.print(_title(board) + part, style="bold")
    screen.print(_fitting(screen, board.leaderboard))
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
    if entry.provenance is Provenance.REPORTED:
        yield "reported from elsewhere, a claim"
    if entry.is_archived:
        yield "archived"
    if entry.is_other_file:
        yield "same version, other file: its file changed between its runs"
    if entry.judge_family:
        yield f"judged by a model of its own family ({entry.judge_family})"
    if entry.error_rate:
        yield f"the infrastructure failed {entry.error_rate:.1%} of its attempts"


def _fitting(screen: Console, entries: Sequence[BoardEntry]) -> Table:
    """The widest table that fits the screen; in the narrowest one, names of agents wrap."""
    cells = [_cells(entry) for entry in entries]
    for count in range(len(DROPPED) + 1):
        made = _table([_without(row, DROPPED[:count]) for row in cells])
        if output.fits(screen, made):
            return made
    for row, entry in zip(cells, entries, strict=True):
        row["runs"] = str(entry.runs or UNKNOWN)
    narrow = _table([_without(row, DROPPED) for row in cells])
    narrow.columns[2].header = "vers."
    narrow.padding = (0, 1, 0, 0)
    return narrow


def _cells(entry: BoardEntry) -> dict[str, Text | str]:
    """A row of the table, by its columns."""
    # Without a benchmark it would only be ratings or a success rate.
    overall = None if entry.benchmark_score is None else entry.overall_score
    return {
        "rank": place(entry),
        "agent": entry.agent_id,
        "version": entry.agent_version,
        "benchmark": score(entry.benchmark_score),
        "": bar(entry.benchmark_score),
        "interval": _interval(entry.intervals.benchmark),
        "overall": score(overall) + ("*" if entry.provisional and overall is not None else " "),
        "rating": stars(entry),
        "success": score(entry.success_rate_score),
        "cost eff.": score(entry.cost_efficiency_score),
        "tests": UNKNOWN if entry.tests is None else f"{entry.tests}/{entry.suite_tests}",
        "runs": attempts(entry),
    }


def _without(row: Mapping[str, Text | str], dropped: Collection[str]) -> dict[str, Text | str]:
    return {name: cell for name, cell in row.items() if name not in dropped}


def _table(rows: Sequence[Mapping[str, Text | str]]) -> Table:
    columns = tuple(rows[0])
    right = set(columns) - {"agent", "version", "", "interval", "rating", "runs"}
    lines = output.table("", *columns, right=right, wraps="agent")
    for row in rows:
        lines.add_row(*row.values())
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

    async def read(arena: BoardOperations) -> BoardLog:
        if suite is not None:
            known = [row.suite for row in (await arena.suites()).suites]
            if suite not in known:
                raise NotFound.among("suite", suite, known)
        return await arena.board_log(suite=suite, limit=limit, cursor=cursor)

    found = call(context, BoardOperations, read)
    if as_json:
        output.print_json(found)
        return
    rows = [
        (
            str(one.number),
            output.time_cell(one.at),
            one.kind.replace("_", " "),
            f"{one.agent_id}@{one.agent_version}" if one.agent_id else UNKNOWN,
            f"{_rank(one.before)} → {_rank(one.after)}" if one.agent_id else UNKNOWN,
            one.reason + (f" (by {one.by})" if one.by else ""),
        )
        for one in found.events
    ]
    columns = ("no.", "when (UTC)", "what", "agent", "rank", "why")
    print_table(columns, rows, right=("no.",), optional=("no.", "rank"), lines=None)
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
