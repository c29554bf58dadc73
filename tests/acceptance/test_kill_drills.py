"""`kill -9` at random moments loses nothing that was reported, and doubles nothing."""

import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from drills import Arena, Server, check_record, prepare, until

MOMENTS = [round(random.Random(5109 + n).random(), 3) for n in range(12)]
"""When to kill, as a share of the time a run takes here; the same moments every time."""


def moments_on(sqlite: int, postgresql: int) -> list[tuple[str, float]]:
    """So many drills on each kind of database, each at a moment of its own."""
    kinds = ["sqlite"] * sqlite + ["postgresql"] * postgresql
    return list(zip(kinds, MOMENTS, strict=False))


START_SECONDS = 0.4
RUN_SECONDS = 2.2


@pytest.fixture
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Arena:
    prepare(tmp_path / "home")
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Arena(tmp_path / "home", url)


@pytest.mark.parametrize(("arena", "moment"), moments_on(8, 4), indirect=["arena"])
def test_a_killed_command_is_resumed_without_loss(arena: Arena, moment: float):
    process = arena.start("run", "steady", stdout=subprocess.DEVNULL)
    time.sleep(START_SECONDS + moment * RUN_SECONDS)
    process.send_signal(signal.SIGKILL)
    process.wait()

    runs = arena.json("runs", "list")["runs"]
    if not runs:
        return  # killed before it had written the run down, and so before it reported anything
    (run,) = runs
    before = arena.json("runs", "show", run["id"])["results"]
    reported = {(r["test_id"], r["trial"], r["id"]) for r in before}
    if run["status"] == "pending":
        return  # created and not yet begun: nothing to resume
    if run["status"] == "running":
        with arena.start("runs", "resume", run["id"], stdout=subprocess.DEVNULL) as resumed:
            assert resumed.wait(90) == 0
    after = arena.json("runs", "show", run["id"])
    check_record(after)
    assert reported <= {(r["test_id"], r["trial"], r["id"]) for r in after["results"]}


@pytest.mark.parametrize(("arena", "moment"), moments_on(6, 3), indirect=["arena"])
def test_a_killed_server_goes_on_by_itself_and_keeps_what_it_told(arena: Arena, moment: float):
    reported: set[tuple[str, int]] = set()
    with arena.serving() as server:
        run_id = server.post("/api/benchmarks/run", {"agent_id": "steady"})["run_id"]
        server.post(f"/api/benchmarks/run/{run_id}/execute?wait=false")
        watcher = threading.Thread(target=collect, args=(server, run_id, reported))
        watcher.start()
        time.sleep(moment * 0.5)
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
