"""Suites and their boards, with the commands and the API that a user has."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from acceptance.conftest import Shell
from factories import write_agent, write_tests

TOKEN = "a-long-enough-token"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A user with two versions of an agent, and five tests of their own."""
    home = tmp_path / "home"
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    newer = (home / "agents" / "parrot.yaml").read_text().replace("1.0.0", "1.1.0")
    (home / "agents" / "parrot-1.1.0.yaml").write_text(newer)
    write_tests(home / "benchmarks" / "words.yaml", count=5, agents=["parrot"])
    return Shell(home=home)


def edit(shell: Shell) -> None:
    """Edit one test so that the agent fails it."""
    file = shell.home / "benchmarks" / "words.yaml"
    file.write_text(file.read_text().replace("WORD2", "word two"))


def board(shell: Shell, *words: str) -> list[tuple[str, int | None, float | None]]:
    entries = shell.json("leaderboard", *words)["leaderboard"]
    return [(one["agent_version"], one["rank"], one["benchmark_score"]) for one in entries]


def test_editing_a_test_makes_a_new_version_with_a_board_of_its_own(shell: Shell):
    assert shell.arena("run", "parrot@1.0.0").returncode == 0
    (before,) = shell.json("suites", "show", "custom")["versions"]
    edit(shell)
    done = shell.arena("run", "parrot@1.1.0")
    assert "suite custom" in done.stdout
    assert board(shell) == [("1.1.0", 1, 80.0), ("1.0.0", None, None)]
    assert board(shell, "--version", before["version"][:6])[0] == ("1.0.0", 1, 100.0)
    shown = shell.arena("leaderboard").stdout
    assert "parrot 1.0.0: not ranked, no complete run of this version of the suite" in shown
    diff = shell.arena("suites", "diff", "custom", before["version"][:6])
    assert "4 tests are the same" in diff.stdout
    assert "~ words_00002 (expected)" in diff.stdout
    log = shell.arena("leaderboard", "--log").stdout
    assert "tests edited" in log and "1 edited (words_00002)" in " ".join(log.split())


def test_the_board_of_a_past_moment_is_the_one_that_was_shown(shell: Shell):
    shell.arena("run", "parrot@1.0.0")
    then, moment = board(shell), datetime.now(UTC)
    shell.arena("run", "parrot@1.1.0")
    shell.arena("feedback", "parrot@1.0.0", "--rating", "1")
    assert board(shell) != then
    assert board(shell, "--at", moment.isoformat()) == then
    assert board(shell, "--at", "2001-01-01") == []
    title = shell.arena("leaderboard", "--at", str(moment)).stdout.splitlines()[0]
    assert f", as of {moment:%Y-%m-%d %H:%M}" in title and title.endswith(" UTC")


def test_a_run_with_other_tests_goes_to_another_board(shell: Shell, tmp_path: Path):
    shell.arena("run", "parrot@1.0.0")
    before = board(shell)
    other = write_tests(tmp_path / "elsewhere" / "tests" / "more.yaml", count=2)
    done = shell.arena("run", "parrot@1.0.0", "--tests", str(other.parent))
    assert f"suite elsewhere: {other}" in done.stdout
    assert board(shell) == before
    assert board(shell, "--suite", "elsewhere") == [("1.0.0", 1, 100.0)]
    listed = shell.json("suites", "list")["suites"]
    defaults = {row["suite"]: row["is_default"] for row in listed}
    assert defaults == {"lab": False, "custom": True, "elsewhere": False}
    assert shell.arena("suites", "default", "elsewhere").returncode == 0
    assert board(shell) == [("1.0.0", 1, 100.0)]


def test_files_added_to_a_suite_make_a_run_partial(shell: Shell, tmp_path: Path):
    shell.arena("run", "parrot@1.0.0")
    more = write_tests(tmp_path / "x" / "more.yaml", count=2)
    more.write_text("suite: custom\n" + more.read_text())
    done = shell.arena("run", "parrot@1.0.0", "--tests", str(more))
    assert "partial: does not count for the leaderboard" in done.stdout
    assert board(shell) == [("1.0.0", 1, 100.0)]


def test_a_file_with_problems_makes_runs_partial_until_it_is_fixed(shell: Shell):
    more = write_tests(shell.home / "benchmarks" / "more.yaml", count=3, agents=["parrot"])
    shell.arena("run", "parrot@1.0.0")
    text = more.read_text()
    more.write_text(text + "  - id: [")
    done = shell.arena("run", "parrot@1.1.0")
    assert "partial: does not count for the leaderboard" in done.stdout
    assert [(version, rank) for version, rank, _ in board(shell)] == [("1.0.0", 1), ("1.1.0", None)]
    more.write_text(text)
    shell.arena("run", "parrot@1.1.0")
    assert [(version, rank) for version, rank, _ in board(shell)] == [("1.0.0", 1), ("1.1.0", 1)]


def test_a_file_that_changes_while_a_run_waits_is_noticed(shell: Shell):
    agent = shell.home / "agents" / "parrot.yaml"
    with shell.serving() as client:
        body = {"agent_id": "parrot", "version": "1.0.0"}
        created = client.post("/api/benchmarks/run", json=body).json()
        text = agent.read_text()
        agent.write_text(text + "# edited\n")
        client.post(f"/api/benchmarks/run/{created['run_id']}/execute")
        agent.write_text(text)
        again = client.post("/api/benchmarks/run", json=body).json()
        client.post(f"/api/benchmarks/run/{again['run_id']}/execute")
        (entry,) = client.get("/api/benchmarks/leaderboard").json()["leaderboard"]
    assert (entry["runs"], entry["is_other_file"]) == (2, True)


