"""What an agent hears of tasks that are out of its hands, and what it does if nobody else acts."""

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
    """Moves everybody's clock on by so many seconds."""
    real, moved = clock.now, [0.0]
    monkeypatch.setattr(clock, "now", lambda: real() + timedelta(seconds=moved[0]))

    def move(seconds: float) -> None:
        moved[0] += seconds

    return move


def listened(loop: AgentLoop) -> list[LoopEvent]:
    """All that the loop tells from now on."""
    told: list[LoopEvent] = []
    loop.on("*", told.append)
    return told


def kinds(told: list[LoopEvent]) -> list[str]:
    return [event.kind for event in told]


async def handed_in(reader: Client, agent: Client, **terms: Any) -> tuple[AgentLoop, int]:
    """A loop whose one task waits for its judge."""
    task_id = await posted(reader, **{**SPLIT, **terms})
    await agent.apply(task_id)
    loop = AgentLoop(agent)
    await loop.step()
    await loop.complete_task_externally(task_id, ADD)
    return loop, task_id


async def test_an_agent_gets_its_share_although_the_judge_is_away(
    reader: Client, agent: Client, let_pass: Pass
):
    loop, task_id = await handed_in(reader, agent)
    told = listened(loop)
    let_pass(3500)
    await loop.step()
    assert told == []
    let_pass(200)
    await loop.step()
    await loop.step()
    assert kinds(told) == ["expired"]
    assert told[0].task and str(told[0].task.payout) == "0.02"
    assert await held(reader, "my-solver") == "0.02"
    assert (await reader.task(task_id)).task.expiry_reason == "no_verdict"


async def test_the_fallback_judge_has_its_time_first(reader: Client, agent: Client, let_pass: Pass):
    terms = {"fallback_judge": "joan", "fallback_window_seconds": 3600}
    loop, task_id = await handed_in(reader, agent, **terms)
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
    loop, task_id = await handed_in(reader, agent, **terms)
    told = listened(loop)
    await judged(reader, task_id, 80)
    await loop.step()
    assert kinds(told) == ["judged"]
    let_pass(700)
    await loop.step()
    assert kinds(told) == ["judged", "paid"]
    assert await held(reader, "my-solver") == "0.05"


async def test_somebody_who_ends_it_first_is_no_error(
    reader: Client, agent: Client, let_pass: Pass, monkeypatch: pytest.MonkeyPatch
):
    loop, _ = await handed_in(reader, agent)
    told = listened(loop)
    let_pass(3700)
    expire = agent.expire

    async def late(task_id: int, **given: Any) -> Any:
        await reader.expire(task_id)
        return await expire(task_id, **given)

    monkeypatch.setattr(agent, "expire", late)
    await loop.step()
    assert kinds(told) == ["expired"]


@pytest.mark.parametrize("stage", [Stage.ASSIGNED, Stage.EXECUTED, Stage.FAILED])
async def test_what_a_person_hands_in_is_followed_to_its_end(
    reader: Client, agent: Client, tmp_path: Path, stage: Stage
):
    """Whatever the loop had done with it before: told of it, done it, or given it up."""
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    journal = Journal(tmp_path)
    await AgentLoop(agent, journal=journal).step()
    entry = journal.get(task_id)
    assert entry is not None
    journal.write(entry, stage=stage, text=ADD)
    loop = AgentLoop(agent, journal=Journal(tmp_path))
    told = listened(loop)
    await agent.submit(task_id, ADD)
    await loop.step()
    assert kinds(told) == ["submitted"]
    await judged(reader, task_id, 100)
    await loop.step()
    await loop.step()
    assert kinds(told) == ["submitted", "judged", "paid"]
    assert [entry.task_id for entry in Journal(tmp_path).entries(Stage.ENDED)] == [task_id]


async def test_a_task_that_ran_out_unsubmitted_is_reported_once(
    reader: Client, agent: Client, let_pass: Pass
):
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    loop = AgentLoop(agent)
    told = listened(loop)
    await loop.step()
    let_pass(7200)
    await loop.step()
    # The agent gets nothing by ending it, so it leaves that to others.
    assert (await reader.task(task_id)).task.state == "assigned"
    await reader.close_due()
    await loop.step()
    await loop.step()
    assert kinds(told) == ["assigned", "expired"]


async def test_a_look_while_a_result_is_on_its_way_does_not_tell_of_it_too(
    reader: Client, agent: Client, monkeypatch: pytest.MonkeyPatch
):
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    loop = AgentLoop(agent)
    told = listened(loop)
    await loop.step()
    submit = agent.submit

    async def slow(*words: Any, **given: Any) -> Any:
        receipt = await submit(*words, **given)
        await loop.step()
        return receipt

    monkeypatch.setattr(agent, "submit", slow)
    await loop.complete_task_externally(task_id, ADD)
    assert kinds(told) == ["assigned", "submitted"]
