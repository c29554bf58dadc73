"""Projects: each has its own tests, agents and data, also beside others with the same ids."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from acceptance.conftest import Shell

TEST = """category: {place}
tests:
  - id: shared_id
    name: Of {place}
    prompt: "Where?"
    expected: {{contains: ["{place}"]}}
"""
AGENT = """id: shared-agent
connector: {{type: command, command: "echo I am in {place}"}}
"""


@pytest.fixture
def user(tmp_path: Path) -> Shell:
    """A user who has not set ARENA_HOME, with a home of their own."""
    home = {"HOME": str(tmp_path / "user"), "XDG_DATA_HOME": ""}
    return Shell(home=tmp_path, variables={"ARENA_HOME": "", **home})


def home_of(shell: Shell) -> Path:
    return Path(shell.variables["HOME"]) / ".local" / "share" / "arena"


def write(place: str, tests: Path, agents: Path) -> None:
    """A test that only the agent of the same place passes, both with ids that others have too."""
    for folder, text in ((tests, TEST), (agents, AGENT)):
        folder.mkdir(parents=True)
        (folder / "shared.yaml").write_text(text.format(place=place))


def a_project(root: Path, name: str) -> Path:
    write(name, root / "tests", root / "agents")
    (root / "arena.toml").write_text(f'[project]\nname = "{name}"\nbuiltin = false\n')
    return root


def ran(shell: Shell, folder: Path, *words: str) -> Any:
    """The only result of a run in a folder."""
    done = shell.arena("run", "shared-agent", *words, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (result,) = document["results"]
    return result


def test_each_of_two_projects_with_equal_ids_and_a_copy_in_the_home_uses_its_own_file(
    user: Shell, tmp_path: Path
):
    one, two = (a_project(tmp_path / name, name) for name in ("one", "two"))
    write("home", home_of(user) / "benchmarks", home_of(user) / "agents")
    (one / "deeper").mkdir()
    for folder, place in ((one, "one"), (one / "deeper", "one"), (two, "two")):
        result = ran(user, folder)
        assert (result["category"], result["passed"]) == (place, True)
    for root, count in ((one, 2), (two, 1)):
        listed = user.arena("runs", "list", "--json", cwd=root)
        assert json.loads(listed.stdout)["count"] == count
        printed = user.arena("run", "shared-agent", "--fail-under", "100", cwd=root)
        assert printed.returncode == 0
        assert f"project {root.name} ({root / 'arena.toml'}), suite {root.name}: " in printed.stdout
        assert str(root / "tests" / "shared.yaml") in printed.stdout
        assert "taken" not in printed.stderr
    assert ran(user, tmp_path, "--test", "shared_id")["category"] == "home"
    assert not (tmp_path / ".arena").exists()


def test_a_copy_in_the_home_that_is_set_is_reported_and_not_used(user: Shell, tmp_path: Path):
    one, home = a_project(tmp_path / "one", "one"), tmp_path / "set"
    write("home", home / "benchmarks", home / "agents")
    shell = Shell(home=home)
    done = shell.arena("run", "shared-agent", "--fail-under", "100", cwd=one)
    assert done.returncode == 0, done.stderr
    for copy, own in (("benchmarks", "tests"), ("agents", "agents")):
        assert f"{home / copy / 'shared.yaml'}:" in done.stderr
        assert f"{one / own / 'shared.yaml'}:" in done.stderr
    assert (home / "arena.db").exists()
    assert not (one / ".arena").exists()


def test_a_named_file_is_used_rather_than_a_copy_in_the_home(tmp_path: Path):
    shell = Shell(home=tmp_path / "home")
    write("home", shell.home / "benchmarks", shell.home / "agents")
    write("named", tmp_path / "tests", tmp_path / "agents")
    words = ("--tests", "tests", "--agents", "agents", "--test", "shared_id")
    result = ran(shell, tmp_path, *words, "--fail-under", "100")
    assert (result["category"], result["passed"]) == ("named", True)


def test_a_project_without_the_bundled_tests_and_agents_has_only_its_own(
    user: Shell, tmp_path: Path
):
    root = a_project(tmp_path / "one", "one")

    def listed(what: str) -> list[str]:
        done = user.arena(what, "list", "--json", cwd=root)
        return [one.get("test_id") or one["id"] for one in json.loads(done.stdout)[what]]

    assert (listed("agents"), listed("tests")) == (["shared-agent"], ["shared_id"])
    audited = user.arena("tests", "audit", cwd=root)
    assert "of 1 tests can be passed without doing anything" in audited.stdout
    (root / "arena.toml").write_text('[project]\nname = "one"\n')
    assert len(listed("agents")) == 6
    assert {"shared_id", "bench_ana_001"} <= set(listed("tests"))


def test_a_gated_run_refuses_a_project_with_a_bad_test_file(user: Shell, tmp_path: Path):
    root = a_project(tmp_path / "one", "one")
    (root / "tests" / "bad.yaml").write_text("category: one\ntests: 1\n")
    assert user.arena("run", "shared-agent", cwd=root).returncode == 0
    gated = user.arena("run", "shared-agent", "--fail-under", "1", cwd=root)
    assert (gated.returncode, "bad.yaml has problems" in gated.stderr) == (2, True)


def test_a_server_in_a_project_serves_its_tests_without_showing_where_they_are(
    user: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = a_project(tmp_path / "one", "one")
    (root / "tests" / "bad.yaml").write_text("category: one\ntests: 1\n")
    monkeypatch.chdir(root)  # of the server
    with user.serving() as client:
        catalog = client.get("/api/benchmarks/catalog").json()
        assert catalog["tests"] == 1
        assert {source["file"] for source in catalog["sources"]} == {
            "tests/bad.yaml",
            "tests/shared.yaml",
        }
        assert str(tmp_path) not in json.dumps(catalog)
        (agent,) = client.get("/api/agents").json()["agents"]
        assert (agent["id"], agent["applicable_tests"]) == ("shared-agent", 1)


def test_a_project_of_another_user_is_not_used_and_this_is_said(user: Shell, tmp_path: Path):
    if os.geteuid() != 0:
        pytest.skip("only root can create a file of another user")
    root = a_project(tmp_path / "one", "one")
    os.chown(root / "arena.toml", 12345, 12345)
    done = user.arena("agents", "list", "--json", cwd=root)
    assert done.returncode == 0
    assert "shared-agent" not in {one["id"] for one in json.loads(done.stdout)["agents"]}
    assert f"{root / 'arena.toml'} is not used: it belongs to another user" in done.stderr


@pytest.mark.parametrize("folder", [".", "new", "a folder/new"])
def test_the_commands_that_a_new_project_proposes_work(user: Shell, tmp_path: Path, folder: str):
    if shutil.which("bash") is None:
        pytest.skip("bash is missing")
    start = tmp_path / "start"
    start.mkdir()
    done = user.arena("init", folder, cwd=start)
    assert done.returncode == 0, done.stderr
    proposed = [line.strip() for line in done.stdout.partition("Next:\n")[2].splitlines()]
    commands = [line for line in proposed if line.startswith("arena ")]
    assert len(commands) == 3
    assert len(proposed) == 3 + (folder != ".")
    # The command as it is installed.
    script = f'arena() {{ "{sys.executable}" -m arena "$@"; }}\n' + "\n".join(proposed)
    typed = subprocess.run(
        ["bash", "-euc", script],
        cwd=start,
        env=user.environment,
        capture_output=True,
        text=True,
    )
    assert typed.returncode == 0, typed.stderr
    assert "2 of 3 passed" in typed.stdout
    assert (start / folder / ".arena" / "arena.db").exists()
    assert not home_of(user).exists()
    again = user.arena("init", folder, cwd=start)
    assert (again.returncode, "these exist" in again.stderr) == (2, True)
