"""The loop of an agent when things go wrong around it: nothing is done twice, nothing is hidden."""

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena import clock
from arena.cli.executor import CommandExecutor
from arena.client import AgentLoop, Client, Journal, LoopEvent, LoopOptions
from arena.content.tree import cid_of
from arena.errors import InfrastructureError, NotFound
from arena.market.task import Task
from market_offers import ADD, posted

QUICK = LoopOptions(poll_seconds=0.2, retry_delay_seconds=0.01)


async def run_until(loop: AgentLoop, is_enough: Callable[[], bool]) -> None:
    """Run the loop until enough has happened; an error that ends it is raised."""
    running = asyncio.create_task(loop.run())
    async with asyncio.timeout(30):
        while not is_enough() and not running.done():
            await asyncio.sleep(0.01)
        loop.stop()
        await running


async def test_a_result_submitted_during_a_poll_is_not_produced_again(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    """The page says `assigned`, but by the time it is read the task has been submitted."""
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    calls: list[int] = []
    may_answer = asyncio.Event()

    async def execute(task: Task) -> str:
        calls.append(task.id)
        await may_answer.wait()
        return ADD

    loop = AgentLoop(agent, execute=execute, options=QUICK)
    kinds: list[str] = []
    loop.on("*", lambda event: kinds.append(event.kind))
    await loop.step()
    listed = agent.tasks

    async def late(**filters: Any) -> Any:
        page = await listed(**filters)
        if "assigned" in (filters.get("state") or ()) and not may_answer.is_set():
            may_answer.set()
            while loop._working:
                await asyncio.sleep(0.01)
        return page

    monkeypatch.setattr(agent, "tasks", late)
    await loop.step()
    await asyncio.gather(*loop._working.values())
    assert calls == [task_id]
    assert kinds.count("submitted") == 1


async def test_a_listener_that_fails_ends_the_loop_and_nothing_is_executed_again(
    reader: Client, agent: Client, tmp_path: Path
):
    await posted(reader, assignment="first")
    calls: list[int] = []

    def execute(task: Task) -> str:
        calls.append(task.id)
        raise RuntimeError("no idea")

    def broken(event: LoopEvent) -> None:
        raise BrokenPipeError("the reader has gone")

    options = LoopOptions(poll_seconds=0.1, retries=0)
    loop = AgentLoop(agent, execute=execute, options=options, journal=Journal(tmp_path))
    loop.on("failed", broken)
    with pytest.raises(BrokenPipeError):
        await run_until(loop, lambda: len(calls) > 3)
    again = AgentLoop(agent, execute=execute, options=options, journal=Journal(tmp_path))
    await again.step()
    assert again._working == {}
    assert len(calls) == 1


async def test_a_journal_that_cannot_be_written_ends_the_loop(
    reader: Client, agent: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    await posted(reader, assignment="first")
    journal = Journal(tmp_path)
    calls: list[int] = []

    def full(*_: object, **__: object) -> None:
        raise InfrastructureError("the journal: No space left on device")

    def execute(task: Task) -> str:
        calls.append(task.id)
        monkeypatch.setattr(journal, "write", full)
        return ADD

    loop = AgentLoop(agent, execute=execute, options=QUICK, journal=journal)
    with pytest.raises(InfrastructureError, match="No space"):
        await run_until(loop, lambda: len(calls) > 3)
    assert len(calls) == 1


@pytest.mark.parametrize("answer", ["a\0b", "x" * (8 * 1024**2 + 1), "\ud800"])
async def test_a_text_that_no_request_can_carry_is_a_failure_and_reported(
    reader: Client, agent: Client, answer: str
):
    await posted(reader, assignment="first")
    calls: list[int] = []

    def execute(task: Task) -> str:
        calls.append(task.id)
        return answer

    options = LoopOptions(poll_seconds=0.1, retries=1, retry_delay_seconds=0.01)
    loop = AgentLoop(agent, execute=execute, options=options)
    failed: list[LoopEvent] = []
    loop.on("failed", failed.append)
    await run_until(loop, lambda: bool(failed))
    assert len(calls) == 2
    assert failed[0].reason


@pytest.mark.parametrize("hours", [-30, -1, 30])
async def test_an_agent_whose_clock_is_wrong_still_earns(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch, hours: int
):
    """Only the server's clock decides, so signatures are dated by it."""
    task_id = await posted(reader, assignment="first")
    off = clock.now
    monkeypatch.setattr(
        "arena.market.signing.clock",
        type("Wrong", (), {"now": staticmethod(lambda: off() + timedelta(hours=hours))}),
    )
    monkeypatch.setattr(
        "arena.operations.market.clock",
        type("Wrong", (), {"now": staticmethod(lambda: off() + timedelta(hours=hours))}),
    )
    loop = AgentLoop(agent, execute=lambda task: ADD, options=QUICK)
    events: list[LoopEvent] = []
    loop.on("*", events.append)
    await run_until(loop, lambda: any(event.kind in ("submitted", "failed") for event in events))
    assert (await reader.task(task_id)).task.state == "submitted"


async def test_an_agent_that_is_not_registered_is_reported(reader: Client, connect: Any):
    await posted(reader)
    loop = AgentLoop(connect("a-stranger"), execute=lambda task: ADD, options=QUICK)
    with pytest.raises(NotFound, match="not registered"):
        await loop.step()
    events: list[LoopEvent] = []
    loop.on("trouble", events.append)
    await run_until(loop, lambda: len(events) > 1)
    assert "register" in (events[0].reason or "")


async def test_expired_applications_leave_room_for_others(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    """A task that has run out of time may stay open; an agent must not wait for it."""
    real = clock.now
    hours = [0]
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(hours=hours[0]))
    dead = await posted(reader)
    loop = AgentLoop(agent, execute=lambda task: ADD, options=LoopOptions(max_concurrent=1))
    await loop.step()
    assert (await reader.tasks(applicant="my-solver")).count == 1
    hours[0] = 2
    fresh = await posted(reader)
    await loop.step()
    assert (await reader.task(dead)).task.state == "open"
    assert len((await reader.task(fresh)).applicants) == 1


async def test_an_unanswered_application_takes_a_place_for_one_minute_only(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    start = clock.now()
    seconds = [0]
    monkeypatch.setattr(clock, "now", lambda: start + timedelta(seconds=seconds[0]))
    ignored, other = await posted(reader), await posted(reader)
    loop = AgentLoop(agent, options=LoopOptions(max_concurrent=1))
    await loop.step()
    seconds[0] = 59
    await loop.step()
    # After a restart it waits exactly as long: the server knows when it applied.
    again = AgentLoop(agent, options=LoopOptions(max_concurrent=1))
    await again.step()
    assert (await reader.task(other)).applicants == []
    seconds[0] = 60
    assert [await one.room() for one in (loop, again)] == [1, 1]
    await loop.step()
    assert len((await reader.task(other)).applicants) == 1
    # A late assignment still counts; until the task is done there is no room.
    await reader.assign(ignored, by="alice", agent="my-solver")
    seconds[0] = 120
    assert [await one.room() for one in (loop, again)] == [0, 0]


async def test_a_failing_solver_does_not_keep_taking_tasks(reader: Client, agent: Client):
    first = await posted(reader, assignment="first")
    second = await posted(reader, assignment="first")
    may_answer = False

    async def execute(task: Task) -> str:
        if not may_answer:
            raise RuntimeError("no idea")
        return ADD

    options = LoopOptions(poll_seconds=0.1, retries=0, hold_back_seconds=3600.0)
    loop = AgentLoop(agent, execute=execute, options=options)
    events: list[LoopEvent] = []
    loop.on("*", events.append)

    async def poll() -> None:
        await loop.step()
        await asyncio.gather(*loop._working.values())

    for _ in range(4):
        await poll()
    assert [event.kind for event in events] == ["applied", "assigned", "failed", "holding_back"]
    assert events[-1].reason == "a task failed, so it applies for no other for 600 s"
    assert (await reader.task(first)).task.state == "assigned"
    assert (await reader.task(second)).applicants == []
    # It still does the tasks it has; once one succeeds it applies again.
    may_answer = True
    mine = await posted(reader)
    await agent.apply(mine)
    await reader.assign(mine, by="alice", agent="my-solver")
    for _ in range(3):
        await poll()
    assert (await reader.task(mine)).task.state == "submitted"
    assert (await reader.task(second)).task.state == "submitted"


async def test_it_holds_back_longer_with_each_failure_in_a_row(reader: Client, agent: Client):
    answers = ["", "", ADD, ""]
    for _ in answers:
        await posted(reader, assignment="first")
    options = LoopOptions(poll_seconds=0.1, retries=0, hold_back_seconds=0.01)
    loop = AgentLoop(agent, execute=lambda task: answers[task.id - 1], options=options)
    reasons: list[str] = []
    loop.on("holding_back", lambda event: reasons.append(event.reason or ""))
    await run_until(loop, lambda: len(reasons) == 3)
    assert [reason.split(",")[0] for reason in reasons] == [
        "a task failed",
        "2 tasks in a row failed",
        "a task failed",
    ]
    assert [reason.split()[-2] for reason in reasons] == ["0.01", "0.02", "0.01"]


async def test_a_task_whose_deadline_has_passed_is_not_executed(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    real = clock.now
    hours = [0]
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(hours=hours[0]))
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    hours[0] = 2
    calls: list[int] = []

    def execute(task: Task) -> str:
        calls.append(task.id)
        return ADD

    loop = AgentLoop(agent, execute=execute, options=QUICK)
    failed: list[LoopEvent] = []
    loop.on("failed", failed.append)
    await run_until(loop, lambda: bool(failed or calls))
    assert calls == []
    assert "deadline" in (failed[0].reason or "")


async def test_many_unsuitable_tasks_do_not_hide_the_suitable_one(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("arena.operations.tasks.TASKS_PAGE", 2)
    suitable = await posted(reader)
    for _ in range(3):
        await posted(reader, description="Write a poem.")
    loop = AgentLoop(agent, evaluate=lambda task: "add" in task.description)
    assert [task.id for task in await loop.candidates()] == [suitable]


async def test_a_task_it_has_applied_for_is_no_candidate(reader: Client, agent: Client):
    first, second = await posted(reader), await posted(reader)
    loop = AgentLoop(agent, options=LoopOptions(max_concurrent=1))
    await loop.step()
    assert (await reader.task(first)).task.applicant_count == 1
    assert [task.id for task in await loop.candidates()] == [second]
    assert await loop.room() == 0


async def test_it_stops_even_if_the_server_does_not_answer(
    agent: Client, monkeypatch: pytest.MonkeyPatch
):
    loop = AgentLoop(agent, options=QUICK)
    requested = asyncio.Event()

    async def silent(**_: Any) -> Any:
        requested.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(agent, "tasks", silent)
    running = asyncio.create_task(loop.run())
    await requested.wait()
    loop.stop()
    done, _ = await asyncio.wait({running}, timeout=10)
    running.cancel()
    assert done
    await asyncio.gather(running, return_exceptions=True)


async def test_a_server_that_is_unavailable_for_days_does_not_end_the_loop(agent: Client):
    loop = AgentLoop(agent, options=LoopOptions(retry_delay_seconds=0.0))
    await loop._pause(None, "away", 5000)  # type: ignore[arg-type]


async def test_output_that_is_plainly_an_error_is_retried_and_never_submitted(
    reader: Client, agent: Client, tmp_path: Path
):
    """F6: the command fails without saying so by its exit code, and does better the third time."""
    outputs = [
        '{"resultPreview": "def add"}',
        'loading\n{"result": "x"}',
        json.dumps({"result": ADD}),
    ]
    for number, output in enumerate(outputs, start=1):
        (tmp_path / f"output-{number}").write_text(output)
    program = tmp_path / "solver.sh"
    program.write_text(f'cd {tmp_path}; echo x >> runs; cat "output-$(wc -l < runs | tr -d " ")"')
    task_id = await posted(reader, assignment="first")
    execute = CommandExecutor(["sh", str(program)], tmp_path / "jobs", timeout_seconds=60)
    loop = AgentLoop(agent, execute=execute, options=QUICK)
    reasons: list[str] = []
    loop.on("retrying", lambda event: reasons.append(event.reason or ""))
    kinds: list[str] = []
    loop.on("*", lambda event: kinds.append(event.kind))
    await run_until(loop, lambda: "submitted" in kinds)
    assert ["resultPreview" in reasons[0], "other lines" in reasons[1], len(reasons)] == [
        True,
        True,
        2,
    ]
    assert (await reader.task(task_id)).task.result_hash == cid_of(ADD.encode())


async def test_an_outage_is_reported_once(agent: Client, monkeypatch: pytest.MonkeyPatch):
    calls: list[int] = []

    async def away() -> Any:
        calls.append(1)
        raise InfrastructureError("no response")

    monkeypatch.setattr(agent, "market", away)
    loop = AgentLoop(agent, options=LoopOptions(poll_seconds=0.01))
    reasons: list[str | None] = []
    loop.on("trouble", lambda event: reasons.append(event.reason))
    await run_until(loop, lambda: len(calls) > 2)
    assert reasons == ["no response"]


async def test_a_task_that_needs_a_commitment_is_left_to_the_person_who_applied(
    reader: Client, agent: Client
):
    now = clock.now()
    task_id = await posted(
        reader,
        assignment="first",
        commit_deadline=now + timedelta(minutes=10),
        deadline=now + timedelta(hours=1),
    )
    await agent.apply(task_id)
    executed: list[int] = []
    loop = AgentLoop(agent, execute=lambda task: executed.append(task.id) or ADD, options=QUICK)
    await loop.step()
    await loop.step()
    assert executed == []
    assert not loop._working
