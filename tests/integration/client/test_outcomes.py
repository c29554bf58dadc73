"""What an agent learns about its submitted tasks, and what it does if nobody else acts."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena import clock
from arena.client import AgentLoop, Client, Journal, LoopEvent
from arena.client.journal import Stage
from market_offers import ADD, held, judged, posted

Pass = Callable[[float], None]
SPLIT = {
    "assignment": "first",
    "judge_window_seconds": 3600,
    "timeout_policy": "split",
    "agent_share_percent": 40,
}


@pytest.fixture
def let_pass(monkeypatch: pytest.MonkeyPatch) -> Pass:
    """Advances everybody's clock by so many seconds."""
    real, moved = clock.now, [0.0]
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=moved[0]))

    def move(seconds: float) -> None:
        moved[0] += seconds

    return move


def record_events(loop: AgentLoop) -> list[LoopEvent]:
    """The events of the loop from now on."""
    events: list[LoopEvent] = []
    loop.on("*", events.append)
    return events


def kinds(events: list[LoopEvent]) -> list[str]:
    return [event.kind for event in events]


async def submitted(reader: Client, agent: Client, **terms: Any) -> tuple[AgentLoop, int]:
    """A loop whose one task waits for its judge."""
    task_id = await posted(reader, **{**SPLIT, **terms})
    await agent.apply(task_id)
    loop = AgentLoop(agent)
    await loop.step()
    await loop.complete_task_externally(task_id, ADD)
    return loop, task_id


async def test_an_agent_gets_its_share_if_the_judge_is_absent(
    reader: Client, agent: Client, let_pass: Pass
):
    loop, task_id = await submitted(reader, agent)
    events = record_events(loop)
    let_pass(3500)
    await loop.step()
    assert events == []
    let_pass(200)
    await loop.step()
    await loop.step()
    assert kinds(events) == ["expired"]
    assert events[0].task and str(events[0].task.payout) == "0.02"
    assert await held(reader, "my-solver") == "0.02"
    assert (await reader.task(task_id)).task.expiry_reason == "no_verdict"


async def test_the_fallback_judge_gets_its_window_first(
    reader: Client, agent: Client, let_pass: Pass
):
    terms = {"fallback_judge": "joan", "fallback_window_seconds": 3600}
    loop, task_id = await submitted(reader, agent, **terms)
    let_pass(3700)
    await loop.step()
    assert (await reader.task(task_id)).task.state == "submitted"
    let_pass(3600)
    await loop.step()
    assert (await reader.task(task_id)).task.state == "expired"


async def test_a_verdict_that_nobody_disputes_is_settled(
    reader: Client, agent: Client, let_pass: Pass
):
    terms = {
        "dispute_window_seconds": 600,
        "arbiter": "ann",
        "arbiter_window_seconds": 600,
        "bond": "0.01",
    }
    loop, task_id = await submitted(reader, agent, **terms)
    events = record_events(loop)
    await judged(reader, task_id, 80)
    await loop.step()
    assert kinds(events) == ["judged"]
    let_pass(700)
    await loop.step()
    assert kinds(events) == ["judged", "paid"]
    assert await held(reader, "my-solver") == "0.05"


async def test_a_task_that_somebody_else_expires_first_is_no_error(
    reader: Client, agent: Client, let_pass: Pass, monkeypatch: pytest.MonkeyPatch
):
    loop, _ = await submitted(reader, agent)
    events = record_events(loop)
    let_pass(3700)
    expire = agent.expire

    async def late(task_id: int, **given: Any) -> Any:
        await reader.expire(task_id)
        return await expire(task_id, **given)

    monkeypatch.setattr(agent, "expire", late)
    await loop.step()
    assert kinds(events) == ["expired"]


@pytest.mark.parametrize("stage", [Stage.ASSIGNED, Stage.EXECUTED, Stage.FAILED])
async def test_a_result_submitted_by_hand_is_followed_to_its_end(
    reader: Client, agent: Client, tmp_path: Path, stage: Stage
):
    """Whatever the loop did with it before: reported it, executed it or gave up."""
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    journal = Journal(tmp_path)
    await AgentLoop(agent, journal=journal).step()
    entry = journal.get(task_id)
    assert entry is not None
    journal.write(entry, stage=stage, text=ADD)
    loop = AgentLoop(agent, journal=Journal(tmp_path))
    events = record_events(loop)
    await agent.submit(task_id, ADD)
    await loop.step()
    assert kinds(events) == ["submitted"]
    await judged(reader, task_id, 100)
    await loop.step()
    await loop.step()
    assert kinds(events) == ["submitted", "judged", "paid"]
    assert [entry.task_id for entry in Journal(tmp_path).entries(Stage.ENDED)] == [task_id]


async def test_a_task_that_ran_out_unsubmitted_is_reported_once(
    reader: Client, agent: Client, let_pass: Pass
):
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    loop = AgentLoop(agent)
    events = record_events(loop)
    await loop.step()
    let_pass(7200)
    await loop.step()
    # The agent gains nothing by expiring it, so it leaves that to others.
    assert (await reader.task(task_id)).task.state == "assigned"
    await reader.close_due()
    await loop.step()
    await loop.step()
    assert kinds(events) == ["assigned", "expired"]


async def test_a_poll_during_a_submission_does_not_report_it_twice(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    loop = AgentLoop(agent)
    events = record_events(loop)
    await loop.step()
    submit = agent.submit

    async def slow(*args: Any, **given: Any) -> Any:
        receipt = await submit(*args, **given)
        await loop.step()
        return receipt

    monkeypatch.setattr(agent, "submit", slow)
    await loop.complete_task_externally(task_id, ADD)
    assert kinds(events) == ["assigned", "submitted"]
