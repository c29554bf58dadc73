"""The script in the document runs as written; only the port differs."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import missing

SCRIPT = Path(__file__).parent / "fixtures" / "seed.sh"
CLIENT_PAGE = Path(__file__).parents[2] / "docs" / "guide" / "python-client.md"


@pytest.fixture(autouse=True)
def tools() -> None:
    for tool in ("curl", "jq", "bash"):
        if shutil.which(tool) is None:
            missing(tool)


def test_the_script_of_the_document_runs(shell):
    with shell.serving() as client:
        script = SCRIPT.read_text().replace("5109", str(client.base_url.port))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        head, _, rest = done.stdout.partition("\n")
        run_id = head.removeprefix("Created run: ")
        executed, end = json.JSONDecoder().raw_decode(rest)
        details = json.loads(rest[end:])
        assert (executed["run_id"], executed["status"]) == (run_id, "completed")
        assert executed["passed"] + executed["failed"] == 12
        assert details["run"]["team_id"] == "YOUR_TEAM_ID"
        assert details["run"]["score_percent"] == executed["score_percent"]
        assert len(details["results"]) == 12
        assert {"test_id", "passed", "points_earned", "duration_seconds"} <= (
            details["results"][0].keys()
        )
        assert client.get("/api/benchmarks/tests").json()["count"] == 17


def test_the_examples_of_the_python_client_run(shell):
    examples = re.findall(r"(?ms)^```python\n(.*?)^```", CLIENT_PAGE.read_text())
    assert len(examples) == 4
    with shell.serving() as client:
        for example in examples:
            script = example.replace("5109", str(client.base_url.port))
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
            )
            assert done.returncode == 0, done.stderr
        board = client.get("/api/benchmarks/leaderboard", params={"team_id": "docs"}).json()
        entry = next(e for e in board["leaderboard"] if e["agent_id"] == "qa-web-manager")
        assert (entry["avg_user_rating"], entry["benchmark_run_id"] is not None) == (5.0, True)