def test_what_is_archived_is_hidden_and_counted_and_what_is_deleted_leaves_a_mark(shell: Shell):
    shell.arena("run", "parrot@1.0.0")
    shell.arena("run", "parrot@1.1.0")
    done = shell.arena("archive", "add", "--agent", "parrot@1.0.0", "--reason", "superseded")
    assert done.returncode == 0, done.stderr
    assert board(shell) == [("1.1.0", 1, 100.0)]
    assert "1 archived" in shell.arena("leaderboard").stdout
    assert len(board(shell, "--archived")) == 2
    assert "parrot 1.0.0: archived\n" in shell.arena("leaderboard", "--archived").stdout
    gone = shell.arena("archive", "delete", "--run", "latest", "--reason", "wrong key", "--yes")
    assert gone.returncode == 0, gone.stderr
    marks = shell.json("archive", "list")["marks"]
    assert [(one["is_deleted"], one["reason"]) for one in marks] == [
        (True, "wrong key"),
        (False, "superseded"),
    ]
    assert len(shell.json("runs", "list")["runs"]) == 1
    words = ("archive", "add", "--run", "latest", "--reason", "old", "--by", "ann")
    run_id = shell.json("runs", "list")["runs"][0]["id"]
    assert shell.arena(*words).returncode == 0
    assert shell.json("archive", "list")["marks"][0]["by"] == "ann"
    assert "completed  archived  5 of 5 passed" in shell.arena("runs", "show", run_id).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("leaderboard", "--suite", "nowhere"), "nowhere"),
        (("leaderboard", "--version", "123"), "123"),
        (("suites", "show", "custm"), "custom"),
        (("suites", "diff", "custom", "ffff"), "ffff"),
        (("suites", "default", "lab"), "lab"),
        (("run", "parrot", "--suite", "custm"), "custom"),
        (("run", "parrot", "--suite", "lab", "--test", "words_00001"), "of the suite 'custom'"),
        (("leaderboard", "--at", "2020-01-01", "--suite", "nowhere"), "nowhere"),
        (("leaderboard", "--at", "2999-01-01"), "2999-01-01 is in the future"),
        (
            ("leaderboard", "--at", "yesterday"),
            "'yesterday' is not a date: write 2026-11-18, 2026-11-18T12:00 or "
            "2026-11-18T12:00+01:00",
        ),
        (("leaderboard", "--log", "--suite", "nowhere"), "no suite is called 'nowhere'"),
        (("leaderboard", "--log", "--csv"), "--log cannot be combined with --csv"),
        (("leaderboard", "--log", "--at", "2020-01-01"), "--log cannot be combined with --at"),
        (("leaderboard", "--log", "--version", "1"), "--log cannot be combined with --version"),
        (("leaderboard", "--log", "--archived"), "--log cannot be combined with --archived"),
        (("leaderboard", "--log", "--tag", "x"), "--log cannot be combined with --tag"),
        (("suites", "show", "nothing-like-it"), "known: custom, lab\n"),
        (("suites", "reported"), "--rank or --no-rank"),
        (("archive", "add", "--reason", "x"), "--run RUN or --agent"),
        (("archive", "add", "--agent", "parrot", "--reason", "x"), "parrot@1.0.0"),
        (("archive", "add", "--agent", "parrot@9.9.9", "--reason", "x"), "9.9.9"),
        (("archive", "restore", "--agent", "parrot@1.0.0", "--reason", "x"), "not archived"),
        (("archive", "add", "--agent", "parrot@1.0.0", "--reason", " "), "blank"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_is_wrong(
    shell: Shell, words: tuple[str, ...], message: str
):
    shell.arena("run", "parrot@1.0.0")
    done = shell.arena(*words)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert re.fullmatch(r"error: [^\n]*\n", done.stderr), done.stderr


def test_a_team_with_a_token_archives_and_only_the_operator_deletes(tmp_path: Path, shell: Shell):
    shell.arena("--team", "red", "run", "parrot@1.0.0")
    run_id = shell.json("--team", "red", "runs", "list")["runs"][0]["id"]
    serving = Shell(home=shell.home, variables={"ARENA_TOKENS": f"red:{TOKEN}"})
    body = {"reason": "noise", "by": "ann"}
    with serving.serving() as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        path = f"/api/benchmarks/runs/{run_id}"
        assert client.post(f"{path}/archive", json=body).status_code == 200
        assert client.get("/api/benchmarks/runs").json()["runs"] == []
        refused = client.post(f"{path}/delete", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert client.post("/api/agents/parrot/1.0.0/delete", json=body).status_code == 403
        shown = client.get("/api/benchmarks/leaderboard", params={"suite": "custom"}).json()
        assert shown["leaderboard"][0]["benchmark_score"] == 100.0
        log = client.get("/api/benchmarks/leaderboard/log").json()["events"]
        assert [one["kind"] for one in log] == ["archived", "run_completed"]
