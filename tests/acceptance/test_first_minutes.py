"""What a newcomer types first: agents, runs and data are found as one would expect."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from acceptance.conftest import Shell

TEAM, TOKEN = "web", "a-token-of-the-team-web"


def a_project(folder: Path, version: str = "1.0.0") -> tuple[str, str]:
    """The files of an agent that knows one capital of two, and of its tests."""
    folder.mkdir(exist_ok=True)
    agent, tests = folder / f"capitals-{version}.yaml", folder / "tests.yaml"
    connector = {"type": "command", "command": "echo Paris"}
    agent.write_text(json.dumps({"id": "capitals", "version": version, "connector": connector}))
    cases = [
        {"id": f"capital_{name}", "name": name, "prompt": f"Of {name}?", "expected": expected}
        for name, expected in (
            ("france", {"contains": ["Paris"]}),
            ("italy", {"contains": ["Rome"]}),
        )
    ]
    tests.write_text(json.dumps({"category": "capitals", "tests": cases}))
    return str(agent), str(tests)


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shell, list[Any]]:
    """A home with runs of an agent that is named by files and of a bundled one, newest first."""
    folder = tmp_path_factory.mktemp("first")
    shell = Shell(home=folder / "home")
    for version in ("1.0.0", "1.1.0"):
        agent, tests = a_project(folder / version, version)
        words = ("run", "capitals", "--agents", agent, "--tests", tests)
        assert shell.arena(*words).returncode == 0
    assert shell.arena("run", "monitoring-manager").returncode == 0
    return shell, shell.json("runs", "list")["runs"]


def test_a_missed_gate_says_why(shell: Shell, tmp_path: Path):
    agent, tests = a_project(tmp_path / "project")
    words = ("run", "capitals", "--agents", agent, "--tests", tests, "--fail-under")
    missed = shell.arena(*words, "80")
    assert missed.returncode == 1
    assert "--fail-under 80 missed: the score 50.0 % is below 80 %" in missed.stdout
    printed = shell.arena(*words, "80", "--json")
    assert printed.returncode == 1
    document = json.loads(printed.stdout)
    assert len(document["results"]) == 2
    assert document["gate"] == {
        "passed": False,
        "minimum": 80,
        "score": 50.0,
        "reason": (reason := "missed: the score 50.0 % is below 80 %"),
        "quarantined": 0,
        "parts": [{"option": "--fail-under 80", "passed": False, "reason": reason}],
    }
    met = shell.arena(*words, "50", "--json")
    assert (met.returncode, json.loads(met.stdout)["gate"]["passed"]) == (0, True)
    assert "gate" not in shell.json("runs", "show", "latest")


SLOW_FIRST = """
import json, pathlib, sys, time
trial = json.load(sys.stdin)["id"].rpartition(":")[2]
while trial == "1" and not pathlib.Path("3").exists():
    time.sleep(0.01)
