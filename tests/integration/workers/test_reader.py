"""What is shown of the queue: workers, queues, runs, and why something is stuck."""

import pytest

from arena.queue.overview import SILENT_SECONDS, Stuck
from arena.queue.records.reader import QueueReader
from queue_rows import QueueRows

IN_AN_HOUR = 3600


async def reasons(reader: QueueReader) -> list[tuple[str, str, int]]:
    return [(one.why, one.reason, one.shards) for one in (await reader.overview()).stuck]


async def only(reader: QueueReader) -> Stuck:
    (found,) = (await reader.overview()).stuck
    return found


async def test_an_empty_queue_has_nothing_to_show(reader: QueueReader):
    found = await reader.overview()
    assert (found.dispatch, found.workers, found.queues, found.runs) == ("queued", [], [], [])
    assert (found.stuck, found.chores, found.totals.results) == ([], [], 0)


async def test_the_state_of_a_worker_follows_from_its_heartbeat(
    reader: QueueReader, rows: QueueRows
):
    rows.worker("a-working", busy=2, done_shards=7, done_results=350)
    rows.worker("b-idle")
    rows.worker("c-stopping", busy=1, is_stopping=True)
    rows.worker("d-silent", busy=3, silent=SILENT_SECONDS)
    rows.worker("e-silent", is_stopping=True, silent=1000)
    found = (await reader.overview()).workers
    assert [(one.name, one.state) for one in found] == [
        ("a-working", "working"),
        ("b-idle", "idle"),
        ("c-stopping", "stopping"),
        ("d-silent", "silent"),
        ("e-silent", "silent"),
    ]
    first = found[0]
    assert (first.busy, first.done_shards, first.done_results) == (2, 7, 350)
    assert (first.host, first.pid, first.queues) == ("a-working.example", 4711, ["shards"])


async def test_depth_and_lag_are_of_the_shards_that_nobody_has_taken(
    reader: QueueReader, rows: QueueRows
):
    rows.worker("w1", queues=["shards", "shards.gpu"])
    rows.worker("w2", queues=["shards.gpu"])
    rows.worker("dead", silent=60)
    first, second = rows.run(), rows.run("other")
    rows.shards(first, "done", "w1", "queued", "queued", "waiting")
    rows.shards(second, "queued", queue="shards.gpu")
    rows.execute("UPDATE agent_run_shards SET queued_at = now() - interval '1 hour' WHERE number=2")
    gpu_last = {one.queue: one for one in (await reader.overview()).queues}
    plain, gpu = gpu_last["shards"], gpu_last["shards.gpu"]
    assert (plain.depth, plain.in_work, plain.workers) == (2, 1, ["w1"])
    assert plain.lag_seconds == pytest.approx(3600, abs=60)
    assert (gpu.depth, gpu.in_work, gpu.workers) == (1, 0, ["w1", "w2"])


async def test_a_run_has_its_shards_and_its_throughput(reader: QueueReader, rows: QueueRows):
    rows.worker("w1")
    run_id = rows.run("scribe", team_id="red", completed_tests=33)
    rows.shards(run_id, "done", "done", "w1", "queued", "waiting", "waiting", "waiting")
    # Two of them are older than a minute, two have the clock of a worker that is ahead.
    rows.results(run_id, [300, 200, 30, 20, 10, 5, -3, -20])
    over, embedded = rows.run(status="completed"), rows.run(dispatch="embedded")
    rows.shards(over, "queued")
    rows.results(embedded, [1])
    (run,) = (await reader.overview()).runs
    assert (run.run_id, run.agent_id, run.team_id) == (run_id, "scribe", "red")
    assert (run.total_tests, run.completed_tests) == (100, 33)
    assert (run.total_shards, run.done_shards, run.in_work) == (7, 2, 1)
    assert (run.depth, run.waiting) == (1, 3)
    assert run.results_per_second == 0.1
    assert (await reader.overview()).results_per_second == 0.1


async def test_a_leftover_of_a_run_that_has_ended_does_not_wait(
    reader: QueueReader, rows: QueueRows
):
    rows.shards(rows.run(status="cancelled"), "queued", "queued")
    found = await reader.overview()
    assert (found.queues, found.runs, found.stuck) == ([], [], [])


