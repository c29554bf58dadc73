"""The market through the API: what it does, what it refuses, and its errors."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from arena import clock
from arena.cli.parties import reason_uri
from arena.client import Client, Signer
from arena.content.canonical import canonical
from arena.content.tree import cid_of
from arena.errors import ArenaError, Conflict, Forbidden, InvalidInput, NotFound
from arena.market.task import Task
from market_offers import ADD, STANDARD, held, offer, posted


def verdict(score: int = 100, **changes: object) -> dict[str, Any]:
    return {
        "by": "judy",
        "score": score,
        "winner": "my-solver",
        "result_hash": cid_of(ADD.encode()),
        "reason_uri": cid_of(b"why"),
        **changes,
    }


async def submitted(reader: Client, agent: Client, **terms: object) -> int:
    task_id = await posted(reader, assignment="first", **terms)
    await agent.apply(task_id)
    await agent.submit(task_id, ADD)
    return task_id


async def test_the_story_of_a_task_has_every_event_and_posting(reader: Client, agent: Client):
    task_id = await posted(reader)
    assert await held(reader, "alice") == "9.95"
    await agent.apply(task_id)
    await reader.assign(task_id, by="alice", agent="my-solver")
    receipt = await agent.submit(task_id, ADD)
    assert receipt.state == "submitted"
    assert (await reader.judge(task_id, **verdict(60))).state == "paid"
    story = await reader.task(task_id)
    assert [event.kind for event in story.events] == [
        "TaskPosted",
        "Applied",
        "Assigned",
        "ResultSubmitted",
        "Judged",
        "Paid",
    ]
    assert story.events[0].data["reward"] == "0.05"
    assert story.events[-1].data == {"to": "my-solver", "amount": "0.05"}
    assert [one.agent for one in story.applicants] == ["my-solver"]
    amounts = [(line.account, str(line.amount)) for e in story.entries for line in e.postings]
    assert amounts == [
        ("user:alice", "-0.05"),
        (f"escrow:{task_id}", "0.05"),
        (f"escrow:{task_id}", "-0.05"),
        ("user:my-solver", "0.05"),
    ]
    assert await held(reader, "my-solver") == "0.05"
    assert (await reader.market_agent("my-solver")).reputation.average_score == 60
    assert (await reader.audit()).is_clean
    wire = TypeAdapter(Task).dump_python(story.task, mode="json")
    assert wire["evaluationCID"] == cid_of(canonical(STANDARD))
    assert wire["resultHash"] == cid_of(ADD.encode())
    assert {"evaluation_cid", "result_hash", "reason_uri"}.isdisjoint(wire)


async def test_a_score_of_59_refunds(reader: Client, agent: Client):
    task_id = await submitted(reader, agent)
    assert (await reader.judge(task_id, **verdict(59))).state == "refunded"
    assert await held(reader, "alice") == "10"


@pytest.mark.parametrize("reason", ["", " \n "])
async def test_a_verdict_needs_a_reason(reader: Client, agent: Client, reason: str):
    task_id = await submitted(reader, agent)
    with pytest.raises(InvalidInput, match="--reason is empty"):
        await reason_uri(reader, reason)
    with pytest.raises(InvalidInput, match="reasonURI"):
        await reader.judge(task_id, **verdict(reason_uri=reason))
    assert (await reader.task(task_id)).task.state == "submitted"


async def test_a_standard_may_be_named_by_its_cid(reader: Client):
    cid = (await reader.put_content(canonical(STANDARD))).cid
    task_id = await posted(reader, evaluation=None, evaluationCID=cid)
    assert (await reader.task(task_id)).task.evaluation_cid == cid


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"evaluation": {**STANDARD, "pass_score": 70}}, "set its pass_score to 60"),
        ({"evaluation": {"type": "test_cases"}}, "evaluation standard"),
        ({"evaluation": None}, "give either"),
        ({"evaluationCID": cid_of(b"x")}, "give either"),
        ({"evaluation": None, "evaluationCID": cid_of(b"x")}, "not in the content store"),
        ({"evaluation": None, "evaluationCID": "rubbish"}, "evaluation standard"),
        ({"judge": None}, "judge is missing"),
        ({"reward": "0"}, "reward"),
        ({"deadline": clock.now() - timedelta(seconds=1)}, "later than now"),
        ({"dispute_window_seconds": 3600}, "arbiter"),
        ({"poster": "a b"}, "poster"),
    ],
)
async def test_invalid_terms_are_refused_and_lock_nothing(
    reader: Client, terms: dict[str, object], message: str
):
    with pytest.raises(InvalidInput, match=message):
        await reader.post_task(offer(**terms))
    assert await held(reader, "alice") == "10"
    assert (await reader.tasks()).tasks == []


async def test_nobody_spends_what_they_do_not_have(reader: Client):
    with pytest.raises(Conflict) as refused:
        await reader.post_task(offer(reward="10.000001"))
    assert refused.value.code == "insufficient_funds"


async def test_a_call_under_the_same_key_is_one_call(reader: Client):
    new = offer(idempotency_key="mine")
    first, second = await reader.post_task(new), await reader.post_task(new)
    assert first == second
    with pytest.raises(Conflict) as refused:
        await reader.post_task(offer(reward="0.06", idempotency_key="mine"))
    assert refused.value.code == "key_conflict"
    await reader.deposit_test_money("bob", "1", key="gift")
    await reader.deposit_test_money("bob", "1", key="gift")
    assert await held(reader, "bob") == "1"


async def test_only_the_agent_itself_applies_and_submits(reader: Client, agent: Client, connect):
    task_id = await posted(reader, assignment="first")
    thief = connect()
    thief.signer = Signer.new("my-solver")  # the name, but not the key
    with pytest.raises(Forbidden) as refused:
        await thief.apply(task_id)
    assert refused.value.code == "bad_signature"
    stranger = connect("stranger")
    with pytest.raises(ArenaError, match="stranger"):
        await stranger.apply(task_id)
    await agent.apply(task_id)
    with pytest.raises(Forbidden):
        await thief.submit(task_id, ADD)
    with pytest.raises(Conflict, match="my-solver"):
        await thief.register()


async def test_a_result_by_hash_must_be_in_the_store(reader: Client, agent: Client):
    task_id = await posted(reader, assignment="first")
    await agent.apply(task_id)
    with pytest.raises(InvalidInput) as refused:
        await agent.submit(task_id, result_hash=cid_of(ADD.encode()))
    assert refused.value.code == "bad_content"
    cid = (await agent.put_content(ADD.encode())).cid
    assert (await agent.submit(task_id, result_hash=cid)).state == "submitted"


async def test_only_the_judge_judges_and_only_the_submitted_result(reader: Client, agent: Client):
    task_id = await submitted(reader, agent)
    for bad_verdict, code in (
        (verdict(by="mallory"), "wrong_role"),
        (verdict(winner="another"), "wrong_role"),
        (verdict(result_hash=cid_of(b"another")), "bad_content"),
    ):
        with pytest.raises(ArenaError) as refused:
            await reader.judge(task_id, **bad_verdict)
        assert refused.value.code == code
    await reader.judge(task_id, **verdict())
    with pytest.raises(Conflict) as refused:
        await reader.judge(task_id, **verdict(0))
    assert refused.value.code == "wrong_state"
    assert await held(reader, "my-solver") == "0.05"


async def test_a_dispute_is_decided_by_the_arbiter(reader: Client, agent: Client):
    await reader.deposit_test_money("my-solver", "1")
    terms = {"arbiter": "ann", "arbiter_window_seconds": 3600, "bond": "0.5"}
    task_id = await submitted(reader, agent, dispute_window_seconds=3600, **terms)
    await reader.judge(task_id, **verdict(10))
    with pytest.raises(Conflict, match="settle opens at"):
        await reader.settle(task_id)
    with pytest.raises(Forbidden, match="must sign"):
        await reader.dispute(task_id, by="my-solver", reason_uri="https://example.org/why")
    assert await held(reader, "my-solver") == "1"
    await agent.dispute(task_id, by="my-solver", reason_uri="https://example.org/why")
    assert await held(reader, "my-solver") == "0.5"
    done = await reader.resolve(task_id, by="ann", score=90, reason_uri="https://example.org/so")
    assert done.state == "paid"
    assert await held(reader, "my-solver") == "1.05"
    task = (await reader.task(task_id)).task
    assert (task.score, task.final_score, task.disputed_by) == (10, 90, "my-solver")


async def test_cancel_and_expire_give_the_reward_back(reader: Client, monkeypatch):
    first, second = await posted(reader), await posted(reader)
    with pytest.raises(Forbidden):
        await reader.cancel(first, by="bob")
    assert (await reader.cancel(first, by="alice")).state == "cancelled"
    with pytest.raises(Conflict) as early:
        await reader.expire(second)
    assert early.value.code == "too_early"
    later = clock.now() + timedelta(hours=2)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert (await reader.expire(second)).state == "expired"
    third = (await reader.tasks(state="expired")).tasks[0]
    assert third.expiry_reason == "no_submission"
    assert (await reader.close_due()).count == 0
    assert await held(reader, "alice") == "10"


async def test_lists_are_filtered_and_paged(reader: Client, agent: Client):
    numbers = [await posted(reader, reward=f"0.0{n}") for n in range(1, 6)]
    await agent.apply(numbers[1])
    first = await reader.tasks(limit=2)
    assert [task.id for task in first.tasks] == numbers[:2:-1]
    rest = await reader.tasks(limit=2, cursor=first.next_cursor)
    assert [task.id for task in rest.tasks] == numbers[2:0:-1]
    assert [task.id for task in (await reader.tasks(min_reward="0.04")).tasks] == numbers[:2:-1]
    assert [task.id for task in (await reader.tasks(applicant="my-solver")).tasks] == [numbers[1]]
    assert (await reader.tasks(state=["paid", "refunded"])).tasks == []
    assert (await reader.tasks(judge="judy")).count == 5
    with pytest.raises(InvalidInput, match="min_reward"):
        await reader.tasks(min_reward="0,5")


async def test_an_unknown_filter_is_an_error(reader: Client):
    for call in (reader.tasks, reader.all_tasks, reader.market_events, reader.runs):
        with pytest.raises(TypeError):
            await call(stat="paid")  # pyright: ignore[reportCallIssue]


async def test_another_team_has_another_market(reader: Client, agent: Client, connect):
    task_id = await posted(reader)
    other = connect(team="others")
    assert (await other.tasks()).tasks == []
    with pytest.raises(NotFound):
        await other.task(task_id)
    assert await held(other, "alice") == "0"
    assert (await other.market()).market != (await reader.market()).market


async def test_the_ledger_shows_deposits_and_withdrawals(reader: Client):
    await reader.withdraw_test_money("alice", "0.5")
    for _ in range(3):
        await posted(reader)
    page = await reader.ledger_history("alice", limit=2)
    assert [str(line.amount) for line in page.lines] == ["-0.05", "-0.05"]
    rest = await reader.ledger_history("alice", cursor=page.next_cursor)
    assert [str(line.amount) for line in rest.lines] == ["-0.05", "-0.5", "10"]
    assert [str(line.balance) for line in rest.lines] == ["9.45", "9.5", "10"]
    with pytest.raises(Conflict, match="alice"):
        await reader.withdraw_test_money("alice", "100")
    accounts = {one.account: str(one.amount) for one in (await reader.balances()).balances}
    assert accounts["outside"] == "-9.5"


async def test_the_market_can_be_watched(reader: Client, connect):
    seen: list[str] = []

    async def watch() -> None:
        async for event in connect().watch_market():
            seen.append(event.kind)
            if event.kind == "Cancelled":
                return

    watching = asyncio.create_task(watch())
    since = (await reader.market_events()).last_id
    task_id = await posted(reader)
    while "TaskPosted" not in seen and not watching.done():
        # The watcher may have connected only after the first one was posted.
        await asyncio.sleep(0.3)
        await posted(reader)
    await reader.cancel(task_id, by="alice")
    await watching
    assert seen[-1] == "Cancelled"
    after = await reader.market_events(since=since, task_id=task_id)
    assert [event.kind for event in after.events] == ["TaskPosted", "Cancelled"]