pathlib.Path(trial).touch()
print("Paris")
"""


def test_trials_of_a_test_are_printed_side_by_side(shell: Shell, tmp_path: Path):
    agent, tests = a_project(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW_FIRST)
    connector = {"type": "command", "command": "{python} slow.py"}
    Path(agent).write_text(json.dumps({"id": "capitals", "connector": connector}))
    done = shell.arena("run", "capitals", "--agents", agent, "--tests", tests, "--trials", "3")
    rows = [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("capital_")]
    assert sorted(rows) in (rows, rows[3:] + rows[:3]), done.stdout


def test_a_run_is_named_by_the_beginning_of_its_id_or_as_latest(used: tuple[Shell, list[Any]]):
    shell, runs = used
    for run in runs:
        for name in (run["id"], run["id"][:8], run["id"][:13].upper(), run["id"][:20]):
            assert shell.json("runs", "show", name)["run"]["id"] == run["id"]
    assert shell.json("runs", "show", "latest")["run"]["id"] == runs[0]["id"]
    with shell.serving() as client:
        server = ("--server", str(client.base_url))
        for name in (runs[1]["id"][:6], runs[1]["id"]):
            shown = shell.json(*server, "runs", "show", name)
            assert shown["run"]["id"] == runs[1]["id"]
        assert shell.json(*server, "runs", "show", "latest")["run"]["id"] == runs[0]["id"]


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "show"),
        ("runs", "resume"),
        ("runs", "cancel"),
        ("report", "--html", "page"),
        ("review", "--list", "--run"),
    ],
    ids=" ".join,
)
def test_every_command_that_takes_a_run_finds_it_by_its_beginning(
    used: tuple[Shell, list[Any]], words: tuple[str, ...], tmp_path: Path
):
    shell, runs = used
    for name in ("latest", runs[0]["id"][:8]):
        done = shell.arena(*words, name, cwd=tmp_path)
        # A completed run can be neither resumed nor cancelled, and its id is in the error.
        assert done.returncode == 0 or runs[0]["id"] in done.stderr, done.stderr
    absent = shell.arena(*words, "00000000", cwd=tmp_path)
    assert absent.returncode == 2
    assert "no run whose id begins with '00000000'" in absent.stderr
    short = shell.arena(*words, runs[0]["id"][:3], cwd=tmp_path)
    assert (short.returncode, "at least 4" in short.stderr) == (2, True)


def test_latest_without_a_run_is_an_error_that_says_what_to_do(shell: Shell):
    done = shell.arena("runs", "show", "latest")
    assert (done.returncode, done.stdout) == (2, "")
    assert "arena run AGENT" in done.stderr


def test_a_comparison_with_an_unknown_version_is_an_error_that_lists_the_known_ones(
    used: tuple[Shell, list[Any]],
):
    shell, _ = used
    done = shell.arena("compare", "capitals@1.0.0", "capitals@2.0.0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "capitals has no results of version 2.0.0" in done.stderr
    assert "1.0.0" in done.stderr.partition("results of:")[2]
    assert "1.1.0" in done.stderr.partition("results of:")[2]
    done = shell.arena("compare", "capitals@1.0.0", "capitols@1.0.0", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean 'capitals'?" in done.stderr


def test_a_version_is_written_with_an_at_sign_everywhere_and_a_colon_still_counts(
    used: tuple[Shell, list[Any]], tmp_path: Path
):
    shell, _ = used
    with_at = shell.json("compare", "capitals@1.0.0", "capitals@1.1.0")
    assert with_at == shell.json("compare", "capitals:1.0.0", "capitals:1.1.0")
    assert with_at["unknown"] == []
    shown = shell.arena("compare", "capitals@1.0.0", "capitals@1.1.0").stdout
    assert "capitals@1.0.0 against capitals@1.1.0" in shown
    agent, _ = a_project(tmp_path / "project")
    for name in ("capitals@1.0.0", "capitals:1.0.0"):
        assert shell.json("agents", "show", name, "--agents", agent)["version"] == "1.0.0"
        assert shell.arena("feedback", name, "--rating", "4").returncode == 0


def test_a_token_works_for_its_own_team_without_naming_it(tmp_path: Path):
    host = Shell(home=tmp_path / "home", variables={"ARENA_TOKENS": f"{TEAM}:{TOKEN}"})
    with host.serving() as client:
        variables = {"ARENA_SERVER": str(client.base_url), "ARENA_TOKEN": TOKEN}
        user = Shell(home=tmp_path / "user", variables=variables)
        assert user.arena("run", "monitoring-manager").returncode == 0
        (run,) = user.json("runs", "list")["runs"]
        assert run["team_id"] == TEAM
        assert user.json("--team", TEAM, "runs", "list")["count"] == 1
        page = tmp_path / "page"
        assert user.arena("report", "--leaderboard", "--html", str(page)).returncode == 0
        assert f"team {TEAM}" in (page / "index.html").read_text().lower()
        other = user.arena("--team", "other", "runs", "list")
        assert (other.returncode, "'other'" in other.stderr) == (2, True)
        stranger = Shell(home=tmp_path / "user", variables={"ARENA_SERVER": str(client.base_url)})
        refused = stranger.arena("runs", "list")
        assert (refused.returncode, "ARENA_TOKEN" in refused.stderr) == (2, True)


def test_a_single_file_is_taken_wherever_a_folder_is(shell: Shell, tmp_path: Path):
    agent, tests = a_project(tmp_path / "project")
    listed = shell.json("tests", "list", "--tests", tests, "--category", "capitals")
    assert listed["count"] == 2
    assert (
        shell.json("tests", "show", "capital_italy", "--tests", tests)["test_id"] == "capital_italy"
    )
    assert shell.arena("tests", "audit", "--tests", tests).returncode == 0
    found = shell.json("agents", "list", "--agents", agent)["agents"]
    assert "capitals" in {one["id"] for one in found}
    assert shell.arena("agents", "check", "capitals", "--agents", agent).returncode == 0
    gated = ("run", "capitals", "--agents", agent, "--tests", tests, "--fail-under", "50")
    assert shell.arena(*gated).returncode == 0
    Path(tests).write_text("category: capitals\ntests: 1\n")
    refused = shell.arena(*gated)
    assert (refused.returncode, "has problems" in refused.stderr) == (2, True)
    absent = shell.arena("run", "capitals", "--tests", str(tmp_path / "absent"))
    assert (absent.returncode, "there is no file or folder" in absent.stderr) == (2, True)


def bare(folder: Path, home: Path) -> Shell:
    """A user who has not set ARENA_HOME."""
    return Shell(home=folder, variables={"ARENA_HOME": "", "HOME": str(home), "XDG_DATA_HOME": ""})


def test_the_data_of_a_folder_are_those_of_its_dot_arena(tmp_path: Path):
    project, user = tmp_path / "project", tmp_path / "user"
    (project / ".arena").mkdir(parents=True)
    (project / "deeper").mkdir()
    shell = bare(tmp_path, user)
    for folder in (project, project / "deeper"):
        printed = shell.arena("leaderboard", cwd=folder).stdout
        assert f"in {project / '.arena'};" in printed
    assert (project / ".arena" / "arena.db").exists()
    outside = shell.arena("runs", "list", cwd=tmp_path).stdout
    assert f"in {user / '.local' / 'share' / 'arena'};" in outside
    named = Shell(home=tmp_path / "named")
    assert f"in {tmp_path / 'named'};" in named.arena("leaderboard", cwd=project).stdout


@pytest.mark.parametrize("is_link", [False, True], ids=["folder", "link"])
def test_a_dot_arena_of_another_user_is_not_used_and_this_is_said(tmp_path: Path, is_link: bool):
    if os.geteuid() != 0:
        pytest.skip("only root can create a folder of another user")
    foreign = tmp_path / ".arena"
    if is_link:
        (tmp_path / "own").mkdir()
        foreign.symlink_to(tmp_path / "own")
    else:
        (foreign / "agents").mkdir(parents=True)
        a_project(foreign / "agents")
    os.chown(foreign, 12345, 12345, follow_symlinks=False)
    done = bare(tmp_path, tmp_path / "user").arena("agents", "list", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "capitals" not in {one["id"] for one in json.loads(done.stdout)["agents"]}
    assert f"{foreign} is not used: it belongs to another user" in done.stderr
