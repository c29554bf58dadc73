"""Whole runs, with real agents in real processes, on both databases."""

import asyncio
import json
import threading
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import DateTime, bindparam, text

from arena import clock
from arena.assembly import Arena, open_arena
from arena.errors import Conflict, InvalidInput, NotFound
from arena.models.step import Step
from arena.runs import dispatch
from arena.runs.owner import Owner
from arena.runs.records import reader
from arena.runs.run import Run, RunRequest
from arena.settings import Settings
from arena.store.tables.table import Id
from factories import write_agent, write_tests

TEAM = "team"


async def execute(house: Arena, agent_id: str = "parrot", **options: object) -> Run:
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id=agent_id, **options))
    await house.executor.start(run.id, TEAM)
    return await house.executor.wait(run.id)


async def counted(house: Arena, run_id: UUID) -> tuple[int, int, int]:
    """Results in the database: all, passed, failed."""
    query = text(
        "SELECT count(*), count(*) FILTER (WHERE passed), count(*) FILTER (WHERE NOT passed)"
        " FROM agent_benchmark_results WHERE run_id = :run"
    )
    run = str(run_id) if house.database.dialect == "sqlite" else run_id
    async with house.database.reading() as connection:
        return tuple((await connection.execute(query, {"run": run})).one())


def use(settings: Settings, agent_id: str, body: str, **keys: object) -> None:
    write_agent(settings.home / "agents", agent_id, body, **keys)


@pytest.fixture
async def house(house: Arena) -> Arena:
    return house


async def test_a_run_is_pending_until_it_is_executed_and_then_completed(house: Arena):
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    assert (run.status, run.total_tests, run.completed_tests) == ("pending", 5, 0)
    await house.executor.start(run.id, TEAM)
    run = await house.executor.wait(run.id)
    assert (run.status, run.completed_tests, run.passed_tests) == ("completed", 5, 5)
    assert (run.score_percent, run.points_percent) == (100.0, 100.0)


async def test_the_duration_of_a_run_is_its_wall_time_and_not_the_sum_over_its_tests(house: Arena):
    pending = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    assert (pending.duration_seconds, pending.results_duration_seconds) == (0, 0)
    started = await house.executor.start(pending.id, TEAM)
    assert started.duration_seconds >= 0
    run = await house.executor.wait(pending.id)
    took = (run.completed_at - run.started_at).total_seconds()
    assert run.duration_seconds == round(took, 3)
    results = (await house.runs.results(run.id)).results
    assert run.results_duration_seconds == round(sum(r.duration_seconds for r in results), 6)
    assert run.started_at and run.completed_at and run.started_at <= run.completed_at


async def test_the_counters_are_the_rows_they_count(house: Arena, settings: Settings):
    use(settings, "half", "return prompt.upper() if prompt[-1] in '135' else 'no'")
    write_tests(settings.home / "benchmarks" / "half.yaml", count=5, agents=["half"])
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "half")
    assert (run.completed_tests, run.passed_tests, run.failed_tests) == (5, 3, 2)
    assert await counted(house, run.id) == (5, 3, 2)
    assert run.score_percent == 60.0


async def test_points_are_counted_beside_the_score(house: Arena, settings: Settings):
    use(settings, "one", "return prompt.upper() if prompt.endswith('d1') else 'no'")
    folder = settings.home / "benchmarks"
    write_tests(folder / "heavy.yaml", count=1, agents=["one"], points=3.0)
    write_tests(folder / "light.yaml", count=2, agents=["one"], points=0.5)
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "one")
    assert run.score_percent == 66.67
    assert run.points_percent == 87.5
    assert (run.points_earned, run.points_possible) == (3.5, 4.0)


async def test_a_run_keeps_the_tests_it_was_created_with(house: Arena, settings: Settings):
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    file = settings.home / "benchmarks" / "parrot.yaml"
    write_tests(file, count=2, agents=["parrot"], expected={"contains": ["never said"]})
    house.catalog.refresh()
    await house.executor.start(run.id, TEAM)
    run = await house.executor.wait(run.id)
    assert (run.total_tests, run.passed_tests) == (5, 5)
    assert (await execute(house)).passed_tests == 0


async def test_trials_repeat_each_test(house: Arena):
    run = await execute(house, trials=3)
    assert (run.total_tests, run.passed_tests) == (15, 15)
    results = (await house.runs.results(run.id)).results
    trials = {(recorded.test_id, recorded.trial) for recorded in results}
    assert len(trials) == 15
    assert {trial for _, trial in trials} == {1, 2, 3}