async def test_queues_without_work_are_shown_if_all_workers_may_serve_them(
    reader: QueueReader, rows: QueueRows
):
    rows.worker("w1", queues=["shards", "shards.host-1", "code", "chores", "judge.default.carol"])
    rows.worker("w2", queues=["shards", "shards.host-2", "chores"])
    rows.chore("audit", "waiting", waited=1000)
    rows.chore("recalculate", "taken")
    chores, code, shards = (await reader.overview()).queues
    assert (chores.queue, chores.depth, chores.in_work) == ("chores", 1, 1)
    assert (chores.workers, code.queue, code.workers) == (["w1", "w2"], "code", ["w1"])
    assert (shards.queue, shards.depth, shards.workers) == ("shards", 0, ["w1", "w2"])


async def test_a_team_sees_its_own_runs_only(reader: QueueReader, rows: QueueRows):
    for team in ("red", "blue"):
        rows.shards(rows.run(team_id=team), "queued")
    found = await reader.overview("red")
    assert [run.team_id for run in found.runs] == ["red"]
    assert [one.team_id for one in found.stuck] == ["red"]
    assert [one.depth for one in found.queues] == [2]
    assert [run.team_id for run in (await reader.overview()).runs] == ["red", "blue"]


async def test_without_a_worker_that_is_said(reader: QueueReader, rows: QueueRows):
    run_id = rows.run()
    rows.shards(run_id, "queued", "queued", "waiting")
    rows.worker("dead", silent=60)
    found = await only(reader)
    assert (found.why, found.shards) == ("no_worker", 2)
    assert found.reason == "no worker is running; start one with: arena worker"
    assert (found.run_id, found.team_id, found.agent_id) == (run_id, "default", "scribe")
    assert found.waiting_seconds == pytest.approx(42, abs=30)


async def test_a_stopping_worker_takes_nothing(reader: QueueReader, rows: QueueRows):
    rows.shards(rows.run(), "queued")
    rows.worker("w1", is_stopping=True)
    assert await reasons(reader) == [("no_worker", "every worker is stopping", 1)]


async def test_a_label_that_no_live_worker_has_is_named(reader: QueueReader, rows: QueueRows):
    rows.shards(rows.run(placement="gpu"), "queued", queue="shards.gpu")
    rows.worker("plain")
    rows.worker("dead", labels=["gpu"], queues=["shards", "shards.gpu"], silent=60)
    expected = ("no_label", "no live worker has the label gpu", 1)
    assert await reasons(reader) == [expected]
    rows.worker("with-a-gpu", labels=["gpu"], queues=["shards.gpu"])
    assert await reasons(reader) == []


@pytest.mark.parametrize(
    ("placement", "reason"),
    [
        (None, "no live worker has a sandbox"),
        ("gpu", "no live worker with the label gpu has a sandbox"),
        # Every worker has the label of its own machine.
        ("plain.example", "no live worker with the label plain.example has a sandbox"),
    ],
)
async def test_a_missing_sandbox_is_named(
    reader: QueueReader, rows: QueueRows, placement: str | None, reason: str
):
    run_id = rows.run(placement=placement)
    rows.shards(run_id, "queued", queue="shards.sandbox", needs_sandbox=True)
    rows.worker("plain", labels=["gpu"], has_sandbox=False)
    assert await reasons(reader) == [("no_sandbox", reason, 1)]


async def test_a_queue_that_nobody_serves_is_named(reader: QueueReader, rows: QueueRows):
    rows.shards(rows.run(), "queued", queue="shards.other")
    rows.worker("w1")
    reason = "no live worker takes jobs from the queue shards.other"
    assert await reasons(reader) == [("not_served", reason, 1)]


async def test_why_a_worker_could_not_execute_a_shard_is_said_once(
    reader: QueueReader, rows: QueueRows
):
    run_id = rows.run()
    rows.worker("w1")
    problem = "the secret OPENAI_API_KEY is not set on w1"
    rows.shards(run_id, "queued", problem=problem, failures=1)
    rows.shards(run_id, "queued", problem=problem, failures=4)
    rows.shards(run_id, "w1", problem="another worker may be able to", failures=2)
    rows.shards(run_id, "queued", problem="it was executed in part since then", failures=0)
    rows.shards(run_id, "queued", problem="no space left on w2", failures=1)
    assert sorted(await reasons(reader)) == [
        ("problem", "no space left on w2 (tried once)", 1),
        ("problem", f"{problem} (tried 4 times)", 2),
    ]


