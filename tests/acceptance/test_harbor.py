"""A Harbor task folder is audited and run as it is, and its result becomes a test of its own."""

import json
from pathlib import Path

import pytest

from acceptance.conftest import Shell

EXAMPLE = Path(__file__).parents[2] / "examples/harbor"
COUNTER = """
import collections, json, re, sys

words = re.findall(r"[a-z']+", open("speech.txt").read().lower())
json.dump(collections.Counter(words) if "right" in sys.argv else {}, open("counts.json", "w"))
print("done")
"""


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    (tmp_path / "counter.py").write_text(COUNTER)
    for name in ("right", "wrong"):
        command = f"python3 {tmp_path}/counter.py {name}"
        text = f"id: {name}\nconnector: {{type: command, command: '{command}'}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_the_solution_of_the_task_passes_and_idle_agents_do_not(shell: Shell) -> None:
    done = shell.arena("tests", "audit", "--tests", str(EXAMPLE))
    assert done.returncode == 0, done.stdout
    assert "1 of 1 solutions pass their test" in done.stdout


@pytest.mark.parametrize(("agent", "score"), [("right", 100), ("wrong", 0)])
def test_an_agent_works_on_the_task_and_gets_its_reward(
    shell: Shell, agents: Path, agent: str, score: float
) -> None:
    words = ("--agents", str(agents), "--tests", str(EXAMPLE), "--suite", "harbor")
    shell.arena("run", agent, *words)
    (result,) = shell.json("runs", "show", "latest")["results"]
    assert (result["score"], result["passed"]) == (score, score == 100), result["failure_reason"]
    written = agents / "again.yaml"
    made = shell.arena("tests", "from-result", "latest:count-words", "--write", str(written))
    assert made.returncode == 0, made.stderr
    assert shell.arena("tests", "lint", str(written)).returncode == 0
    by_id = shell.arena("tests", "from-result", result["id"][:8])
    assert by_id.stdout == written.read_text()
    missing = shell.arena("tests", "from-result", "latest:nothing")
    assert missing.returncode == 2
    assert "has no result of the test 'nothing'" in missing.stderr


def test_the_schema_for_editors_is_printed(shell: Shell) -> None:
    printed = json.loads(shell.arena("tests", "schema").stdout)
    assert printed["title"] == "Arena test file"