async def test_a_test_may_set_its_own_number_of_trials(house: Arena, settings: Settings):
    file = settings.home / "benchmarks" / "more.yaml"
    write_tests(file, count=1, agents=["parrot"], trials=4)
    house.catalog.refresh()
    assert (await execute(house)).total_tests == 5 + 4
    assert (await execute(house, trials=1)).total_tests == 6


async def test_only_a_run_of_everything_is_full(house: Arena):
    assert (await execute(house)).is_full
    part = await execute(house, test_ids=("parrot_00001",))
    assert (part.is_full, part.total_tests) == (False, 1)
    assert (await execute(house, category="parrot")).is_full


@pytest.mark.parametrize(
    ("body", "timeout", "status", "reason"),
    [
        ("os._exit(7)", 30, "failed", "exit"),
        ("raise ValueError('broken inside')", 30, "failed", "broken inside"),
        ("return ''", 30, "failed", "nothing"),
        ("time.sleep(60)", 2, "timeout", "2 s"),
    ],
)
async def test_an_agent_that_fails_has_failed_its_test_and_the_run_continues(
    house: Arena, settings: Settings, body: str, timeout: int, status: str, reason: str
):
    use(settings, "bad", f"if prompt.endswith('d2'): {body}\nreturn prompt.upper()")
    tests = settings.home / "benchmarks" / "bad.yaml"
    write_tests(tests, count=3, agents=["bad"], timeout=timeout)
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "bad")
    assert (run.status, run.passed_tests, run.failed_tests) == ("completed", 2, 1)
    (failed,) = (await house.runs.results(run.id, outcome="failed")).results
    assert failed.status == status
    assert reason in (failed.failure_reason or "")


async def test_a_run_fails_if_the_agent_is_unavailable_and_can_be_resumed(
    house: Arena, settings: Settings
):
    agent = settings.home / "agents" / "absent.yaml"
    agent.write_text(
        "id: absent\nname: Absent\ndescription: Not installed\n"
        "connector: {type: command, command: ./not-there}\n"
    )
    write_tests(settings.home / "benchmarks" / "absent.yaml", count=3, agents=["absent"])
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "absent")
    assert (run.status, run.completed_tests, run.errored_tests) == ("failed", 0, 3)
    assert "not-there" in (run.error_message or "")
    assert await house.runs.errors(run.id)

    program = settings.home / "agents" / "not-there"
    program.write_text("#!/bin/sh\ntr a-z A-Z\n")
    program.chmod(0o755)
    await house.executor.resume(run.id, TEAM)
    run = await house.executor.wait(run.id)
    assert (run.status, run.passed_tests, run.errored_tests) == ("completed", 3, 0)
    assert run.error_message is None
    assert await house.runs.errors(run.id) == []


class Overloaded(BaseHTTPRequestHandler):
    """An HTTP agent that is overloaded for one of its questions."""

    def do_POST(self) -> None:
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["prompt"]
        self.send_response(503 if prompt.endswith("d2") else 200)
        self.end_headers()
        self.wfile.write(prompt.upper().encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


async def test_a_run_that_missed_one_test_has_failed_and_says_why(house: Arena, settings: Settings):
    with ThreadingHTTPServer(("127.0.0.1", 0), Overloaded) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (settings.home / "agents" / "busy.yaml").write_text(
            "id: busy\nname: Busy\ndescription: Overloaded\n"
            f"connector: {{type: http, url: 'http://127.0.0.1:{server.server_port}/'}}\n"
        )
        write_tests(settings.home / "benchmarks" / "busy.yaml", count=3, agents=["busy"])
        house.catalog.refresh()
        house.registry.refresh()
        run = await execute(house, "busy")
        server.shutdown()
    assert (run.status, run.completed_tests, run.errored_tests) == ("failed", 2, 1)
    assert "503" in (run.error_message or "")
    (error,) = await house.runs.errors(run.id)
    assert error.test_id == "busy_00002"


async def test_a_run_is_executed_once(house: Arena):
    run = await execute(house)
    with pytest.raises(Conflict, match="completed"):
        await house.executor.start(run.id, TEAM)
    with pytest.raises(Conflict, match="completed"):
        await house.executor.resume(run.id, TEAM)


async def test_of_many_concurrent_starts_exactly_one_succeeds(house: Arena):
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    outcomes = await asyncio.gather(
        *(house.executor.start(run.id, TEAM) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(outcome, Run) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 7
    await house.executor.wait(run.id)
    assert await counted(house, run.id) == (5, 5, 0)


async def test_another_teams_run_is_not_found(house: Arena):
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    for attempt in (
        house.executor.start(run.id, "other"),
        house.executor.cancel(run.id, "other"),
        house.executor.resume(run.id, "other"),
        house.runs.get(run.id, "other"),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await house.runs.list("other") == []


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"agent_id": "parot"}, NotFound),
        ({"agent_id": "parrot", "version": "9.9.9"}, NotFound),
        ({"agent_id": "parrot", "test_ids": ("parrot_0001",)}, NotFound),
        ({"agent_id": "parrot", "test_ids": ("bench_nav_001",)}, InvalidInput),
        ({"agent_id": "parrot", "category": "navigation"}, InvalidInput),
    ],
)
async def test_an_impossible_run_is_refused_and_nothing_is_stored(
    house: Arena, fields: dict[str, object], error: type[Exception]
):
    with pytest.raises(error):
        await house.executor.create(RunRequest(team_id=TEAM, **fields))
    assert await house.runs.list(TEAM) == []