async def test_an_agent_that_asked_for_a_pause_is_named(reader: QueueReader, rows: QueueRows):
    rows.worker("w1")
    rows.shards(rows.run("scribe"), "w1")
    rows.shards(rows.run("other"), "w1")
    rows.pause("agent:other@1.0.0", seconds=-IN_AN_HOUR)
    rows.pause("agent:other@2.0.0", seconds=IN_AN_HOUR)
    rows.pause("agent:scribe@1.0.0", seconds=IN_AN_HOUR)
    found = await only(reader)
    assert (found.why, found.agent_id) == ("paused", "scribe")
    assert found.reason.startswith("the agent asked for a pause until 20")
    assert found.reason.endswith(" UTC")


async def test_a_run_that_is_ending_says_why(reader: QueueReader, rows: QueueRows):
    rows.worker("w1")
    run_id = rows.run(ending={"reason": "its budget is spent", "is_exceeded": True})
    rows.shards(run_id, "w1", "waiting", "done")
    rows.shards(run_id, "queued", queue="shards.nobody")
    (run,) = (await reader.overview()).runs
    assert run.is_ending
    found = await only(reader)
    assert (found.why, found.shards) == ("ending", 1)
    assert "its budget is spent" in found.reason


async def test_a_shard_of_a_dead_worker_is_reported(reader: QueueReader, rows: QueueRows):
    rows.worker("w1", silent=60)
    rows.worker("w2")
    rows.shards(rows.run(), "w1", "w2", "gone")
    assert sorted(await reasons(reader)) == [
        ("silent_worker", f"its worker {name} is silent; another one takes over", 1)
        for name in ("gone", "w1")
    ]


async def test_a_run_without_a_queued_shard_is_reported(reader: QueueReader, rows: QueueRows):
    rows.worker("w1")
    rows.shards(rows.run(), "done", "waiting", "waiting")
    reason = "none of its shards is queued; a worker queues them again"
    assert await reasons(reader) == [("not_queued", reason, 2)]


async def test_a_run_that_goes_on_is_not_stuck(reader: QueueReader, rows: QueueRows):
    rows.worker("w1")
    rows.shards(rows.run(), "done", "w1", "queued", "waiting")
    assert await reasons(reader) == []


async def test_chores_are_counted_by_kind(reader: QueueReader, rows: QueueRows):
    rows.chore("audit", "waiting", waited=1000)
    rows.chore("audit", "waiting")
    rows.chore("audit", "taken")
    rows.chore("audit", "done")
    rows.chore("recalculate", "failed", waited=1000)
    audit, recalculate = (await reader.overview()).chores
    assert (audit.kind, audit.waiting, audit.in_work, audit.failed) == ("audit", 2, 1, 0)
    assert audit.lag_seconds == pytest.approx(1000, abs=60)
    assert (recalculate.kind, recalculate.failed) == ("recalculate", 1)
    assert recalculate.lag_seconds == 0


CHANGES = {
    "a worker comes": lambda rows, run: rows.worker("w2"),
    "a worker is silent": lambda rows, run: rows.execute(
        "UPDATE arena_workers SET seen_at = now() - interval '1 minute'"
    ),
    "a worker has written results": lambda rows, run: rows.execute(
        "UPDATE arena_workers SET done_results = 5"
    ),
    "a shard is taken": lambda rows, run: rows.execute(
        "UPDATE agent_run_shards SET worker = 'w1', taken_at = now() WHERE number = 0"
    ),
    "a shard is done": lambda rows, run: rows.execute(
        "UPDATE agent_run_shards SET state = 'done' WHERE number = 0"
    ),
    "a shard could not be executed": lambda rows, run: rows.execute(
        "UPDATE agent_run_shards SET problem = 'x', failures = 1 WHERE number = 0"
    ),
    "a run is ending": lambda rows, run: rows.execute(
        "UPDATE agent_benchmark_runs SET ending = '{}'"
    ),
    "an agent asks for a pause": lambda rows, run: rows.pause("agent:x", seconds=IN_AN_HOUR),
    "work is requested": lambda rows, run: rows.chore("audit", "waiting"),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_the_version_differs_after_every_change(
    reader: QueueReader, rows: QueueRows, name: str
):
    rows.worker("w1")
    run_id = rows.run()
    rows.shards(run_id, "queued", "waiting")
    # In the future: how long it waits must not change the version meanwhile.
    rows.execute("UPDATE agent_run_shards SET queued_at = now() + interval '1 hour' WHERE number=0")
    before = await reader.version()
    assert await reader.version() == before
    CHANGES[name](rows, run_id)
    assert await reader.version() != before
