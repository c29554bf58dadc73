"""Queued runs: what workers do that one process does not. Workers here are tasks of the test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psycopg
import pytest
import yaml
from sqlalchemy import make_url, text

from arena.assembly import Arena, open_arena
from arena.errors import Conflict
from arena.models.budget import Budget
from arena.runs.records.shards import end_run_early, run_state
from arena.runs.run import Run, RunRequest
from arena.settings import Settings
from arena.worker import Worker, WorkerOptions
from factories import write_agent, write_tests

TEAM = "team"


@pytest.fixture
def dialect() -> str:
    """Only by workers."""
    return "queued"


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[Arena]:
    """A machine that starts runs and executes none."""
    write_agent(settings.home / "agents", "parrot", "return prompt.upper()")
    write_tests(settings.home / "benchmarks" / "parrot.yaml", count=30, agents=["parrot"])
    async with open_arena(settings) as opened:
        await opened.database.open()
        yield opened


class Lines(list[str]):
    """What a worker printed."""

    async def wait_for(self, part: str) -> str:
        """The first line with this part."""
        async with asyncio.timeout(30):
            while True:
                for line in self:
                    if part in line:
                        return line
                await asyncio.sleep(0.01)


@asynccontextmanager
async def worker(
    settings: Settings, home: Path | None = None, **options: object
) -> AsyncIterator[tuple[Worker, Lines]]:
    """A worker, on a machine with another home if one is given."""
    lines = Lines()
    changes = {"home": home} if home else {}
    async with open_arena(settings.model_copy(update=changes)) as arena:
        found = Worker(arena, WorkerOptions(has_sandbox=False, **options), lines.append)
        task = asyncio.create_task(found.run(lines.append))
        await lines.wait_for("is ready")
        try:
            yield found, lines
        finally:
            found.stop()
            await task


async def start(server: Arena, agent: str = "parrot", **options: object) -> Run:
    run = await server.executor.create(RunRequest(team_id=TEAM, agent_id=agent, **options))
    return await server.executor.start(run.id, TEAM)


async def ended(server: Arena, run: Run) -> Run:
    async with asyncio.timeout(60):
        return await server.executor.wait(run.id)


async def shards(server: Arena, run: Run, *columns: str) -> list[tuple[object, ...]]:
    query = f"SELECT {', '.join(columns)} FROM agent_run_shards WHERE run_id = :run ORDER BY number"
    async with server.database.reading() as connection:
        return [tuple(row) for row in await connection.execute(text(query), {"run": run.id})]


async def until(look: Callable[[], object]) -> None:
    """Wait until `look` returns something true."""
    async with asyncio.timeout(30):
        while not await look():
            await asyncio.sleep(0.02)


async def test_a_run_waits_for_a_worker_and_is_not_interrupted_meanwhile(
    server: Arena, settings: Settings
):
    run = await start(server)
    assert (run.status, run.is_interrupted) == ("running", False)
    with pytest.raises(Conflict, match="is being executed"):
        await server.executor.resume(run.id, TEAM)
    async with worker(settings):
        done = await ended(server, run)
    assert (done.status, done.passed_tests, done.completed_tests) == ("completed", 30, 30)
    assert {state for (state,) in await shards(server, run, "state")} == {"done"}


async def test_two_workers_share_a_run(server: Arena, settings: Settings, tmp_path: Path):
    body = "time.sleep(0.05); return prompt.upper()"
    write_agent(settings.home / "agents", "slow", body, limits={"max_concurrency": 20})
    write_tests(settings.home / "benchmarks" / "slow.yaml", count=60, agents=["slow"])
    server.registry.refresh()
    server.catalog.refresh()
    async with (
        worker(settings, shards=2) as (_, first),
        worker(settings, tmp_path / "other", shards=2) as (_, second),
    ):
        run = await ended(server, await start(server, "slow"))
    assert (run.status, run.passed_tests) == ("completed", 60)
    assert any("shard" in line for line in first) and any("shard" in line for line in second)


async def test_a_worker_that_stops_hands_its_shards_back_and_nothing_is_asked_twice(
    server: Arena, settings: Settings, tmp_path: Path
):
    log = tmp_path / "asked"
    body = (
        f"open({str(log)!r}, 'a').write(prompt + chr(10)); time.sleep(0.1); return prompt.upper()"
    )
    write_agent(settings.home / "agents", "logged", body, limits={"max_concurrency": 4})
    write_tests(settings.home / "benchmarks" / "logged.yaml", count=40, agents=["logged"])
    server.registry.refresh()
    server.catalog.refresh()
    run = await start(server, "logged")
    async with worker(settings):
        await until(lambda: asyncio.to_thread(log.exists))
    assert (await server.runs.get(run.id, TEAM)).completed_tests < 40
    assert ("queued", None) in await shards(server, run, "state", "worker")
    async with worker(settings):
        done = await ended(server, run)
    assert (done.status, done.passed_tests) == ("completed", 40)
    asked = log.read_text().splitlines()
    assert len(asked) == len(set(asked)) == 40


async def test_a_cancelled_run_is_left_by_its_worker(
    server: Arena, settings: Settings, tmp_path: Path
):
    began = tmp_path / "began"
    body = f"open({str(began)!r}, 'w').close(); time.sleep(60)"
    write_agent(settings.home / "agents", "sleeper", body)
    write_tests(settings.home / "benchmarks" / "sleeper.yaml", count=9, agents=["sleeper"])
    server.registry.refresh()
    server.catalog.refresh()
    async with worker(settings) as (_, lines):
        run = await start(server, "sleeper")
        await until(lambda: asyncio.to_thread(began.exists))
        await server.executor.cancel(run.id, TEAM)
        assert "lost" in await lines.wait_for("shard 0")
        # The worker goes on with other runs.
        other = await ended(server, await start(server))
    assert (other.status, (await server.runs.get(run.id, TEAM)).status) == (
        "completed",
        "cancelled",
    )


async def test_nobody_makes_room_for_the_shards_of_a_cancelled_run(server: Arena):
    run, cancelled = await start(server), await start(server)
    [(queue,), *_] = await shards(server, cancelled, "queue")
    async with server.database.writing() as connection:
        taken = text("UPDATE agent_run_shards SET worker = 'w' WHERE run_id = :run")
        await connection.execute(taken, {"run": run.id})
    assert (await run_state(server.database, run.id, [], [str(queue)])).others_wait
    await server.executor.cancel(cancelled.id, TEAM)
    assert not (await run_state(server.database, run.id, [], [str(queue)])).others_wait


async def test_what_a_machine_cannot_do_it_says_before_the_first_question(
    server: Arena, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("ARENA_TEST_SECRET", raising=False)
    agent = {
        "id": "secret",
        "connector": {
            "type": "python",
            "callable": "parrot:answer",
            "env": ["ARENA_TEST_SECRET"],
        },
    }
    (settings.home / "agents" / "secret.yaml").write_text(yaml.safe_dump(agent))
    write_tests(settings.home / "benchmarks" / "secret.yaml", count=3, agents=["secret"])
    server.registry.refresh()
    server.catalog.refresh()
    async with worker(settings, name="poor"):
        run = await start(server, "secret")

        async def refused() -> bool:
            return (await shards(server, run, "problem")) != [(None,)]

        await until(refused)
        [(problem,)] = await shards(server, run, "problem")
        assert problem == (
            "worker poor: the environment variable ARENA_TEST_SECRET is not set; "
            "set it before starting Arena"
        )
        assert (await server.runs.get(run.id, TEAM)).completed_tests == 0
        # As on another machine, which has it.
        monkeypatch.setenv("ARENA_TEST_SECRET", "a secret value")
        done = await ended(server, run)
    assert (done.status, done.passed_tests) == ("completed", 3)
    assert await shards(server, run, "problem", "failures") == [(None, 0)]


async def test_a_run_that_no_worker_can_execute_fails_and_can_be_resumed(
    server: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    from arena.runs import shard_worker

    monkeypatch.setattr(shard_worker, "FIRST_REFUSAL_SECONDS", 0.01)
    run = await start(server)
    program = settings.home / "agents" / "parrot.py"
    before = program.read_text()
    program.write_text(before + "\n# changed\n")
    async with worker(settings):
        failed = await ended(server, run)
        assert failed.status == "failed"
        assert "differs from the copy on the machine" in (failed.error_message or "")
        program.write_text(before)
        await server.executor.resume(run.id, TEAM)
        done = await ended(server, run)
    assert (done.status, done.passed_tests, done.error_message) == ("completed", 30, None)


async def test_an_agent_that_a_worker_cannot_read_fails_its_run(
    server: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    """As one of a newer release of Arena, with a key that this one does not know."""
    from arena.runs import shard_worker

    monkeypatch.setattr(shard_worker, "FIRST_REFUSAL_SECONDS", 0.01)
    run = await start(server)
    newer = """UPDATE agent_frozen_agents SET body = body || '{"key_of_later": 1}'"""
    async with server.database.writing() as connection:
        await connection.execute(text(newer))
    async with worker(settings):
        failed = await ended(server, run)
    assert failed.status == "failed"
    assert "key_of_later" in (failed.error_message or "")


async def test_a_run_ends_for_a_reason_that_the_database_cannot_store(
    server: Arena, settings: Settings
):
    run = await start(server)
    await end_run_early(server.database, run.id, "the agent printed \0")
    async with worker(settings):
        failed = await ended(server, run)
    assert (failed.status, failed.error_message) == ("failed", "the agent printed \ufffd")


async def test_an_agent_with_a_label_waits_for_a_worker_that_has_it(
    server: Arena, settings: Settings
):
    write_agent(settings.home / "agents", "placed", "return prompt.upper()", placement="gpu")
    write_tests(settings.home / "benchmarks" / "placed.yaml", count=2, agents=["placed"])
    server.registry.refresh()
    server.catalog.refresh()
    async with worker(settings):
        run = await start(server, "placed")
        assert (await ended(server, await start(server))).status == "completed"
        assert await shards(server, run, "state", "worker", "queue") == [
            ("queued", None, "shards.gpu")
        ]
        async with worker(settings, labels=("gpu",)):
            assert (await ended(server, run)).passed_tests == 2


async def test_an_agent_that_does_not_answer_fails_its_run_as_embedded(
    server: Arena, settings: Settings
):
    agent = {"id": "gone", "connector": {"type": "http", "url": "http://127.0.0.1:9/"}}
    (settings.home / "agents" / "gone.yaml").write_text(yaml.safe_dump(agent))
    write_tests(settings.home / "benchmarks" / "gone.yaml", count=20, agents=["gone"])
    server.registry.refresh()
    server.catalog.refresh()
    async with worker(settings):
        run = await ended(server, await start(server, "gone"))
    assert (run.status, run.completed_tests, run.errored_tests) == ("failed", 0, 20)
    assert "127.0.0.1" in (run.error_message or "")


async def test_a_resumed_run_uses_the_agent_and_the_budget_of_now(
    server: Arena, settings: Settings
):
    """At once: its worker still has what it opened for the first execution."""
    agent: dict[str, object] = {
        "id": "moved",
        "connector": {"type": "http", "url": "http://127.0.0.1:9/"},
    }
    path = settings.home / "agents" / "moved.yaml"
    path.write_text(yaml.safe_dump(agent))
    write_tests(settings.home / "benchmarks" / "moved.yaml", count=6, agents=["moved"])
    server.registry.refresh()
    server.catalog.refresh()
    async with worker(settings):
        run = await ended(server, await start(server, "moved", budget=Budget(max_minutes=60)))
        assert run.status == "failed"
        agent["connector"] = {"type": "python", "callable": "parrot:answer"}
        path.write_text(yaml.safe_dump(agent))
        server.registry.refresh()
        await server.executor.resume(run.id, TEAM)
        run = await ended(server, run)
    assert (run.status, run.passed_tests) == ("completed", 6)


async def test_jobs_that_were_lost_are_added_again(server: Arena, settings: Settings):
    run = await start(server)
    async with server.database.writing() as connection:
        await connection.execute(text("TRUNCATE procrastinate_jobs CASCADE"))
    async with worker(settings):
        assert (await ended(server, run)).status == "completed"


async def test_a_shard_that_its_worker_has_forgotten_gets_a_job(
    server: Arena, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    from arena.runs.records import queueing

    write_agent(settings.home / "agents", "placed", "return prompt.upper()", placement="gpu")
    write_tests(settings.home / "benchmarks" / "placed.yaml", count=2, agents=["placed"])
    server.registry.refresh()
    server.catalog.refresh()
    run = await start(server, "placed")
    async with worker(settings, name="forgetful"):
        async with server.database.writing() as connection:
            await connection.execute(text("TRUNCATE procrastinate_jobs CASCADE"))
            taken = (
                "UPDATE agent_run_shards SET worker = 'forgetful', token = 't', taken_at = now()"
            )
            await connection.execute(text(taken))
        assert await queueing.reconcile_runs(server.database, server.queue) == 0
        monkeypatch.setattr(queueing, "JOBLESS_SECONDS", 0)
        async with worker(settings, labels=("gpu",)):
            assert (await ended(server, run)).status == "completed"


async def test_a_draining_worker_ends_when_nothing_waits(server: Arena, settings: Settings):
    run = await start(server)
    lines = Lines()
    async with open_arena(settings) as arena, asyncio.timeout(30):
        await Worker(arena, WorkerOptions(has_sandbox=False, is_draining=True), lines.append).run(
            lines.append
        )
    assert (await server.runs.get(run.id, TEAM)).status == "completed"


async def test_many_trials_of_one_test_are_shared(server: Arena, settings: Settings):
    async with AsyncExitStack() as closing:
        await closing.enter_async_context(worker(settings))
        run = await start(server, trials=300, test_ids=("parrot_00001",))
        assert (await ended(server, run)).passed_tests == 300
    trials = await shards(server, run, "first_trial", "last_trial")
    assert len(trials) > 1 and trials[0][0] == 1 and trials[-1][1] == 300


async def test_a_run_left_by_a_process_goes_on_with_workers(server: Arena, settings: Settings):
    """Interrupted while it was embedded, resumed after the switch to workers."""
    run = await server.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    left = text(
        "UPDATE agent_benchmark_runs SET status = 'running', started_at = now(), "
        "lease_token = 'gone', lease_expires_at = now() - interval '1 minute'"
    )
    async with server.database.writing() as connection:
        await connection.execute(left)
    await server.executor.resume(run.id, TEAM)
    async with worker(settings):
        assert (await ended(server, run)).passed_tests == 30


async def test_a_shard_that_comes_to_its_own_worker_again_is_written_once(
    server: Arena, settings: Settings, tmp_path: Path
):
    """A worker that was stopped for some seconds takes itself for dead when it goes on."""
    gate, log = tmp_path / "gate", tmp_path / "asked"
    body = (
        f"open({str(log)!r}, 'a').write(prompt + chr(10))\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        "return prompt.upper()"
    )
    write_agent(settings.home / "agents", "gated", body, limits={"max_concurrency": 2})
    write_tests(settings.home / "benchmarks" / "gated.yaml", count=8, agents=["gated"])
    server.registry.refresh()
    server.catalog.refresh()

    async def asked(number: int) -> bool:
        return log.exists() and len(log.read_text().splitlines()) >= number

    async with worker(settings) as (_, lines):
        run = await start(server, "gated")
        await until(lambda: asked(2))
        async with server.database.writing() as connection:
            again = "UPDATE procrastinate_jobs SET status = 'todo', scheduled_at = NULL"
            await connection.execute(text(again))
        await until(lambda: _has_attempts(server, run, 2))
        gate.touch()
        done = await ended(server, run)
        await lines.wait_for("lost")
    assert (done.status, done.error_message) == ("completed", None)
    assert (done.passed_tests, done.completed_tests) == (8, 8)


async def _has_attempts(server: Arena, run: Run, number: int) -> bool:
    return (number,) in await shards(server, run, "attempts")


async def test_a_worker_that_stops_does_not_wait_for_a_database_that_is_away(
    server: Arena, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from arena.queue import queue
    from arena.runs import patience

    for module in (patience, queue):
        monkeypatch.setattr(module, "STOP_SECONDS", 0.5)
    began, gate = tmp_path / "began", tmp_path / "gate"
    body = (
        f"open({str(began)!r}, 'w').close()\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        "return prompt.upper()"
    )
    write_agent(settings.home / "agents", "gated", body)
    write_tests(settings.home / "benchmarks" / "gated.yaml", count=8, agents=["gated"])
    server.registry.refresh()
    server.catalog.refresh()
    run = await start(server, "gated")
    async with open_arena(settings) as arena:
        lines = Lines()
        stopping = Worker(arena, WorkerOptions(has_sandbox=False), lines.append)
        task = asyncio.create_task(stopping.run(lines.append))
        await until(lambda: asyncio.to_thread(began.exists))
        async with away(settings):
            gate.touch()
            stopping.stop()
            async with asyncio.timeout(30):
                await task
    async with worker(settings):
        done = await ended(server, run)
    assert (done.status, done.passed_tests) == ("completed", 8)


@asynccontextmanager
async def away(settings: Settings) -> AsyncIterator[None]:
    """The database of these settings accepts no connections until the block ends."""
    url = make_url(settings.database)
    name = url.database
    other = url.set(database="postgres", drivername="postgresql").render_as_string(False)
    async with await psycopg.AsyncConnection.connect(other, autocommit=True) as connection:
        await connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        await connection.execute(cut, [name])
        yield
        await connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())


async def test_one_worker_that_cannot_execute_a_run_does_not_end_it_while_another_is_busy(
    server: Arena, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from arena.runs import shard_worker

    monkeypatch.setattr(shard_worker, "FIRST_REFUSAL_SECONDS", 0.01)
    began, gate = tmp_path / "began", tmp_path / "gate"
    body = (
        f"open({str(began)!r}, 'w').close()\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        "return prompt.upper()"
    )
    write_agent(settings.home / "agents", "gated", body)
    write_tests(settings.home / "benchmarks" / "gated.yaml", count=1, agents=["gated"])
    server.registry.refresh()
    server.catalog.refresh()
    other = settings.model_copy(update={"sandbox": "docker"})
    async with worker(settings, shards=1):
        gated = await start(server, "gated")
        await until(lambda: asyncio.to_thread(began.exists))
        async with worker(other, name="unable") as (_, lines):
            run = await start(server)

            async def refused() -> bool:
                return sum("cannot be executed here" in line for line in lines) > 6

            await until(refused)
            gate.touch()
            runs = [await ended(server, run), await ended(server, gated)]
    assert [run.status for run in runs] == ["completed", "completed"]


async def test_teams_take_turns_however_many_runs_one_of_them_has(
    server: Arena, settings: Settings
):
    async def of(team: str) -> Run:
        run = await server.executor.create(RunRequest(team_id=team, agent_id="parrot"))
        return await server.executor.start(run.id, team)

    crowd = [await of("crowd") for _ in range(8)]
    single = await of("single")
    async with worker(settings, shards=1) as (_, lines):
        assert (await ended(server, single)).status == "completed"
        done = "\n".join(lines).partition(f"run {str(single.id)[:8]} is completed")[0]
        # A run has two shards; without turns, eight of the crowd's would have come first.
        assert sum(f"run {str(run.id)[:8]} shard" in done for run in crowd) <= 3
        for run in crowd:
            assert (await ended(server, run)).status == "completed"


async def test_a_worker_that_stops_does_not_wait_for_the_rate_of_an_agent(
    server: Arena, settings: Settings
):
    limits = {"max_concurrency": 4, "per_minute": 2}
    write_agent(settings.home / "agents", "seldom", "return prompt.upper()", limits=limits)
    write_tests(settings.home / "benchmarks" / "seldom.yaml", count=8, agents=["seldom"])
    server.registry.refresh()
    server.catalog.refresh()
    run = await start(server, "seldom")

    async def has_two() -> bool:
        return (await server.runs.get(run.id, TEAM)).completed_tests == 2

    async with asyncio.timeout(40), worker(settings):
        await until(has_two)  # the others wait for the next minute
    assert await shards(server, run, "state", "worker") == [("queued", None)]
    assert (await server.runs.get(run.id, TEAM)).completed_tests == 2
    await server.executor.cancel(run.id, TEAM)
