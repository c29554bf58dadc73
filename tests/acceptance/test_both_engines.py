"""The same run embedded on SQLite and queued on PostgreSQL: only ids and times may differ."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drills import Arena, Server
from factories import write_agent, write_tests

AGENT = """
number = int(prompt.removeprefix("say word"))
if number % 7 == 0:
    raise ValueError("no sevens")
return prompt if number % 5 == 0 else prompt.upper()
"""
TESTS, TRIALS = 40, 2
IDS = {"id", "run_id", "result_id", "benchmark_run_id"}
PATHS = ("/api/benchmarks/leaderboard", "/api/benchmarks/tests/words_00003/standing")


@contextmanager
def serving(folder: Path, home: str, **variables: str) -> Iterator[Server]:
    arena = Arena(folder / home)
    shared = {"ARENA_AGENTS": str(folder / "agents"), "ARENA_TESTS": str(folder / "tests")}
    arena.environment |= shared | variables
    with arena.serving() as server:
        yield server


def test_results_counters_scores_and_events_are_equal(tmp_path: Path, postgres_url: str):
    write_agent(tmp_path / "agents", "mixed", AGENT, limits={"max_concurrency": 6})
    write_tests(tmp_path / "tests" / "words.yaml", count=TESTS, agents=["mixed"], trials=TRIALS)
    with serving(tmp_path, "one") as server:
        embedded = told(server)
    queued_settings = {"ARENA_DATABASE_URL": postgres_url, "ARENA_DISPATCH": "queued"}
    with serving(tmp_path, "two", **queued_settings) as server:
        queued = told(server)
    assert embedded["run"]["total_tests"] == TESTS * TRIALS
    assert embedded["run"]["failed_tests"] > 0 < embedded["run"]["passed_tests"]
    for what, expected in embedded.items():
        assert queued[what] == expected, what


def told(server: Server) -> dict[str, Any]:
    """What a server says about a run, while it is executed and afterwards."""
    run_id = server.post("/api/benchmarks/run", {"agent_id": "mixed"})["run_id"]
    server.post(f"/api/benchmarks/run/{run_id}/execute?wait=false")
    events = list(server.events(f"/api/benchmarks/runs/{run_id}/events"))
    details = server.get(f"/api/benchmarks/runs/{run_id}?limit=1000")
    results = [data for name, data in events if name == "result"]
    assert [data["sequence"] for data in results] == list(range(1, TESTS * TRIALS + 1))
    return {
        "run": plain(details["run"]),
        "results": in_order(details["results"]),
        "errors": plain(details["errors"]),
        "categories": plain(details["categories"]),
        "trials": plain(details["trials"]),
        "kinds of events": {name for name, _ in events},
        "result events": in_order(results),
        "last event": plain(events[-1]),
        **{path: plain(server.get(path)) for path in PATHS},
    }


def in_order(results: list[dict[str, Any]]) -> list[Any]:
    """Results by test and trial instead of by the time of their answers."""
    known = [{**result, "sequence": None} for result in results]
    return sorted(map(plain, known), key=lambda one: (one["test_id"], one["trial"]))


def plain(value: Any) -> Any:
    """The value without ids, and without what was measured."""
    if isinstance(value, dict):
        return {
            key: plain(inner)
            for key, inner in value.items()
            # The machine of a queued run is "workers".
            if key not in {*IDS, "machine"} and "seconds" not in key and not key.endswith("_at")
        }
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value
