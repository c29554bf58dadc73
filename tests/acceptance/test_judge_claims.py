"""A judge is killed while it works: its tasks are free once its claim has expired, not before."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import warm
from acceptance_market import PATIENCE_SECONDS, PAUSE_SECONDS, wait_for_state

SLEEPS = "read line; sleep 600\n"
ANSWER = "read line; echo 1\n"
STANDARD = {"type": "test_cases", "language": "shell", "cases": [{"input": [1], "expected": 1}]}


def submitted(shell: Any, folder: Path, number: int, text: str) -> None:
    """A task of its own poster and agent, with this result."""
    (folder / "standard.json").write_text(json.dumps(STANDARD))
    (folder / "result.sh").write_text(text)
    poster, agent = f"poster-{number}", f"agent-{number}"
    assert shell.arena("ledger", "deposit", poster, "1").returncode == 0
    assert shell.arena("join", "--agent-id", agent, "--register-only").returncode == 0
    terms = ["--standard", str(folder / "standard.json"), "--reward", "1", "--as", poster]
    shell.json("task", "post", "x", *terms, "--judge", "judy", "--assignment", "first")
    shell.json("task", "apply", str(number), "--agent", agent)
    shell.json("task", "submit", str(number), str(folder / "result.sh"), "--agent", agent)


def claimed_until(shell: Any, task: int) -> str | None:
    return shell.json("task", "show", str(task))["task"]["claimed_until"]


def test_a_killed_judge_delays_its_tasks_by_no_more_than_its_claim(shell: Any, tmp_path: Path):
    submitted(shell, tmp_path, 1, SLEEPS)
    judge = warm.start(["judge", "--watch", "--as", "judy"], environment=shell.environment)
    deadline = time.monotonic() + PATIENCE_SECONDS
    with judge:
        while claimed_until(shell, 1) is None:
            assert time.monotonic() < deadline
            time.sleep(PAUSE_SECONDS)
        judge.send_signal(signal.SIGKILL)
        judge.wait(timeout=60)
    successor = warm.start(
        ["judge", "--watch", "--as", "judy", "--poll", "0.2"], environment=shell.environment
    )
    with successor:
        try:
            # An honest task of others does not wait for anything.
            submitted(shell, tmp_path, 2, ANSWER)
            assert wait_for_state(shell, 2, "paid")["task"]["score"] == 100
            # The sleeping one is taken over once the claim has expired, and gets its verdict.
            assert wait_for_state(shell, 1, "refunded")["task"]["score"] == 0
        finally:
            successor.send_signal(signal.SIGTERM)
            successor.wait(timeout=60)
