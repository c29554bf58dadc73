"""`arena workers`: what an operator reads."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from acceptance.conftest import Shell, end
from databases import new_postgres
from queue_rows import QueueRows, queue_rows


@pytest.fixture
def url(postgres_server: str, postgres_tables: str) -> Iterator[str]:
    with new_postgres(postgres_server, postgres_tables) as made:
        yield made


@pytest.fixture
def rows(url: str) -> Iterator[QueueRows]:
    with queue_rows(url) as made:
        yield made


@pytest.fixture
def shell(url: str, tmp_path: Path) -> Shell:
    variables = {"ARENA_DATABASE_URL": url, "ARENA_DISPATCH": "queued"}
    return Shell(home=tmp_path / "home", variables=variables)


def lines_of(shell: Shell) -> list[str]:
    done = shell.arena("workers")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_embedded_runs_need_no_worker(tmp_path: Path):
    (line,) = lines_of(Shell(home=tmp_path / "home"))
    assert line.startswith("runs are executed by the process that starts them; see docs/operations")


def test_without_a_worker_it_says_how_to_start_one(shell: Shell):
    lines = lines_of(shell)
    assert lines[0] == "no worker is running; start one with: arena worker"
    assert "no run is in the queue" in lines


def test_workers_queues_runs_and_reasons_are_printed(shell: Shell, rows: QueueRows):
    rows.worker("w1", busy=2, labels=["gpu", "build-1"], done_results=12345)
    rows.worker("w2", silent=60, has_sandbox=False)
    run_id = rows.run(completed_tests=30)
    rows.shards(run_id, "done", "w1", "w1", "queued", "waiting")
    rows.shards(run_id, "queued", "queued", queue="shards.arm")
    rows.chore("audit", "waiting")
    rows.total("takeovers", 3)
    text = "\n".join(" ".join(line.split()) for line in lines_of(shell))
    assert "w1 working w1.example (4711) 2/4 20 yes 12,345" in text
    assert "w2 silent" in text
    assert "gpu, build-1" in text
    assert "shards 1 2 " in text
    assert "shards.arm 2 0 " in text
    assert f"{run_id} 1/7 2 3 30/100 0.0" in text
    assert "audit 1 0 0 0 s" in text
    assert "12,345 results, 3 takeovers, 0 retries, 0 handed back, 0 reconciled" in text
    reason = "no live worker takes jobs from the queue shards.arm"
    assert re.search(rf"stuck: 2 shards of scribe \(run {run_id}\), for \d+ s: {reason}", text)


def test_the_text_of_others_cannot_control_the_terminal(shell: Shell, rows: QueueRows):
    rows.worker("w\x1b[2Jx")
    rows.shards(rows.run(), "queued", problem="broken\x1b[2J\nstuck: a lie", failures=2)
    output = "\n".join(lines_of(shell))
    assert "\x1b" not in output
    assert not [line for line in output.splitlines() if line.startswith("stuck: a lie")]


def test_json_has_the_fields_of_the_api(shell: Shell, rows: QueueRows):
    rows.worker("w1")
    found = shell.json("workers")
    assert found["workers"][0]["name"] == "w1"
    assert found["totals"]["takeovers"] == 0


def test_it_is_shown_again_until_it_is_interrupted(shell: Shell, rows: QueueRows):
    rows.worker("w1")
    watching = shell.start("workers", "--watch", "--json")
    try:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        assert [one["name"] for one in first["workers"]] == ["w1"]
        rows.worker("w2")
        while len(json.loads(watching.stdout.readline())["workers"]) < 2:
            pass
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=60) == 130
        assert watching.stderr is not None
        assert watching.stderr.read() == ""
    finally:
        end(watching)
