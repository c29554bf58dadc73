"""The scores on the command line."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from factories import write_agent, write_tests

Command = Callable[..., str]


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command `arena` in a home with three small agents."""
    home = tmp_path / "home"
    every_other = (
        "answer.calls = getattr(answer, 'calls', 0) + 1\n"
        "return prompt.upper() if answer.calls % 2 else 'no'"
    )
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    write_agent(home / "agents", "mute", "return 'hm'")
    write_agent(home / "agents", "moody", every_other, limits={"max_concurrency": 1})
    write_tests(home / "benchmarks" / "words.yaml", count=7, agents=["parrot", "mute"])
    write_tests(home / "benchmarks" / "moods.yaml", count=2, agents=["moody"])
    monkeypatch.chdir(tmp_path)

    def call(*words: str, exit_code: int = 0) -> str:
        done = CliRunner().invoke(app, words)
        assert done.exit_code == exit_code, done.output
        return done.output

    return call


def test_from_runs_and_ratings_to_a_leaderboard(arena: Command):
    assert "nothing to rank yet" in arena("leaderboard")
    arena("run", "parrot")
    arena("run", "mute")
    assert "★★★★★ for parrot" in arena("feedback", "parrot", "--rating", "5", "--user", "ann")
    arena("feedback", "parrot@1.0.0", "--rating", "2", "--user", "bob", "--comment", "Too loud.")
    arena("feedback", "parrot", "--rating", "4", "--user", "bob")
    board = json.loads(arena("leaderboard", "--json"))["leaderboard"]
    assert [(e["agent_id"], e["overall_score"], e["feedback_count"]) for e in board] == [
        ("parrot", 95.83, 2),
        ("mute", 33.33, 0),
    ]
    output = arena("leaderboard")
    assert "★ 4.5 (2)" in output
    assert (
        "overall = benchmark 40%, user rating 30%, success rate 20%, cost efficiency 10%" in output
    )
    assert "* provisional" in output
    rows = list(csv.DictReader(io.StringIO(arena("leaderboard", "--csv"))))
    assert [(row["rank"], row["agent_id"], row["overall_score"]) for row in rows] == [
        ("1", "parrot", "95.83"),
        ("2", "mute", "33.33"),
    ]
    assert float(rows[0]["overall_low"]) < 95.83 <= float(rows[0]["overall_high"])
    assert rows[1]["user_rating_score"] == ""
    assert "mute" not in arena("leaderboard", "--min-coverage", "0.7")
    assert "parrot" in arena("leaderboard", "--category", "words")
    assert arena("leaderboard", "--tag", "none") == (
        "nothing to rank with --tag none; without: arena leaderboard\n"
    )
    first = arena("leaderboard", "--limit", "1")
    assert "parrot" in first and "mute" not in first
    (cursor,) = re.findall(r"2 in all; more with: --cursor (\S+)", first)
    rest = arena("leaderboard", "--limit", "1", "--cursor", cursor)
    assert "mute" in rest and "parrot" not in rest and "--cursor" not in rest
    assert "2 recalculated" in arena("scores", "recalculate", "--all")
    assert "parrot@1.0.0" in arena("scores", "recalculate", "parrot")
    assert json.loads(arena("leaderboard", "--json"))["leaderboard"] == board


def test_agents_are_compared_and_the_tests_where_they_differ_are_shown(arena: Command):
    arena("run", "parrot")
    arena("run", "mute")
    output = arena("compare", "parrot@1.0.0", "mute@1.0.0")
    assert "7 tests in common, +100.0 percentage points (" in output
    assert "p = 0.016, significant" in output
    assert "these tests can detect a difference of 88.0 percentage points or more\n" in output
    assert all(f"words_{number:05}" in output for number in range(1, 8))
    assert "parrot@1.0.0 is ahead, and the difference is significant" in output
    assert json.loads(arena("compare", "parrot:1.0.0", "mute:1.0.0", "--json"))["significant"]


@pytest.mark.parametrize("columns", ["80", "160"])
def test_the_leaderboard_fits_the_screen(
    arena: Command, monkeypatch: pytest.MonkeyPatch, columns: str
):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a terminal
    monkeypatch.setenv("TERM", "xterm")
    arena("run", "parrot")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", arena("leaderboard")).splitlines()
    assert max(map(len, lines)) <= int(columns)
    entry = next(line for line in lines if "parrot" in line)
    assert "…" not in "".join(lines)
    assert entry.count("100.00") == 3
    assert "interval" in lines[1]
    assert ("rating" in lines[1]) is (columns == "160")


def test_repeats_are_reported(arena: Command):
    details = json.loads(arena("run", "moody", "--trials", "3", "--json"))
    assert (details["trials"]["k"], details["trials"]["flaky"]) == (
        3,
        ["moods_00001", "moods_00002"],
    )
    assert (details["trials"]["pass_at_k"], details["trials"]["pass_all_k"]) == (1.0, 0.0)
    assert len(details["results"]) == details["count"] == 6
    assert details["results"][0]["pass_at_k"] == 1.0
    again = json.loads(arena("runs", "show", details["run"]["id"], "--json"))
    assert again == details
    output = arena("runs", "show", details["run"]["id"])
    assert "pass@3 100.0 %  pass^3 0.0 %  flaky: moods_00001, moods_00002" in output


@pytest.mark.parametrize("rating", ["0", "6", "4.9", "five", ""])
def test_an_invalid_rating_is_a_usage_error(arena: Command, rating: str):
    arena("feedback", "parrot", "--rating", rating, exit_code=2)
    assert "nothing to rank yet" in arena("leaderboard")
