"""`kill -9` at random moments loses nothing that was reported, and doubles nothing."""

import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from drills import TESTS, Arena, Server, check_record, prepare, until, wait_until_asked

CHANCE = random.Random(5109)
QUESTIONS = [1, TESTS, *(CHANCE.randint(1, TESTS) for _ in range(10))]
"""After how many questions to kill: the first, the last (so while the rest is written down and the
run is ended), and random ones. The same every time."""
DELAYS = [round(CHANCE.random() * 0.15, 3) for _ in QUESTIONS]
"""And how long after it."""

Moment = tuple[int, float]


def moments_on(sqlite: int, postgresql: int) -> list[tuple[str, Moment]]:
    """So many drills on each kind of database, each at a moment of its own."""
    kinds = ["sqlite"] * sqlite + ["postgresql"] * postgresql
    return list(zip(kinds, zip(QUESTIONS, DELAYS, strict=True), strict=False))


@pytest.fixture
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Arena:
    prepare(tmp_path / "home")
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Arena(tmp_path / "home", url)


@pytest.mark.parametrize(("arena", "moment"), moments_on(8, 4), indirect=["arena"])
def test_a_killed_command_is_resumed_without_loss(arena: Arena, moment: Moment):
    questions, delay = moment
    process = arena.start("run", "steady", stdout=subprocess.DEVNULL)
    wait_until_asked(arena.home, questions)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()

    (run,) = arena.json("runs", "list")["runs"]
    assert run["status"] == "running" or questions > TESTS // 2
    before = arena.json("runs", "show", run["id"])["results"]
    if run["status"] == "running":
        with arena.start("runs", "resume", run["id"], stdout=subprocess.DEVNULL) as resumed:
            assert resumed.wait(90) == 0
    after = arena.json("runs", "show", run["id"])
    check_record(after)
    recorded = {(r["test_id"], r["trial"], r["id"]) for r in after["results"]}
    assert {(r["test_id"], r["trial"], r["id"]) for r in before} <= recorded


@pytest.mark.parametrize(("arena", "moment"), moments_on(6, 3), indirect=["arena"])
def test_a_killed_server_goes_on_by_itself_and_keeps_what_it_told(arena: Arena, moment: Moment):
    questions, delay = moment
    reported: set[tuple[str, int]] = set()
    with arena.serving() as server:
        run_id = server.post("/api/benchmarks/run", {"agent_id": "steady"})["run_id"]
        server.post(f"/api/benchmarks/run/{run_id}/execute?wait=false")
        watcher = threading.Thread(target=collect, args=(server, run_id, reported))
        watcher.start()
        wait_until_asked(arena.home, questions)
        time.sleep(delay)
        server.kill()
        watcher.join()
    told = frozenset(reported)
    with arena.serving() as server:
        path = f"/api/benchmarks/runs/{run_id}"
        until(lambda: server.get(path)["run"]["status"] == "completed", "the run went on")
        items = check_record(server.get(path))
    assert told <= items


def collect(server: Server, run_id: str, reported: set[tuple[str, int]]) -> None:
    """Write down every result that the server tells of."""
    for name, data in server.events(f"/api/benchmarks/runs/{run_id}/events"):
        if name == "result":
            reported.add((data["test_id"], data["trial"]))