async def test_an_unknown_run_is_not_found(house: Arena):
    with pytest.raises(NotFound):
        await house.runs.get(uuid4(), TEAM)


async def held_run(house: Arena, settings: Settings) -> Run:
    """A run of eight tests whose agent answers the first one, and the rest once released."""
    wait = "while prompt != 'say word1' and not os.path.exists('go'): time.sleep(0.02)"
    use(settings, "held", f"{wait}\nreturn prompt.upper()", limits={"max_concurrency": 2})
    write_tests(settings.home / "benchmarks" / "held.yaml", count=8, agents=["held"])
    house.catalog.refresh()
    house.registry.refresh()
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="held"))
    await house.executor.start(run.id, TEAM)
    async with aclosing(house.watcher.watch(run.id, TEAM)) as events:
        async for event in events:
            if event.run.completed_tests:
                return event.run
    raise AssertionError("the run ended before it had a result")


def let_go(settings: Settings) -> None:
    (settings.home / "agents" / "go").touch()


async def test_a_cancelled_run_stops_and_keeps_what_it_has(house: Arena, settings: Settings):
    run = await held_run(house, settings)
    await house.executor.cancel(run.id, TEAM)
    run = await house.executor.wait(run.id)
    assert run.status == "cancelled"
    assert 0 < run.completed_tests < run.total_tests
    assert (await counted(house, run.id))[0] == run.completed_tests
    with pytest.raises(Conflict):
        await house.executor.resume(run.id, TEAM)


async def test_a_run_cancelled_by_another_process_stops(house: Arena, settings: Settings):
    run = await held_run(house, settings)
    async with open_arena(settings) as other:
        await other.executor.cancel(run.id, TEAM)
    run = await house.executor.wait(run.id)
    assert run.status == "cancelled"
    assert run.completed_tests < run.total_tests


@pytest.mark.embedded
async def test_a_run_interrupted_by_a_shutdown_continues_where_it_stopped(settings: Settings):
    async with open_arena(settings) as house:
        run = await held_run(house, settings)
    async with open_arena(settings) as house:
        stopped = await house.runs.get(run.id, TEAM)
        assert stopped.status == "running"
        assert stopped.completed_tests >= run.completed_tests
        let_go(settings)
        assert [resumed.id for resumed in await house.executor.dispatch.resume_interrupted()] == [
            run.id
        ]
        done = await house.executor.wait(run.id)
        assert (done.status, done.passed_tests) == ("completed", 8)
        assert await counted(house, run.id) == (8, 8, 0)


@pytest.mark.embedded
async def test_a_run_that_is_being_executed_cannot_be_taken_over(house: Arena, settings: Settings):
    run = await held_run(house, settings)
    async with open_arena(settings) as other:
        with pytest.raises(Conflict, match="being executed"):
            await other.executor.resume(run.id, TEAM)
        assert await other.executor.dispatch.resume_interrupted() == []
    let_go(settings)
    await house.executor.wait(run.id)
    assert await counted(house, run.id) == (8, 8, 0)


@pytest.mark.embedded
async def test_an_interrupted_run_of_a_removed_agent_is_left_alone(settings: Settings):
    async with open_arena(settings) as house:
        run = await held_run(house, settings)
    (settings.home / "agents" / "held.yaml").unlink()
    async with open_arena(settings) as house:
        assert await house.executor.dispatch.resume_interrupted() == []
        assert (await house.runs.get(run.id, TEAM)).status == "running"


