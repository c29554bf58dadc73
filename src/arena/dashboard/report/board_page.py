"""The leaderboard as a page."""

from dataclasses import asdict

from arena.dashboard.report import numbers
from arena.dashboard.report.filters import filter_bar, search_field
from arena.dashboard.report.frame import frame
from arena.dashboard.report.markup import Html, element, joined, untrusted
from arena.scoring.board import BoardEntry, Leaderboard
from arena.scoring.intervals import Interval

COLUMNS = (
    "Rank",
    "Agent",
    "Version",
    "Overall",
    "Interval",
    "",
    "Benchmark",
    "Rating",
    "Success",
    "Cost efficiency",
    "Rests on",
)
NUMBERS = set(COLUMNS) - {"Agent", "Version", ""}


def board_page(board: Leaderboard, *, team: str, category: str | None, data_name: str) -> str:
    """The whole page."""
    weights = ", ".join(
        f"{name.replace('_', ' ')} {share:.0%}" for name, share in asdict(board.weights).items()
    )
    of = f" · tests of the category {category}" if category else ""
    lead = joined(untrusted(f"Team {team}{of}"), f" · overall: {weights}")
    head = [
        element("th", name, class_="number" if name in NUMBERS else None, scope="col")
        if name
        else element("td")
        for name in COLUMNS
    ]
    table = element(
        "div",
        element(
            "table",
            element("thead", element("tr", *head)),
            element("tbody", *(_row(entry) for entry in board.leaderboard)),
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label="Leaderboard",
    )
    main = joined(
        filter_bar(search_field("Agent")),
        table if board.leaderboard else element("p", "Nobody is on the board yet."),
        element(
            "p",
            "The bar is where the truth may lie; bars that overlap are no difference yet. ",
            "“Rests on” is the share of the weight that has data.",
            class_="quiet",
        ),
    )
    return frame(
        title="Leaderboard", heading="Leaderboard", lead=lead, main=main, data_name=data_name
    )


def _row(entry: BoardEntry) -> Html:
    interval = entry.intervals.overall
    cells = (
        _place(entry),
        element("b", untrusted(entry.agent_id)),
        untrusted(entry.agent_version),
        numbers.score(entry.overall_score),
        f"{interval.low:.1f}–{interval.high:.1f}" if interval else numbers.NOTHING,
        _drawn(entry.overall_score, interval),
        numbers.score(entry.benchmark_score),
        _rating(entry),
        numbers.score(entry.success_rate_score),
        numbers.score(entry.cost_efficiency_score),
        f"{entry.coverage:.0%}",
    )
    told = [
        element("td", cell, class_="number" if name in NUMBERS else None)
        for name, cell in zip(COLUMNS, cells, strict=True)
    ]
    return element("tr", *told, data_find=f"{entry.agent_id} {entry.agent_version}".lower())


def _place(entry: BoardEntry) -> str:
    if entry.rank is None:
        return numbers.NOTHING
    if entry.rank_low == entry.rank_high:
        return str(entry.rank)
    return f"{entry.rank} ({entry.rank_low}–{entry.rank_high})"


def _rating(entry: BoardEntry) -> str:
    if entry.avg_user_rating is None:
        return numbers.NOTHING
    return f"{entry.avg_user_rating:.1f} of 5 ({entry.feedback_count})"


def _drawn(score: float | None, interval: Interval | None) -> Html:
    """A dot on its interval, from 0 to 100; the numbers stand beside it."""
    if score is None:
        return Html("")
    bar = None
    if interval:
        bar = element("line", x1=interval.low, x2=interval.high, y1=8, y2=8, class_="bar")
    return element(
        "svg",
        element("line", x1=0, x2=100, y1=8, y2=8, class_="track"),
        bar,
        element("circle", cx=score, cy=8, r=4, class_="dot"),
        class_="range",
        viewBox="-4 0 108 16",
        aria_hidden="true",
    )
