"""Processes of one judge share its tasks by claims."""

import asyncio

import pytest

from arena.market.call import Action, Call
from arena.market.errors import AlreadyClaimed, LostClaim, WrongRole, WrongState
from arena.market.records.claims import CLAIM_SECONDS
from market_desk import TEAM, Desk

ONE, OTHER = "one" * 8, "other" * 8


async def take(desk: Desk, task_id: int, token: str, by: str = "jim"):
    return await desk.market.claim(TEAM, task_id, by=by, token=token)


def verdict(task, claim: str | None) -> Call:
    return Call(
        action=Action.JUDGE,
        by="jim",
        agent=task.agent,
        score=80,
        result_hash=task.result_hash,
        reason_uri="why",
        claim=claim,
    )


async def test_of_many_processes_exactly_one_gets_a_task(desk: Desk):
    task_id = await desk.submitted()
    takers = [take(desk, task_id, f"process-number-{n:04}") for n in range(8)]
    taken = await asyncio.gather(*takers, return_exceptions=True)
    refused = [one for one in taken if isinstance(one, AlreadyClaimed)]
    assert (len(taken) - len(refused), len(refused)) == (1, 7)


async def test_a_claim_is_renewed_by_its_process_and_expires_without_it(desk: Desk):
    task_id = await desk.submitted()
    first = await take(desk, task_id, ONE)
    desk.wait(CLAIM_SECONDS - 1)
    renewed = await take(desk, task_id, ONE)
    assert renewed.until > first.until
    desk.wait(CLAIM_SECONDS - 1)
    with pytest.raises(AlreadyClaimed):
        await take(desk, task_id, OTHER)
    desk.wait(1)
    assert (await take(desk, task_id, OTHER)).token == OTHER
    with pytest.raises(AlreadyClaimed):
        await take(desk, task_id, ONE)


async def test_the_verdict_of_a_process_that_lost_its_claim_is_refused(desk: Desk):
    task_id = await desk.submitted()
    task = await desk.market.task(TEAM, task_id)
    await take(desk, task_id, ONE)
    desk.wait(CLAIM_SECONDS)
    await take(desk, task_id, OTHER)
    with pytest.raises(LostClaim):
        await desk.market.act(TEAM, task_id, verdict(task, ONE))
    await desk.market.act(TEAM, task_id, verdict(task, OTHER))
    judged = await desk.market.task(TEAM, task_id)
    assert (judged.state, judged.claimed_until) == ("paid", None)
    with pytest.raises(WrongState):
        await take(desk, task_id, OTHER)


async def test_a_person_may_judge_a_claimed_task(desk: Desk):
    task_id = await desk.submitted()
    await take(desk, task_id, ONE)
    await desk.judge(task_id, 80)
    assert (await desk.market.task(TEAM, task_id)).state == "paid"


async def test_a_released_task_is_free_at_once_but_not_by_others(desk: Desk):
    task_id = await desk.submitted()
    await take(desk, task_id, ONE)
    await desk.market.release(TEAM, task_id, token=OTHER)
    await desk.market.release("blue", task_id, token=ONE)
    with pytest.raises(AlreadyClaimed):
        await take(desk, task_id, OTHER)
    await desk.market.release(TEAM, task_id, token=ONE)
    await take(desk, task_id, OTHER)


async def test_only_the_judge_whose_window_is_open_can_claim(desk: Desk):
    task_id = await desk.submitted(fallback_judge="fay", fallback_window_seconds=300)
    with pytest.raises(WrongRole):
        await take(desk, task_id, ONE, by="fay")
    desk.wait(599)
    await take(desk, task_id, ONE)
    desk.wait(1)  # the claim ends with the window: the fallback judge need not wait for it
    await take(desk, task_id, OTHER, by="fay")
    with pytest.raises(WrongRole):
        await take(desk, task_id, ONE)
