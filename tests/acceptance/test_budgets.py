"""The guide's example: a run stops at its budget, and goes on with a larger one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import warm

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "budgets.md").read_text()


BLOCKS = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", GUIDE)
RUN_ID = re.compile("[0-9a-f]{8}-[0-9a-f-]{27}")


def block(kind: str, number: int = 0) -> str:
    return [text for one, text in BLOCKS if one == kind][number]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files of the guide."""
    files = {
        "agents/teller.py": block("python"),
        "agents/teller.yaml": block("yaml"),
        "tests/hello.yaml": block("yaml", 1),
        "arena.toml": block("toml"),
    }
    for name, text in files.items():
        assert name in GUIDE
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_example_of_the_guide(shell: Any, project: Path):
    environment = {n: v for n, v in shell.environment.items() if n != "ARENA_HOME"}

    def arena(line: str) -> Any:
        words = line.split()
        assert words.pop(0) == "arena"
        return warm.run(words, environment, cwd=project)

    stopped = arena(block("", 0))
    assert stopped.returncode == 3, stopped.stderr
    printed = RUN_ID.sub("RUN", stopped.stdout)
    for line in RUN_ID.sub("RUN", block("", 1)).splitlines():
        assert line in printed
    same, larger, enough, listing = block("", 2).splitlines()
    refused = arena(same)
    assert refused.returncode == 2
    assert "has spent its budget: $0.05 of $0.05 spent (max_cost); resume it" in refused.stderr
    again = arena(f"{larger} --json")
    assert again.returncode == 3
    run = json.loads(again.stdout)["run"]
    assert (run["status"], run["completed_tests"]) == ("budget_exceeded", 8)
    assert run["spent"]["cost_usd"] == pytest.approx(0.08)
    assert run["spent"]["tokens"] == 8000
    assert run["id"] in arena(listing).stdout
    junit = arena("arena runs export latest --format junit").stdout
    assert "2 results missing: the run is budget_exceeded" in junit
    assert 'name="status" value="budget_exceeded"' in junit
    markdown = arena("arena runs export latest --format markdown").stdout
    assert "The run is budget exceeded: 8 of 10 passed" in markdown
    assert "Budget: $0.08 of $0.08 spent, 8,000 of 100,000 tokens used" in markdown
    assert arena(f"{enough} --fail-under 100").returncode == 0
    assert "no runs" in arena(listing).stdout
    assert "teller" in arena("arena leaderboard").stdout


def test_a_gate_is_not_decided_and_an_option_goes_before_the_project(shell: Any, project: Path):
    environment = {n: v for n, v in shell.environment.items() if n != "ARENA_HOME"}
    words = ["run", "teller", "--max-cost", "0.02", "--fail-under", "10", "--json"]
    done = warm.run(words, environment, cwd=project)
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert document["run"]["budget"]["max_cost_usd"] == 0.02
    assert document["gate"]["passed"] is None
    assert "not decided: the run is budget_exceeded" in document["gate"]["reason"]
    for wrong in ("0", "-1", "nan"):
        refused = warm.run(["run", "teller", "--max-cost", wrong], environment, cwd=project)
        assert refused.returncode == 2, wrong
