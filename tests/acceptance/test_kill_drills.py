"""`kill -9` at random moments neither loses nor duplicates a reported result."""

import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from drills import (
    TESTS,
    Arena,
    Server,
    check_record,
    prepare,
    question_count,
    until,
    wait_for_questions,
)

CHANCE = random.Random(5109)

Moment = tuple[int, float]


def moments(count: int) -> list[Moment]:
    """When to kill one run repeatedly: after how many more questions, and with what delay.

    After the first question, after a few more (so that the run is far from its end), and after
    the last (while the rest is stored and the run finishes). The same every time.
    """
    few = (CHANCE.randint(1, 25) for _ in range(count - 2))
    return [(questions, round(CHANCE.random() * 0.15, 3)) for questions in (1, *few, TESTS)]


def drills(count: int) -> list[Any]:
    """Two runs on SQLite and one on PostgreSQL, each killed `count` times."""
    kinds = ("sqlite", "sqlite", "postgresql")
    return [pytest.param(kind, moments(count), id=f"{kind}{n}") for n, kind in enumerate(kinds)]


@pytest.fixture
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Arena:
    prepare(tmp_path / "home")
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Arena(tmp_path / "home", url)


def recorded(arena: Arena, run_id: str) -> set[tuple[str, int, str]]:
    results = arena.json("runs", "show", run_id)["results"]
    return {(result["test_id"], result["trial"], result["id"]) for result in results}


@pytest.mark.parametrize(("arena", "moments"), drills(4), indirect=["arena"])
def test_a_killed_command_is_resumed_without_loss(arena: Arena, moments: list[Moment]):
    words, kept = ("run", "steady"), set[tuple[str, int, str]]()
    for questions, delay in moments:
        awaited = question_count(arena.home) + min(questions, TESTS - len(kept))
        with arena.start(*words) as process:
            wait_for_questions(arena.home, awaited)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)

        (run,) = arena.json("runs", "list")["runs"]
        assert run["status"] == "running" or questions == TESTS
        words = ("runs", "resume", run["id"])
        before, kept = kept, recorded(arena, run["id"])
        assert before <= kept
    if run["status"] == "running":
        with arena.start(*words) as resumed:
            assert resumed.wait(90) == 0
    check_record(arena.json("runs", "show", run["id"]))
    assert kept <= recorded(arena, run["id"])


@pytest.mark.parametrize(("arena", "moments"), drills(3), indirect=["arena"])
def test_a_killed_server_continues_by_itself_and_keeps_what_it_reported(
    arena: Arena, moments: list[Moment]
):
    reported, run_id, kept = set[tuple[str, int]](), "", 0
    for questions, delay in moments:
        awaited = question_count(arena.home) + min(questions, TESTS - kept)
        with arena.serving() as server:
            if not run_id:
                run_id = server.post("/api/benchmarks/run", {"agent_id": "steady"})["run_id"]
                server.post(f"/api/benchmarks/run/{run_id}/execute?wait=false")
            watcher = threading.Thread(target=collect, args=(server, run_id, reported))
            watcher.start()
            wait_for_questions(arena.home, awaited)
            time.sleep(delay)
            server.kill()
            watcher.join()
        kept = len(recorded(arena, run_id))
    with arena.serving() as server:
        path = f"/api/benchmarks/runs/{run_id}"
        until(lambda: server.get(path)["run"]["status"] == "completed", "the run went on")
        items = check_record(server.get(path))
    assert reported
    assert reported <= items


def collect(server: Server, run_id: str, reported: set[tuple[str, int]]) -> None:
    """Collect every result that the server reports."""
    for name, data in server.events(f"/api/benchmarks/runs/{run_id}/events"):
        if name == "result":
            reported.add((data["test_id"], data["trial"]))
