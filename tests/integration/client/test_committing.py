"""Commit and reveal: the salt survives every crash, and nothing is shown too early."""

from datetime import timedelta
from pathlib import Path

import pytest

from arena import clock
from arena.client import Client
from arena.client.committing import Commitments, commit_result, reveal_result
from arena.content.tree import cid_of
from arena.errors import Conflict, InfrastructureError, NotFound
from arena.market.signing import commitment_of
from market_offers import ADD, posted

DATA = ADD.encode()


@pytest.fixture
def hour(monkeypatch: pytest.MonkeyPatch):
    """Moves the clock of the market forward by hours."""
    real, gone = clock.now, [timedelta()]
    monkeypatch.setattr(clock, "now", lambda: real() + gone[0])

    def wait(hours: float) -> None:
        gone[0] += timedelta(hours=hours)

    return wait


async def assigned(reader: Client, agent: Client) -> int:
    now = clock.now()
    task_id = await posted(
        reader,
        assignment="first",
        commit_deadline=now + timedelta(hours=1),
        deadline=now + timedelta(hours=3),
    )
    await agent.apply(task_id)
    return task_id


async def test_a_result_is_committed_to_and_revealed(
    reader: Client, agent: Client, tmp_path: Path, hour
):
    task_id = await assigned(reader, agent)
    kept = Commitments(tmp_path / "commitments")
    await commit_result(agent, kept, task_id, DATA)
    await commit_result(agent, kept, task_id, DATA)  # again: nothing happens
    task = (await reader.task(task_id)).task
    result = kept.get(task_id, task.commitment)
    market = (await reader.market()).market
    assert task.state == "committed"
    assert task.commitment == commitment_of(market, task_id, "my-solver", cid_of(DATA), result.salt)
    assert oct(next(kept.folder.iterdir()).stat().st_mode)[-3:] == "600"
    with pytest.raises(Conflict, match="already has a commitment, to another result"):
        await commit_result(agent, kept, task_id, b"something else")
    with pytest.raises(Conflict, match="can be revealed from"):
        await reveal_result(agent, kept, task_id)
    with pytest.raises(NotFound):  # nothing was shown yet
        await reader.content(cid_of(DATA))
    hour(1)
    await reveal_result(agent, kept, task_id)
    task = (await reader.task(task_id)).task
    assert (task.state, task.result_hash) == ("submitted", cid_of(DATA))
    assert list(kept.folder.iterdir()) == []


async def test_every_lost_answer_can_be_repeated(
    reader: Client, agent: Client, tmp_path: Path, hour, monkeypatch: pytest.MonkeyPatch
):
    """The process is killed before its commitment arrives, after it, and after the result did."""
    task_id = await assigned(reader, agent)
    kept = Commitments(tmp_path / "commitments")
    send, submit = agent.commit, agent.submit

    async def never_arrives(*_: object, **__: object) -> None:
        raise InfrastructureError("killed before")

    async def answer_lost(*words: object, **named: object) -> None:
        await send(*words, **named)
        raise InfrastructureError("killed after")

    async def result_answer_lost(*words: object, **named: object) -> None:
        await submit(*words, **named)
        raise InfrastructureError("killed after")

    for trouble in (never_arrives, answer_lost):
        monkeypatch.setattr(agent, "commit", trouble)
        with pytest.raises(InfrastructureError, match="killed"):
            await commit_result(agent, Commitments(kept.folder), task_id, DATA)
    monkeypatch.setattr(agent, "commit", send)
    await commit_result(agent, Commitments(kept.folder), task_id, DATA)
    hour(1)
    monkeypatch.setattr(agent, "submit", result_answer_lost)
    with pytest.raises(InfrastructureError, match="killed after"):
        await reveal_result(agent, Commitments(kept.folder), task_id)
    await reveal_result(agent, Commitments(kept.folder), task_id)
    assert (await reader.task(task_id)).task.result_hash == cid_of(DATA)


async def test_what_cannot_be_revealed_says_why(reader: Client, agent: Client, tmp_path: Path):
    kept = Commitments(tmp_path / "commitments")
    task_id = await assigned(reader, agent)
    with pytest.raises(Conflict, match="has no commitment: make one with arena task commit"):
        await reveal_result(agent, kept, task_id)
    await commit_result(agent, kept, task_id, DATA)
    with pytest.raises(NotFound, match="made elsewhere"):
        await reveal_result(agent, Commitments(tmp_path / "other"), task_id)
