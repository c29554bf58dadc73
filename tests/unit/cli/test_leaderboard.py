"""The table of the leaderboard: what a narrow screen does without."""

import re
from datetime import UTC, datetime

import pytest

from arena.cli.leaderboard import past_moment, print_board
from arena.errors import InvalidInput
from arena.scoring.board import BoardEntry, Intervals, Leaderboard, Provenance
from arena.scoring.intervals import Interval
from arena.scoring.scorecard import DEFAULT_WEIGHTS


def an_entry(**changes: object) -> BoardEntry:
    values: dict[str, object] = {
        "rank": 2,
        "rank_low": 1,
        "rank_high": 4,
        "agent_id": "monitoring-manager",
        "agent_version": "1.0.0",
        "overall_score": 95.24,
        "benchmark_score": 91.67,
        "user_rating_score": 75.0,
        "success_rate_score": 100.0,
        "cost_efficiency_score": 99.34,
        "avg_user_rating": 4.0,
        "coverage": 1.0,
        "provisional": False,
        "feedback_count": 1,
        "execution_count": 12,
        "benchmark_run_id": None,
        "intervals": Intervals(
            overall=None,
            benchmark=Interval(low=64.6, high=98.5, method="wilson", confidence=0.95),
            user_rating=None,
            success_rate=None,
            cost_efficiency=None,
        ),
        "tests": 12,
        "suite_tests": 17,
        "runs": 3,
        "runs_lowest": 66.7,
        "runs_highest": 91.7,
        "provenance": Provenance.RUN_HERE,
        **changes,
    }
    return BoardEntry(**values)  # pyright: ignore[reportArgumentType]


def shown(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    **changes: object,
) -> list[str]:
    """The lines of a board with one entry, on a screen of this width."""
    environment = {"TTY_COMPATIBLE": "1", "COLUMNS": str(width), "NO_COLOR": "1", "TERM": "xterm"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    board = Leaderboard(
        leaderboard=[an_entry(**changes)],
        count=1,
        total=1,
        weights=DEFAULT_WEIGHTS,
        suite="lab",
        suite_version="a" * 64,
        suite_tests=17,
        at=datetime(2026, 11, 18, 12, tzinfo=UTC),
    )
    print_board(board, "")
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()


@pytest.mark.parametrize(
    ("width", "missing"),
    [
        (200, set[str]()),
        (140, {"█"}),
        (120, {"█", "cost eff."}),
        (110, {"█", "cost eff.", "★"}),
        (80, {"█", "cost eff.", "★", "version", "latest of"}),
    ],
)
def test_the_bar_goes_first_and_the_interval_never(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    missing: set[str],
):
    title, *lines = shown(capsys, monkeypatch, width)
    assert title == "suite lab aaaaaaaaaaaa (17 tests), as of 2026-11-18 12:00 UTC"
    assert max(map(len, lines)) <= width
    table = "\n".join(lines[:2])
    droppable = {"█", "cost eff.", "★", "version", "latest of"}
    assert {word for word in droppable if word not in table} == missing
    for word in ("2 (1–4)", "64.6–98.5", "12/17", "runs", "benchmark", "overall", "success"):
        assert word in table


def test_a_claim_and_an_archived_row_are_marked_whatever_else_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    lines = shown(
        capsys,
        monkeypatch,
        200,
        rank=None,
        unranked_because="its run covers 3 of 17 tests, fewer than half",
        provenance=Provenance.REPORTED,
        is_archived=True,
    )
    assert [
        line.partition(": ")[2] for line in lines if line.startswith("monitoring-manager 1")
    ] == [
        "not ranked, its run covers 3 of 17 tests, fewer than half",
        "reported from elsewhere, a claim",
        "archived",
    ]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-18", datetime(2026, 1, 18, tzinfo=UTC)),
        ("2026-01-18T12:00", datetime(2026, 1, 18, 12, tzinfo=UTC)),
        ("2026-01-18 12:00", datetime(2026, 1, 18, 12, tzinfo=UTC)),
        ("2026-01-18T12:00:30.5Z", datetime(2026, 1, 18, 12, 0, 30, 500_000, tzinfo=UTC)),
        ("2026-01-18T12:00+01:00", datetime(2026, 1, 18, 11, tzinfo=UTC)),
    ],
)
def test_a_moment_may_be_written_in_several_ways(text: str, moment: datetime):
    assert past_moment(text) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-01-18T25:00", "2026"])
def test_what_is_not_a_date_is_refused_with_examples(text: str):
    with pytest.raises(InvalidInput, match="is not a date: write 2026-11-18, 2026-11-18T12:00 or"):
        past_moment(text)


def test_a_moment_in_the_future_is_refused():
    with pytest.raises(InvalidInput, match="is in the future"):
        past_moment("9999-12-31T23:59:59-14:00")
