"""The leaderboard as a self-contained page."""

from dataclasses import asdict

from arena.catalog.suite import short_version
from arena.dashboard.report.markup import (
    Html,
    element,
    filter_bar,
    frame,
    joined,
    search_field,
    untrusted,
)
from arena.scoring.board import BoardEntry, Leaderboard, Provenance
from arena.scoring.intervals import Interval
from arena.text import UNKNOWN, score_text

COLUMNS = (
    "Rank",
    "Agent",
    "Benchmark",
    "",
    "Overall",
    "Rating",
    "Success",
    "Cost efficiency",
    "Tests",
)
NUMBERS = set(COLUMNS) - {"Agent", ""}


def board_page(board: Leaderboard, *, team: str, category: str | None, data_name: str) -> str:
    """The page of the leaderboard."""
    weights = ", ".join(
        f"{name.replace('_', ' ')} {share:.0%}" for name, share in asdict(board.weights).items()
    )
    of = f" · tests of the category {category}" if category else ""
    if board.suite:
        version = board.suite_label or short_version(board.suite_version or "")
        of = f" · suite {board.suite} {version} ({board.suite_tests} tests){of}"
    lead = joined(untrusted(f"Team {team}{of}"), f" · overall: {weights}")
    head = [
        element(
            "th",
            name,
            class_="number" if name in NUMBERS else None,
            scope="col",
            role="columnheader",
        )
        if name
        else element("td", role="cell")
        for name in COLUMNS
    ]
    table = element(
        "div",
        element(
            "table",
            element("thead", element("tr", *head, role="row"), role="rowgroup"),
            element("tbody", *(_row(entry) for entry in board.leaderboard), role="rowgroup"),
            # On a phone each row is a card, and no table to the browser any more.
            class_="cards",
            role="table",
            aria_label="Leaderboard",
        ),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label="Leaderboard",
    )
    main = joined(
        filter_bar(search_field("Agent")),
        table if board.leaderboard else element("p", "The leaderboard is empty."),
        element(
            "p",
            "The bar is the confidence interval of the benchmark; overlapping bars show no clear ",
            "difference. Grey: not ranked. Reported: executed elsewhere, a claim. ",
            "Success is how often the agent answered without an error, whatever the verdict. ",
            "Tests is how many of the suite's tests its run covers.",
            class_="quiet",
        ),
    )
    return frame(
        title="Leaderboard", heading="Leaderboard", lead=lead, main=main, data_name=data_name
    )


def _row(entry: BoardEntry) -> Html:
    interval = entry.intervals.benchmark
    # Without a benchmark it would only be ratings or a success rate.
    overall = None if entry.benchmark_score is None else entry.overall_score
    cells = (
        _rank(entry),
        _agent(entry),
        joined(
            element("b", score_text(entry.benchmark_score)),
            element("div", f"{interval.low:.1f}–{interval.high:.1f}", class_="quiet")
            if interval
            else None,
        ),
        _chart(entry.benchmark_score, interval, is_ranked=entry.rank is not None),
        score_text(overall),
        _rating(entry),
        score_text(entry.success_rate_score),
        score_text(entry.cost_efficiency_score),
        UNKNOWN if entry.tests is None else f"{entry.tests} of {entry.suite_tests}",
    )
    row = [
        element(
            "td",
            cell,
            class_="number" if name in NUMBERS else None,
            role="cell",
            data_label=name or None,
        )
        for name, cell in zip(COLUMNS, cells, strict=True)
    ]
    found = f"{entry.agent_id} {entry.agent_version}".lower()
    return element("tr", *row, role="row", data_find=found)


def _agent(entry: BoardEntry) -> Html:
    reason = entry.unranked_because
    marks = (
        (entry.provenance is Provenance.REPORTED, "reported: a claim"),
        (entry.is_archived, "archived"),
        (entry.provisional, "provisional"),
    )
    return joined(
        element("b", untrusted(entry.agent_id)),
        " ",
        element("span", untrusted(entry.agent_version), class_="quiet"),
        *(joined(" ", element("span", name, class_="label")) for is_so, name in marks if is_so),
        element("div", f"not ranked: {reason}", class_="quiet") if reason else None,
    )


def _rank(entry: BoardEntry) -> str:
    if entry.rank is None:
        return UNKNOWN
    if entry.rank_low == entry.rank_high:
        return str(entry.rank)
    return f"{entry.rank} ({entry.rank_low}–{entry.rank_high})"


def _rating(entry: BoardEntry) -> str:
    if entry.avg_user_rating is None:
        return UNKNOWN
    return f"{entry.avg_user_rating:.1f} of 5 ({entry.feedback_count})"


def _chart(value: float | None, interval: Interval | None, *, is_ranked: bool) -> Html:
    """A dot on its interval, from 0 to 100; the numbers are next to it."""
    if value is None:
        return Html("")
    bar = None
    if interval:
        bar = element("line", x1=interval.low, x2=interval.high, y1=8, y2=8, class_="bar")
    return element(
        "svg",
        element("line", x1=0, x2=100, y1=8, y2=8, class_="track"),
        bar,
        element("circle", cx=value, cy=8, r=4, class_="dot"),
        class_="range" if is_ranked else "range unranked",
        viewBox="-4 0 108 16",
        aria_hidden="true",
    )
