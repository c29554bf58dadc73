"""The loop of an agent: what it takes on, what it does with it, and what it never does twice."""

import asyncio
import threading
from pathlib import Path

import pytest

from arena.client import AgentLoop, Client, Journal, LoopEvent, LoopOptions, TaskResult
from arena.client.journal import Stage
from arena.content.tree import cid_of
from arena.errors import Conflict, InvalidInput
from arena.market.task import Task
from market_offers import ADD, held, judged, posted

QUICK = LoopOptions(poll_seconds=0.2, retry_delay_seconds=0.01)


class Watched:
    """A loop whose events are kept and can be waited for."""

    def __init__(self, loop: AgentLoop) -> None:
        self.loop = loop
        self.events: list[LoopEvent] = []
        self._changed = asyncio.Event()
        loop.on("*", self._keep)

    def _keep(self, event: LoopEvent) -> None:
        self.events.append(event)
        self._changed.set()

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events if event.kind != "trouble"]

    async def until(self, kind: str, count: int = 1) -> None:
        """Run the loop until `count` events of this kind have come."""
        running = asyncio.create_task(self.loop.run())
        while self.kinds.count(kind) < count:
            self._changed.clear()
            waiting = asyncio.create_task(self._changed.wait())
            await asyncio.wait({waiting, running}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if running.done():
                running.result()
                raise AssertionError(f"the loop ended with {self.kinds}")
        self.loop.stop()
        await running


@pytest.mark.parametrize(("score", "end"), [(60, "paid"), (59, "refunded")])
async def test_it_applies_executes_submits_and_reports_the_outcome(
    reader: Client, agent: Client, score: int, end: str
):
    task_id = await posted(reader, assignment="first")
    seen: list[Task] = []

    def execute(task: Task) -> str:
        seen.append(task)
        return ADD

    watched = Watched(AgentLoop(agent, execute=execute, options=QUICK))
    watched.loop.on("submitted", lambda event: judged(reader, event.task.id, score))
    await watched.until(end)
    assert watched.kinds == ["applied", "assigned", "submitted", "judged", end]
    assert [task.id for task in seen] == [task_id]
    assert (await reader.task(task_id)).task.result_hash == cid_of(ADD.encode())
    assert await held(reader, "my-solver") == ("0.05" if end == "paid" else "0")


async def test_it_ignores_unsuitable_tasks(reader: Client, agent: Client):
    cheap = await posted(reader, reward="0.01")
    unwanted = await posted(reader, description="Write a poem.")
    judging = await posted(reader, judge="my-solver")
    suitable = await posted(reader)

    async def is_suitable(task: Task) -> bool:
        return "add" in task.description

    options = LoopOptions(min_reward="0.02", max_concurrent=9, poll_seconds=0.2)
    loop = AgentLoop(agent, execute=lambda task: ADD, evaluate=is_suitable, options=options)
    assert [task.id for task in await loop.candidates()] == [suitable]
    await loop.step()
    for task_id in (cheap, unwanted, judging):
        assert (await reader.task(task_id)).applicants == []
    assert len((await reader.task(suitable)).applicants) == 1


async def test_it_never_applies_for_more_tasks_than_it_can_do(reader: Client, agent: Client):
    for _ in range(5):
        await posted(reader)
    loop = AgentLoop(agent, execute=lambda task: ADD, options=LoopOptions(max_concurrent=2))
    for _ in range(3):
        await loop.step()
        assert (await reader.tasks(applicant="my-solver")).count == 2


async def test_more_tasks_than_it_can_do_at_a_time_wait_their_turn(reader: Client, agent: Client):
    """Several late applications may all be accepted at once."""
    tasks = [await posted(reader) for _ in range(4)]
    for task_id in tasks:
        await agent.apply(task_id)
        await reader.assign(task_id, by="alice", agent="my-solver")
    more = await posted(reader)
    working: set[int] = set()
    may_answer = asyncio.Event()

    async def execute(task: Task) -> str:
        working.add(task.id)
        assert len(working) <= 2
        await may_answer.wait()
        working.remove(task.id)
        return ADD

    options = LoopOptions(max_concurrent=2, poll_seconds=0.2, retries=0)
    watched = Watched(AgentLoop(agent, execute=execute, options=options))
    for _ in range(3):
        await watched.loop.step()
        await asyncio.sleep(0)  # lets the accepted tasks start
        assert len(working) == 2
    assert (await reader.task(more)).applicants == []
    may_answer.set()
    await watched.until("submitted", len(tasks))
    done = await reader.all_tasks(state="submitted", agent="my-solver")
    assert sorted(task.id for task in done) == tasks
    assert "failed" not in watched.kinds


async def test_plain_functions_work_on_as_many_tasks_at_a_time_as_they_may(
    reader: Client, agent: Client
):
    """Each waits for all the others: one by one, none would ever finish."""
    count = 8  # more than asyncio has threads for on a small machine
    for _ in range(count):
        await posted(reader, assignment="first")
    together = threading.Barrier(count)

    def execute(task: Task) -> str:
        together.wait(30)
        return ADD

    options = LoopOptions(max_concurrent=count, poll_seconds=0.2, retries=0)
    watched = Watched(AgentLoop(agent, execute=execute, options=options))
    watched.loop.on("failed", lambda event: watched.loop.stop())
    await watched.until("submitted", count)


async def test_a_failing_task_is_retried_and_then_reported(reader: Client, agent: Client):
    task_id = await posted(reader, assignment="first")
    calls: list[int] = []

    def execute(task: Task) -> str:
        calls.append(task.id)
        raise RuntimeError("no idea")

    options = LoopOptions(poll_seconds=0.2, retries=2, retry_delay_seconds=0.01)
    watched = Watched(AgentLoop(agent, execute=execute, options=options))
    await watched.until("holding_back")
    assert len(calls) == 3
    assert watched.kinds[-4:] == ["retrying", "retrying", "failed", "holding_back"]
    assert watched.events[-2].reason == "no idea"
    # It is not lost: a result can still be submitted from elsewhere.
    await watched.loop.complete_task_externally(task_id, ADD)
    assert (await reader.task(task_id)).task.state == "submitted"


@pytest.mark.parametrize("answer", ["", " \n", TaskResult(result_hash=cid_of(b"nowhere"))])
async def test_an_empty_or_missing_result_is_a_failure(reader: Client, agent: Client, answer):
    task_id = await posted(reader, assignment="first")
    options = LoopOptions(poll_seconds=0.2, retries=1, retry_delay_seconds=0.01)
    watched = Watched(AgentLoop(agent, execute=lambda task: answer, options=options))
    await watched.until("failed")
    assert (await reader.task(task_id)).task.state == "assigned"


async def test_without_an_executor_tasks_are_reported_and_completed_elsewhere(
    reader: Client, agent: Client
):
    task_id = await posted(reader, assignment="first")
    watched = Watched(AgentLoop(agent, options=QUICK))
    await watched.until("assigned")
    assert watched.events[-1].task and watched.events[-1].task.id == task_id
    receipt = await watched.loop.complete_task_externally(task_id, ADD)
    assert receipt is not None and receipt.state == "submitted"
    assert watched.kinds[-1] == "submitted"
    # Again: it is already submitted, so nothing happens.
    assert await watched.loop.complete_task_externally(task_id, ADD) is None
    other = await posted(reader)
    with pytest.raises(Conflict, match="not assigned"):
        await watched.loop.complete_task_externally(other, ADD)


async def test_a_restart_at_any_stage_executes_and_submits_nothing_twice(
    reader: Client, agent: Client, tmp_path: Path
):
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    calls: list[int] = []

    def execute(task: Task) -> str:
        calls.append(task.id)
        return ADD

    def loop() -> Watched:
        return Watched(AgentLoop(agent, execute=execute, options=QUICK, journal=Journal(tmp_path)))

    await loop().until("submitted")
    # Killed between the execution and the submission: the result is in the journal.
    journal = Journal(tmp_path)
    entry = journal.get(task_id)
    assert entry is not None and entry.stage is Stage.SUBMITTED
    journal.write(entry, stage=Stage.EXECUTED)
    # The submission arrived but its response was lost: it counts, and is not sent again.
    watched = Watched(AgentLoop(agent, execute=execute, journal=Journal(tmp_path), options=QUICK))
    assert await watched.loop.complete_task_externally(task_id, ADD) is None
    await judged(reader, task_id, 100)
    again = loop()
    await again.until("paid")
    assert again.kinds == ["judged", "paid"]
    assert calls == [task_id]
    kinds = [event.kind for event in (await reader.task(task_id)).events]
    assert kinds.count("ResultSubmitted") == 1


async def test_two_loops_cannot_share_one_journal(agent: Client, tmp_path: Path):
    first = AgentLoop(agent, options=QUICK, journal=Journal(tmp_path))
    second = AgentLoop(agent, options=QUICK, journal=Journal(tmp_path))
    running = asyncio.create_task(first.run())
    await asyncio.sleep(0.1)
    with pytest.raises(Conflict, match="already works"):
        await second.run()
    first.stop()
    await running


async def test_a_loop_needs_an_agent(reader: Client):
    with pytest.raises(InvalidInput, match="signer"):
        AgentLoop(reader)
