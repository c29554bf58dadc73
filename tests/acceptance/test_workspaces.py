"""A coding agent edits a small repository and is judged by hidden tests, as a user runs it."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from acceptance.conftest import Shell
from conftest import missing
from drills import until

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/coding-agent"


@pytest.fixture(autouse=True)
def isolation() -> None:
    if shutil.which("bwrap") is None:
        missing("bubblewrap")


def run(shell: Shell, agent: str) -> Any:
    folders = ("--agents", str(EXAMPLE), "--tests", str(EXAMPLE / "tests"), "--suite", "repair")
    shell.arena("run", agent, *folders)
    return shell.json("runs", "show", "latest")["results"][0]


def test_a_coding_agent_passes_the_hidden_tests_and_its_record_holds(shell: Shell) -> None:
    result = run(shell, "coding-agent")
    assert (result["passed"], result["score"]) == (True, 100), result["failure_reason"]
    assert result["workspace"]["changes"] == [{"path": "shop/prices.py", "kind": "changed"}]
    assert "+    return price * (100 - discount_percent) / 100" in result["workspace"]["diff"]
    assert result["workspace"]["is_protected"] is False
    assert "the visible tests pass" in result["actual_output"]["output"]
    checked = shell.arena("verify", result["verdict_cid"])
    assert checked.returncode == 0 and checked.stdout.startswith("holds: 100"), checked.stdout


def test_an_agent_that_changes_the_visible_tests_fails_and_the_files_are_named(
    shell: Shell,
) -> None:
    result = run(shell, "lazy-agent")
    assert (result["passed"], result["score"]) == (False, 0)
    assert "collateral damage" in result["failure_reason"]
    assert "tests/test_prices.py" in result["failure_reason"]
    printed = shell.arena("runs", "show", "latest").stdout
    assert "files of repair_discount: changed tests/test_prices.py, conftest.py" in printed
    assert "unprotected" in printed


def test_what_a_killed_arena_left_behind_is_cleared_by_the_next_trial(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    agent = tmp_path / "agents"
    agent.mkdir()
    (agent / "slow.yaml").write_text(
        "id: slow\nconnector: {type: command, command: '{python} slow.py'}\n"
    )
    (agent / "slow.py").write_text(
        "import os, subprocess, sys\n"
        "sleeper = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        f"with open({str(tmp_path / 'new')!r}, 'w') as file:\n"
        "    file.write(f'{os.getpid()} {sleeper.pid}')\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(tmp_path / 'started')!r})\n"
        "sleeper.wait()\n"
    )
    tests = ("--tests", str(EXAMPLE / "tests"), "--suite", "repair")
    with shell.start("run", "slow", "--agents", str(agent), *tests) as process:
        until((tmp_path / "started").exists, "the agent starts")
        process.kill()
    left = [int(word) for word in (tmp_path / "started").read_text().split()]
    (folder,) = temporary.glob("arena-workspace-*")
    assert all(is_running(pid) for pid in left)
    with shell.start("run", "coding-agent", "--agents", str(EXAMPLE), *tests) as process:
        assert process.wait(60) == 0
    assert not folder.exists()
    assert not any(is_running(pid) for pid in left)


def is_running(pid: int) -> bool:
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] != "Z"
    return False


def test_a_test_with_files_is_refused_for_an_agent_that_cannot_get_them(
    shell: Shell, tmp_path: Path
) -> None:
    model = tmp_path / "model.yaml"
    model.write_text(
        "id: model\nconnector: {type: openai, base_url: 'http://127.0.0.1:9/v1', model: m}\n"
    )
    tests = str(EXAMPLE / "tests")
    done = shell.arena(
        "run", "model", "--agents", str(model), "--tests", tests, "--suite", "repair"
    )
    assert done.returncode == 2
    assert "'repair_discount' gives the agent a workspace" in done.stderr


def test_lint_reports_faults_in_files_at_their_lines(shell: Shell, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(
        """tests:
  - id: a
    name: A
    prompt: Do it
    workspace:
      files: missing
      collect: ["../x"]
    validation: verify
    expected:
      command: "true"
      hidden: {"../b": ""}
  - id: b
    name: B
    prompt: Do it
    validation: verify
    expected: {command: "true", score: junit}
"""
    )
    done = shell.arena("tests", "lint", str(bad))
    assert done.returncode == 1
    for line in (
        "bad.yaml:6:14: workspace.files: there is no folder 'missing' beside the test file",
        "bad.yaml:7:17: workspace.collect[0]: leads out of the folder",
        "bad.yaml:11:",
        "bad.yaml:15:17: validation: verify judges the files of a workspace",
        "score: junit needs a report",
    ):
        assert line in done.stdout + done.stderr, done.stdout + done.stderr