async def test_a_watcher_sees_every_result_once_and_the_end(house: Arena):
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    await house.executor.start(run.id, TEAM)
    seen = [
        recorded.sequence
        async for event in house.watcher.watch(run.id, TEAM)
        for recorded in event.results
    ]
    assert seen == [1, 2, 3, 4, 5]
    again = [event async for event in house.watcher.watch(run.id, TEAM, after=3)]
    assert [recorded.sequence for recorded in again[-1].results] == [4, 5]
    assert again[-1].run.status == "completed"


async def test_any_output_is_stored_and_comes_back(house: Arena, settings: Settings):
    use(settings, "odd", r"return 'nul \0 surrogate \ud800 emoji \U0001f600 rtl \u202e' + prompt")
    write_tests(settings.home / "benchmarks" / "odd.yaml", count=1, agents=["odd"])
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "odd")
    (recorded,) = (await house.runs.results(run.id)).results
    output = str((recorded.actual_output or {})["output"])
    assert "emoji \U0001f600" in output
    assert "\0" not in output


async def test_runs_are_listed_newest_first_and_page_without_gaps(house: Arena, tmp_path: Path):
    created = [
        (await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))).id
        for _ in range(5)
    ]
    first = await house.runs.list(TEAM, limit=3)
    last = first[-1]
    rest = await house.runs.list(TEAM, limit=3, before=(last.created_at, last.id))
    assert [run.id for run in (*first, *rest)] == created[::-1]
    assert await house.runs.list(TEAM, agent_id="nobody") == []


@pytest.mark.embedded
async def test_a_run_whose_results_cannot_be_written_fails_and_can_be_resumed(
    house: Arena, settings: Settings
):
    rename = "ALTER TABLE {} RENAME TO {}"
    results = "agent_benchmark_results"
    run = await held_run(house, settings)
    async with house.database.writing() as connection:
        await connection.execute(text(rename.format(results, "away")))
    let_go(settings)
    stopped = await house.executor.wait(run.id)
    assert stopped.status == "failed"
    assert results in (stopped.error_message or "")
    async with house.database.writing() as connection:
        await connection.execute(text(rename.format("away", results)))
    await house.executor.resume(run.id, TEAM)
    done = await house.executor.wait(run.id)
    assert (done.status, done.passed_tests) == ("completed", 8)
    assert await counted(house, run.id) == (8, 8, 0)


async def left_running(house: Arena, lease: str | None, *, seconds_left: int) -> Run:
    """A run that an executor with this token started and never finished."""
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    query = text(
        "UPDATE agent_benchmark_runs SET status = 'running', lease_token = :token,"
        " lease_expires_at = :expires WHERE id = :run"
    ).bindparams(
        bindparam("run", type_=Id()),
        bindparam("expires", type_=DateTime(timezone=True)),
    )
    moment = clock.now() + timedelta(seconds=seconds_left)
    async with house.database.writing() as connection:
        await connection.execute(query, {"token": lease, "expires": moment, "run": run.id})
    return run


@pytest.mark.embedded
async def test_every_run_of_a_killed_executor_continues(house: Arena, settings: Settings):
    left = [await left_running(house, "killed", seconds_left=60) for _ in range(3)]
    # A lock file that nobody holds, as a killed process leaves it.
    (settings.home / "executors").mkdir(exist_ok=True)
    (settings.home / "executors" / "killed.lock").touch()
    resumed = await house.executor.dispatch.resume_interrupted()
    assert {run.id for run in resumed} == {run.id for run in left}
    for run in left:
        assert (await house.executor.wait(run.id)).status == "completed"


@pytest.mark.embedded
async def test_a_run_that_is_executed_here_is_not_started_a_second_time(
    house: Arena, settings: Settings
):
    run = await held_run(house, settings)
    # The database kept the executor waiting for longer than its lease lasts.
    expire = text("UPDATE agent_benchmark_runs SET lease_expires_at = '2020-01-01 00:00:00'")
    async with house.database.writing() as connection:
        await connection.execute(expire)
    with pytest.raises(Conflict, match="being executed"):
        await house.executor.resume(run.id, TEAM)
    assert await house.executor.dispatch.resume_interrupted() == []
    let_go(settings)
    done = await house.executor.wait(run.id)
    assert (done.status, done.error_message) == ("completed", None)
    assert await counted(house, run.id) == (8, 8, 0)


