"""Helpers for the kill drills: Arena as a user starts it, and checks of its record."""

import json
import os
import signal
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import warm
from factories import write_agent, write_tests

TESTS = 240
AGENT = """
with open("asked", "ab", buffering=0) as asked:
    asked.write(b".")
time.sleep(0.02)
return prompt.upper()
"""
PATIENCE_SECONDS = 90


def prepare(home: Path) -> None:
    """A home with an agent that takes its time and tests that it passes."""
    write_agent(home / "agents", "steady", AGENT)
    write_tests(home / "benchmarks" / "steady.yaml", count=TESTS, agents=["steady"])


def question_count(home: Path) -> int:
    """How many questions the agent has received so far."""
    file = home / "agents" / "asked"
    return file.stat().st_size if file.exists() else 0


def wait_for_questions(home: Path, questions: int) -> None:
    """Wait until the agent has received that many questions."""
    until(lambda: question_count(home) >= questions, f"{questions} questions")


class Arena:
    """The command `arena` on one home and one database."""

    def __init__(self, home: Path, database_url: str | None = None) -> None:
        self.home = home
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        self.environment = {**kept, "ARENA_HOME": str(home), "ARENA_LOG_LEVEL": "warning"}
        if database_url:
            self.environment["ARENA_DATABASE_URL"] = database_url

    def start(self, *words: str) -> warm.Process:
        """Start a command without waiting for it."""
        return warm.start(words, self.environment)

    def json(self, *words: str) -> Any:
        """The JSON output of a command."""
        done = warm.run((*words, "--json"), self.environment, timeout=PATIENCE_SECONDS)
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout)

    @contextmanager
    def serving(self) -> Iterator["Server"]:
        """A server, killed at the end in any case."""
        with warm.serve(self.environment) as process:
            try:
                yield Server(process)
            finally:
                process.send_signal(signal.SIGKILL)


class Server:
    """A running `arena serve`."""

    def __init__(self, process: warm.Process) -> None:
        self.process = process
        self.url = process.url

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return json.load(answer)

    def post(self, path: str, body: object = None) -> Any:
        data = json.dumps(body).encode() if body is not None else b""
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def events(self, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Server-sent events until the stream ends or breaks."""
        name = ""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as stream:
                for line in stream:
                    key, _, value = line.decode().strip().partition(": ")
                    if key == "event":
                        name = value
                    elif key == "data":
                        yield name, json.loads(value)
        except OSError:
            return

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def until(is_so: Any, what: str) -> None:
    """Wait for a condition, with a timeout."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.005)


def check_record(details: dict[str, Any]) -> set[tuple[str, int]]:
    """Every test exactly once, and counters that equal the rows; returns the recorded items."""
    run, results = details["run"], details["results"]
    items = [(result["test_id"], result["trial"]) for result in results]
    assert run["status"] == "completed"
    assert len(items) == len(set(items)) == run["total_tests"] == TESTS
    assert run["completed_tests"] == len(results)
    assert run["passed_tests"] == sum(result["passed"] for result in results) == TESTS
    assert run["failed_tests"] == 0
    assert [result["sequence"] for result in results] == list(range(1, TESTS + 1))
    return set(items)
