"""Shared by the acceptance tests of the market: a task, its standard and a solver."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

DESCRIPTION = "Write double(n) in Python."
STANDARD = {
    "type": "test_cases",
    "functionName": "double",
    "cases": [
        {"input": [1], "expected": 2},
        {"input": [2], "expected": 4},
        {"input": [3], "expected": 6},
    ],
}
SOLVER = """
import json, os, sys, time
task = json.load(sys.stdin)
with open("executions", "a") as executions:
    executions.write(f"{task['id']}\\n")
with open("given.json", "w") as given:
    json.dump(task, given)
time.sleep(float(os.environ.get("SOLVER_SECONDS", "0")))
print(json.dumps({"result": "def double(n):\\n    return 2 * n\\n"}))
"""
PATIENCE_SECONDS = 240
PAUSE_SECONDS = 0.2
"""Between two polls of a task: each poll is a command and takes CPU from the workers."""


def post(shell: Any, folder: Path, *words: str) -> dict[str, Any]:
    """Alice offers a task that the first agent gets and judy judges."""
    (folder / "standard.json").write_text(json.dumps(STANDARD))
    terms = ["--standard", str(folder / "standard.json"), "--reward", "0.05", "--as", "alice"]
    chosen = ["--judge", "judy", "--assignment", "first", *words]
    return shell.json("task", "post", DESCRIPTION, *terms, *chosen)["task"]


def wait_for_state(shell: Any, task: int, *states: str) -> dict[str, Any]:
    """Wait until a task is in one of these states; returns its details."""
    return wait_for_task(shell, task, lambda one: one["state"] in states)


def wait_for_task(shell: Any, task: int, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until something holds of a task; returns its details."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        story = shell.json("task", "show", str(task))
        if is_so(story["task"]):
            return story
        assert time.monotonic() < deadline, f"task {task} is still {story['task']}"
        time.sleep(PAUSE_SECONDS)


def ended(shell: Any, task: int, act: Callable[[], Any]) -> dict[str, Any]:
    """Call `act` until a task has ended; returns its details."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        act()
        story = shell.json("task", "show", str(task))
        if story["task"]["state"] in ("paid", "refunded", "expired"):
            return story
        assert time.monotonic() < deadline, f"task {task} is still {story['task']['state']}"
        time.sleep(PAUSE_SECONDS)
