"""`kill -9` at the worst moments: nothing is lost, or executed, submitted, judged or paid twice."""

import dataclasses
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import warm
from acceptance_market import PATIENCE_SECONDS, PAUSE_SECONDS, SOLVER, post

TASKS = 4
CHANCE = random.Random(60)
DELAYS = [0.0, 0.3, 0.5, 0.65]
"""Seconds after the start of a solver, which takes half a second: right away, while it works, as it
ends, and while its result is stored or submitted."""


def until(is_so: Callable[[], bool], what: str, pause: float = 0.02) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(pause)


def until_states(shell: Any, are_so: Callable[[list[str]], bool], what: str) -> None:
    """Poll rarely: each poll is a command and takes CPU from the workers."""
    until(lambda: are_so(states(shell)), what, PAUSE_SECONDS)


def executed(folder: Path) -> list[str]:
    path = folder / "executions"
    return path.read_text().split() if path.exists() else []


def states(shell: Any) -> list[str]:
    return [task["state"] for task in shell.json("task", "list")["tasks"]]


def end(process: warm.Process, number: int = signal.SIGKILL) -> None:
    with process:
        process.send_signal(number)
        process.wait(timeout=60)


def test_killed_agents_and_judges_lose_and_repeat_nothing(shell: Any, tmp_path: Path):
    shell = dataclasses.replace(shell, variables={"SOLVER_SECONDS": "0.5"})
    (tmp_path / "solver.py").write_text(SOLVER)
    assert shell.arena("ledger", "deposit", "alice", "1").returncode == 0
    for _ in range(TASKS):
        post(shell, tmp_path)
    assert shell.arena("join", "--agent-id", "my-solver", "--register-only").returncode == 0
    work = ["start", "--exec", f"{sys.executable} solver.py", "--poll", "0.2"]
    start = partial(warm.start, environment=shell.environment, cwd=tmp_path)

    for number, delay in enumerate(DELAYS, start=1):
        worker = start(work)
        until(lambda count=number: len(executed(tmp_path)) >= count, f"execution {number}")
        time.sleep(delay)
        end(worker)
    worker = start(work)
    try:
        until_states(shell, lambda now: now == ["submitted"] * TASKS, "all are submitted")
    finally:
        end(worker, signal.SIGTERM)
    assert sorted(executed(tmp_path)) == [str(task) for task in range(1, TASKS + 1)]

    watch = ["judge", "--watch", "--as", "judy", "--poll", "0.2"]
    for _ in range(3):
        judges = [start(watch) for _ in range(2)]
        before = states(shell).count("paid")
        if before < TASKS:
            until_states(shell, lambda now, n=before: now.count("paid") > n, "one more is paid")
        time.sleep(CHANCE.random())
        for judge in judges:
            end(judge)
    judge = start(watch)
    try:
        until_states(shell, lambda now: now == ["paid"] * TASKS, "all are paid")
    finally:
        end(judge, signal.SIGTERM)

    for task in range(1, TASKS + 1):
        story = shell.json("task", "show", str(task))
        kinds = [event["kind"] for event in story["events"]]
        assert kinds == ["TaskPosted", "Applied", "Assigned", "ResultSubmitted", "Judged", "Paid"]
        assert [entry["kind"] for entry in story["entries"]] == ["lock", "settlement"]
    balances = {
        one["account"]: one["amount"] for one in shell.json("ledger", "balance")["balances"]
    }
    assert balances == {"user:alice": "0.8", "user:my-solver": "0.2", "outside": "-1"}
    assert shell.arena("ledger", "audit").returncode == 0
