"""`arena task commit` and `arena task reveal`, from posting to the submitted result."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena import clock
from arena.cli.main import app

STANDARD = {"type": "exact", "value": "42"}


def arena(*words: str) -> dict[str, dict[str, object]]:
    done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


def test_a_result_is_committed_to_and_revealed_by_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "standard.json").write_text(json.dumps(STANDARD))
    (tmp_path / "answer.txt").write_text("42")
    CliRunner().invoke(app, ["ledger", "deposit", "alice", "10"], catch_exceptions=False)
    join = ["join", "--agent-id", "my-solver", "--register-only"]
    CliRunner().invoke(app, join, catch_exceptions=False)
    terms = ["--standard", str(tmp_path / "standard.json"), "--reward", "1", "--as", "alice"]
    chosen = ["--judge", "judy", "--assignment", "first", "--commit-deadline", "1h"]
    assert arena("task", "post", "Answer.", *terms, *chosen)["task"]["state"] == "open"
    arena("task", "apply", "1")
    task = arena("task", "commit", "1", str(tmp_path / "answer.txt"))["task"]
    assert (task["state"], task["resultHash"]) == ("committed", None)
    real = clock.now
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(hours=1))
    assert arena("task", "reveal", "1")["task"]["state"] == "submitted"