@pytest.mark.embedded
async def test_a_run_continues_once_the_lease_of_its_remote_executor_has_expired(house: Arena):
    fresh = await left_running(house, "elsewhere", seconds_left=60)
    silent = await left_running(house, "elsewhere", seconds_left=-1)
    given_back = await left_running(house, None, seconds_left=-1)
    assert [run.id for run in await house.executor.dispatch.resume_silent()] == [silent.id]
    assert (await house.executor.wait(silent.id)).status == "completed"
    assert await house.executor.dispatch.resume_silent() == []
    for untouched in (fresh, given_back):
        assert (await house.runs.get(untouched.id, TEAM)).completed_tests == 0


@pytest.mark.embedded
async def test_a_living_executor_with_an_expired_lease_keeps_its_run(
    house: Arena, settings: Settings
):
    living = Owner(settings.home / "executors")
    run = await left_running(house, living.token, seconds_left=-1)
    assert await house.executor.dispatch.resume_silent() == []
    living.close()
    assert [resumed.id for resumed in await house.executor.dispatch.resume_silent()] == [run.id]
    assert (await house.executor.wait(run.id)).status == "completed"


@pytest.mark.embedded
async def test_a_server_looks_for_interrupted_runs_periodically(
    house: Arena, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dispatch, "RESUME_SECONDS", 0.01)
    async with house.executor.resuming():
        run = await left_running(house, "elsewhere", seconds_left=-1)
        async with aclosing(house.watcher.watch(run.id, TEAM)) as events, asyncio.timeout(30):
            statuses = [event.run.status async for event in events]
    assert statuses[-1] == "completed"


async def test_a_cancelled_start_leaves_no_run_without_an_executor(house: Arena):
    run = await house.executor.create(RunRequest(team_id=TEAM, agent_id="parrot"))
    touch = text("UPDATE agent_benchmark_runs SET category = category")
    async with house.database.writing() as connection:
        await connection.execute(touch)  # the claim has to wait for this transaction
        starting = asyncio.create_task(house.executor.start(run.id, TEAM))
        await asyncio.sleep(0.3)
        starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert (await house.executor.wait(run.id)).status in {"pending", "completed"}


async def test_a_page_of_long_answers_is_short_and_no_result_is_skipped(
    house: Arena, monkeypatch: pytest.MonkeyPatch
):
    run = await execute(house)
    monkeypatch.setattr(reader, "PAGE_CHARACTERS", 1000)  # a small result counts 500
    seen: list[int] = []
    sizes: list[int] = []
    is_behind = True
    while is_behind:
        page = await house.runs.results(run.id, after=seen[-1] if seen else 0, limit=4)
        seen += [recorded.sequence for recorded in page.results]
        sizes.append(len(page.results))
        is_behind = page.has_more
    assert (seen, sizes) == ([1, 2, 3, 4, 5], [2, 2, 1])
    watched = [
        recorded.sequence
        async for event in house.watcher.watch(run.id, TEAM)
        for recorded in event.results
    ]
    assert watched == seen


async def test_the_steps_of_an_agent_are_stored_with_its_result(house: Arena, settings: Settings):
    use(
        settings,
        "doer",
        """
        if prompt.endswith("1"):
            steps = [
                {"tool": "look", "arguments": {"a": [1, "\\0"]}, "result": None},
                {"tool": "write", "result": "ok", "time": "2026-01-31T12:00:00Z"},
            ]
            return {"output": "", "steps": steps}
        if prompt.endswith("2"):
            return {"output": prompt.upper(), "steps": [{"name": "of another system"}]}
        if prompt.endswith("3"):
            return {"output": prompt.upper(), "steps": [object()], "truncated": True}
        return {"output": prompt.upper(), "truncated": "no"}
        """,
    )
    write_tests(settings.home / "benchmarks" / "doer.yaml", count=4, agents=["doer"])
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "doer")
    page = await house.runs.results(run.id)
    called, foreign, cut, plain = sorted(page.results, key=lambda result: result.test_id)
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert called.steps == [
        Step(tool="look", arguments={"a": [1, "�"]}),
        Step(tool="write", result="ok", time=noon),
    ]
    assert called.status == "completed"
    assert json.loads((called.actual_output or {})["output"])[1] == {
        "tool": "write",
        "arguments": None,
    }
    # Steps that Arena cannot read are reported, but do not fail an answer.
    assert (foreign.passed, foreign.steps) == (True, None)
    problem = "steps[0].tool must be the name of a tool"
    assert foreign.actual_output == {"output": "SAY WORD2", "steps_problem": problem}
    assert cut.actual_output == {
        "output": "SAY WORD3",
        "truncated": True,
        "steps_problem": "steps must be a list",
    }
    assert plain.actual_output == {"output": "SAY WORD4"}
