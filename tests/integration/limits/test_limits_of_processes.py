"""Limits hold across processes, exactly, whatever happens to them meanwhile."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from arena.settings import Settings
from databases import settings_on

CALLER = Path(__file__).with_name("caller.py")
MANY_SECONDS = 60.0
"""Longer than anything here takes."""


@dataclass(frozen=True)
class Call:
    begin: float
    end: float
    pid: int


class Callers:
    """Processes that call one place, and what they called."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []
        self._log = folder / "calls"
        self._log.touch()

    def start(self, count: int = 1, **order: Any) -> list[subprocess.Popen[str]]:
        given = {
            "url": self.url,
            "place": "agent:parrot",
            "log": str(self._log),
            "stop": str(self.folder / "stop"),
            "team": "default",
            "at_once": 4,
            "per_window": None,
            "window": 60.0,
            "work": 0.05,
            "seconds": 0.5,
            "rest": 0.0,
            "callers": 5,
        } | order
        command = [sys.executable, str(CALLER), json.dumps(given)]
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)
        ]
        self.running += started
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        return started

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()
        self.running.remove(process)

    def calls(self) -> list[Call]:
        lines = [line.split() for line in self._log.read_text().splitlines(keepends=False)]
        return [Call(float(begin), float(end), int(pid)) for begin, end, _, pid in lines]

    def wait_for(self, is_true: Callable[[list[Call]], bool]) -> list[Call]:
        """The calls so far, once this is true of them."""
        until = time.monotonic() + MANY_SECONDS
        while not is_true(calls := self.calls()):
            assert time.monotonic() < until, f"never happened; {len(calls)} calls"
            time.sleep(0.01)
        return calls

    def wait_for_more(self, count: int, pid: int | None = None) -> list[Call]:
        def counted(calls: list[Call]) -> int:
            return sum(pid in (None, call.pid) for call in calls)

        before = counted(self.calls())
        return self.wait_for(lambda calls: counted(calls) >= before + count)

    def end(self) -> list[Call]:
        """Stop all, and return every call."""
        (self.folder / "stop").touch()
        for process in self.running:
            process.communicate(timeout=MANY_SECONDS)
            assert process.returncode == 0
        self.running.clear()
        return self.calls()


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    with settings_on("postgresql", tmp_path / "home", request.getfixturevalue) as made:
        yield made


@pytest.fixture
def callers(settings: Settings, tmp_path: Path) -> Iterator[Callers]:
    made = Callers(settings.database, tmp_path)
    yield made
    for process in made.running:
        process.kill()
        process.communicate()


@pytest.fixture
def server(settings: Settings) -> Iterator[psycopg.Connection]:
    url = settings.database.replace("postgresql+psycopg", "postgresql")
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def most_at_once(calls: list[Call]) -> int:
    """How many calls the agent worked on at once; one that ends when another begins is over."""
    changes = sorted([(call.begin, 1) for call in calls] + [(call.end, -1) for call in calls])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def at_once(calls: list[Call]) -> str:
    """The calls at the moment of the most, for a message."""
    moments = {call.begin: [c for c in calls if c.begin <= call.begin < c.end] for call in calls}
    return "\n".join(map(str, sorted(max(moments.values(), key=len))))


def most_in_a_window(calls: list[Call], seconds: float) -> int:
    begins = sorted(call.begin for call in calls)
    return max(
        sum(begin <= other < begin + seconds for other in begins[index:])
        for index, begin in enumerate(begins)
    )


def test_processes_that_are_killed_leave_no_call_too_many(callers: Callers):
    callers.start(3)
    for _ in range(2):
        callers.wait_for_more(12)
        callers.kill(callers.running[0])
        callers.start()
    newest = callers.running[-1].pid
    callers.wait_for_more(3, pid=newest)  # once the slots of the dead have come back
    calls = callers.end()
    assert most_at_once(calls) <= 4, at_once(calls)


def test_a_process_that_was_stopped_begins_nothing_in_slots_that_others_have_now(
    callers: Callers, server: psycopg.Connection
):
    stopped, _ = callers.start(2)
    callers.wait_for_more(5, pid=stopped.pid)
    os.kill(stopped.pid, signal.SIGSTOP)
    # Its lease ends, and the other process takes all slots.
    count = "SELECT count(*), max(slots) FROM arena_limit_shares"
    callers.wait_for(lambda _: server.execute(count).fetchone() == (1, 4))
    callers.wait_for_more(5)
    os.kill(stopped.pid, signal.SIGCONT)
    callers.wait_for_more(5, pid=stopped.pid)
    assert most_at_once(callers.end()) <= 4


def test_a_rate_holds_across_processes_that_are_killed(callers: Callers):
    callers.start(3, per_window=8, window=1.0, callers=2)
    callers.wait_for_more(12)
    callers.kill(callers.running[0])
    callers.wait_for_more(12)
    calls = callers.end()
    assert most_in_a_window(calls, 1.0) <= 8
    assert most_at_once(calls) <= 4


def test_limits_hold_while_connections_are_cut(callers: Callers, server: psycopg.Connection):
    callers.start(3, per_window=30, window=1.0, callers=3)
    for _ in range(3):
        callers.wait_for_more(10)
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    callers.wait_for_more(30)
    calls = callers.end()
    assert most_at_once(calls) <= 4
    assert most_in_a_window(calls, 1.0) <= 30
    assert len(Counter(call.pid for call in calls)) == 3


def test_the_slot_of_a_dead_process_returns_only_after_its_call_must_have_ended(callers: Callers):
    (dead,) = callers.start(at_once=1, work=1.5, seconds=1.5, callers=1)
    callers.wait_for_more(1)
    callers.kill(dead)
    callers.start(at_once=1, callers=1)
    first, second = callers.wait_for(lambda calls: len(calls) > 1)[:2]
    callers.end()
    assert first.pid == dead.pid
    assert second.begin >= first.begin + 1.5
