"""What an agent hears of tasks that are out of its hands."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena import clock
from arena.client import AgentLoop, Client, Journal, LoopEvent
from arena.client.journal import Stage
from arena.content import cid_of
from arena.schemas import TaskJudge
from market_offers import ADD, posted

Pass = Callable[[float], None]


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


async def judged(reader: Client, task_id: int, score: int) -> None:
    task = (await reader.task(task_id)).task
    assert task.agent and task.result_hash
    verdict = TaskJudge(
        by="judy",
        score=score,
        winner=task.agent,
        result_hash=task.result_hash,
        reason_uri=cid_of(b"why"),
    )
    await reader.judge(task_id, verdict)


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


async def test_a_task_that_ran_out_unsubmitted_is_told_once(
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
