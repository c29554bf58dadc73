"""A coding agent edits a small repository and is judged by hidden tests, as a user runs it."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from acceptance.conftest import Shell
from conftest import missing

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
