"""Tasks through the interface of the market, on both databases."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from arena.amounts import Amount
from arena.content.canonical import canonical
from arena.content.errors import ContentCorrupt
from arena.content.tree import cid_of
from arena.errors import InvalidInput
from arena.evaluation.verdict import Submission
from arena.market.call import Receipt
from arena.market.errors import (
    BadContent,
    InsufficientFunds,
    KeyConflict,
    TooEarly,
    UnknownTask,
    WrongRole,
    WrongState,
)
from arena.market.signing import Act, commitment_of
from arena.market.task import Assignment, TaskFilter, TaskState, TimeoutPolicy
from arena.reviews.case import NewReview
from arena.reviews.records import open_review
from arena.reviews.review import ReviewSubject, SubjectKind
from arena.scoring.history import Subject
from arena.scoring.scorecard import DEFAULT_WEIGHTS
from arena.scoring.scores import Scores
from arena.settings import Settings
from arena.store.database import Database
from cid_vectors import has
from market_desk import ANSWER, STANDARD, TEAM, Desk
from market_door import Door


async def test_the_numbers_of_a_team_do_not_count_the_work_of_others(desk: Desk):
    for _ in range(3):
        await desk.post()
    deposit = await desk.market.deposit_test_money("blue", "ann", 500)
    posted = await desk.market.post_task("blue", desk.offer())
    assert (deposit.ref, posted.ref, posted.task_id) == (1, 2, 1)
    story = await desk.market.story("blue", 1)
    assert [event.id for event in story.events] == [2]  # the deposit was the first event
    assert [entry.id for entry in story.entries] == [2]
    assert await desk.market.balances("blue") == {
        "outside": -500,
        "user:ann": 400,
        "escrow:1": 100,
    }
    assert await desk.post() == 4
    assert (await desk.market.audit()).is_clean


async def test_tasks_of_two_teams_with_one_number_are_reviewed_apart(desk: Desk):
    def review(team: str) -> NewReview:
        return NewReview(
            team_id=team,
            subject=ReviewSubject(kind=SubjectKind.TASK, id="1"),
            title=f"task 1 of {team}",
            prompt="",
            standard=STANDARD,
            submission=Submission(output=team),
            reviewers_needed=1,
        )

    red, blue = [await open_review(desk.database, review(team)) for team in (TEAM, "blue")]
    assert red.id != blue.id
    assert (await open_review(desk.database, review("blue"))).id == blue.id


async def test_a_task_is_paid_for_work_that_passes(desk: Desk):
    task_id = await desk.post()
    assert await desk.market.balance(TEAM, "ann") == 900
    await desk.apply(task_id)
    desk.wait(10)
    await desk.assign(task_id)
    desk.wait(20)
    await desk.submit(task_id)
    receipt = await desk.judge(task_id, 60)
    assert receipt.state is TaskState.PAID
    assert await desk.market.balances(TEAM) == {
        "outside": -1000,
        "user:ann": 900,
        "user:solver": 100,
    }
    story = await desk.market.story(TEAM, task_id)
    assert [event.kind for event in story.events] == [
        "TaskPosted",
        "Applied",
        "Assigned",
        "ResultSubmitted",
        "Judged",
        "Paid",
    ]
    assert [event.who for event in story.events] == ["ann", "solver", "ann", "solver", "jim", "jim"]
    assert all(event.why for event in story.events)
    assert [entry.kind for entry in story.entries] == ["lock", "settlement"]
    assert (story.task.final_score, story.task.payout, story.task.exit_at) == (60, 100, None)
    assert await desk.market.result_of(story.task) == ANSWER
    known = (await desk.market.agent(TEAM, "solver")).reputation
    assert (known.average_score, known.win_rate, known.attempts) == (60.0, 1.0, 1)
    scores = Scores(desk.database, DEFAULT_WEIGHTS)
    subject = Subject(team_id=TEAM, agent_id="solver", version="1.0.0")
    row = await scores.entry(subject)
    assert row is not None
    assert (row.execution_count, row.success_rate_score) == (1, 100.0)


async def test_a_task_is_refunded_for_work_that_does_not_pass(desk: Desk):
    task_id = await desk.submitted()
    assert (await desk.judge(task_id, 59)).state is TaskState.REFUNDED
    assert await desk.market.balance(TEAM, "ann") == 1000
    known = (await desk.market.agent(TEAM, "solver")).reputation
    assert (known.average_score, known.win_rate) == (59.0, 0.0)


async def test_a_reward_without_funds_posts_nothing(desk: Desk):
    with pytest.raises(InsufficientFunds, match=r"user:ann holds 0.001 TEST, 0.001001 are needed"):
        await desk.post(reward=1001)
    assert await desk.market.tasks(TEAM) == []
    assert await desk.market.balances(TEAM) == {"outside": -1000, "user:ann": 1000}


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ("not a cid", "not a CID"),
        (cid_of(b"nowhere"), "not in the content store"),
        ({"type": "no such type"}, "type"),
        ({"items": ["x"]}, "type"),
        ({"type": "checklist", "items": [float("nan")]}, "standard"),
    ],
)
async def test_a_standard_that_cannot_be_used_locks_no_money(
    desk: Desk, evaluation: Any, message: str
):
    with pytest.raises(BadContent, match=message):
        await desk.post(evaluation=evaluation)
    assert await desk.market.balance(TEAM, "ann") == 1000


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[" * 100_000, b"[1]", b"{}", b"x" * 2**21])
async def test_a_standard_by_cid_is_read_before_money_is_locked(desk: Desk, data: bytes):
    cid = desk.content.put(data)
    with pytest.raises(BadContent):
        await desk.post(evaluation=cid)
    assert await desk.market.balance(TEAM, "ann") == 1000


async def test_a_standard_is_kept_by_its_cid_and_pinned(desk: Desk):
    cid = desk.content.put(canonical(STANDARD))
    by_cid, inline = await desk.post(evaluation=cid), await desk.post(evaluation=STANDARD)
    for task_id in (by_cid, inline):
        task = await desk.market.task(TEAM, task_id)
        assert task.evaluation_cid == cid
        assert await desk.market.contents.standard(task.evaluation_cid)
    assert (desk.content.folder / "pins" / cid).exists()


async def test_a_result_by_cid_must_be_in_the_store(desk: Desk):
    task_id = await desk.post()
    await desk.apply(task_id)
    await desk.assign(task_id)
    for cid in (cid_of(b"never put"), "nonsense"):
        with pytest.raises(BadContent):
            await desk.submit(task_id, cid)
    with pytest.raises(BadContent, match="bytes"):
        await desk.submit(task_id, b"")
    await desk.submit(task_id, desk.content.put(b"put before"))
    assert await desk.market.result_of(await desk.market.task(TEAM, task_id)) == b"put before"


async def test_a_result_that_was_damaged_is_never_judged(desk: Desk):
    task_id = await desk.submitted()
    for block in (desk.content.folder / "blocks").rglob("*"):
        if block.is_file() and block.read_bytes() == ANSWER:
            block.write_bytes(b"something else")
    with pytest.raises(ContentCorrupt):
        await desk.market.result_of(await desk.market.task(TEAM, task_id))


async def test_a_result_is_frozen(desk: Desk):
    task_id = await desk.submitted()
    with pytest.raises(WrongState, match="submitted"):
        await desk.submit(task_id, b"a better one")
    with pytest.raises(BadContent, match="was submitted"):
        other = {"score": 100, "winner": "solver", "result_hash": cid_of(b"a better one")}
        await desk.market.judge(TEAM, task_id, **other, by="jim")


async def test_an_agent_that_may_not_submit_cannot_fill_the_store(desk: Desk):
    task_id = await desk.post()
    await desk.apply(task_id)
    await desk.apply(task_id, "rival")
    await desk.assign(task_id)
    with pytest.raises(WrongRole):
        await desk.submit(task_id, b"uninvited", "rival")
    assert not has(desk.content, cid_of(b"uninvited"))


async def test_another_teams_task_is_unknown(desk: Desk):
    task_id = await desk.submitted()
    market = desk.market
    verdict = {"score": 100, "winner": "solver", "result_hash": cid_of(ANSWER)}
    for call in (
        market.task("blue", task_id),
        market.story("blue", task_id),
        market.applicants("blue", task_id),
        market.judge("blue", task_id, **verdict, by="jim"),
        market.expire("blue", task_id),
        market.task(TEAM, task_id + 1),
        market.task(TEAM, 0),
        market.task(TEAM, -1),
        market.task(TEAM, 10**30),
    ):
        with pytest.raises(UnknownTask):
            await call
    assert await market.tasks("blue") == []
    assert await market.events("blue") == []
    assert await market.balances("blue") == {}


async def test_a_repeated_call_gives_the_same_receipt_even_after_the_window(desk: Desk):
    deadline = desk.at + timedelta(seconds=3600)
    new = desk.offer(deadline=deadline, idempotency_key="p")
    first = await desk.market.post_task(TEAM, new)
    task_id = first.task_id
    assert task_id is not None
    applied = await desk.apply(task_id, key="a")
    await desk.assign(task_id, key="b")
    submitted = await desk.submit(task_id, key="s")
    judged = await desk.judge(task_id, 75, key="j")
    desk.wait(10_000)
    assert await desk.market.post_task(TEAM, new) == first
    assert await desk.apply(task_id, key="a") == applied
    assert await desk.submit(task_id, key="s") == submitted
    assert await desk.judge(task_id, 75, key="j") == judged
    with pytest.raises(KeyConflict, match="'j'"):
        await desk.judge(task_id, 76, key="j")
    assert await desk.market.balance(TEAM, "solver") == 100


async def test_of_many_judges_and_many_processes_exactly_one_settles(
    desk: Desk, settings: Settings
):
    task_id = await desk.submitted()
    others = [Database(settings.database) for _ in range(2)]
    markets = [desk.market, *(Door(database, desk.content) for database in others)]
    verdict = {"winner": "solver", "result_hash": cid_of(ANSWER)}
    ended = await asyncio.gather(
        *(
            market.judge(TEAM, task_id, score=score, **verdict, by="jim")
            for market in markets
            for score in (10, 90)
        ),
        return_exceptions=True,
    )
    for database in others:
        await database.close()
    assert sorted(type(one).__name__ for one in ended) == ["Receipt"] + ["WrongState"] * 5
    story = await desk.market.story(TEAM, task_id)
    assert [entry.kind for entry in story.entries] == ["lock", "settlement"]


async def test_of_two_assignments_at_once_exactly_one_holds(desk: Desk, settings: Settings):
    task_id = await desk.post()
    await desk.apply(task_id)
    await desk.apply(task_id, "rival")
    other = Database(settings.database)
    ended: list[Any] = await asyncio.gather(
        desk.assign(task_id),
        Door(other, desk.content).assign(TEAM, task_id, "rival", by="ann"),
        return_exceptions=True,
    )
    await other.close()
    assert sorted(type(one).__name__ for one in ended) == ["Receipt", "WrongState"]
    agents = {agent.id: agent.reputation.attempts for agent in await desk.market.agents(TEAM)}
    assert sorted(agents.values()) == [0, 1]


async def test_many_deposits_at_once_are_all_counted(desk: Desk):
    await asyncio.gather(*(desk.market.deposit_test_money(TEAM, "bob", 7) for _ in range(20)))
    assert await desk.market.balance(TEAM, "bob") == 140
    history = await desk.market.history(TEAM, "bob", limit=100)
    assert [line.balance for line in history] == [7 * n for n in range(20, 0, -1)]
    page = await desk.market.history(TEAM, "bob", limit=5, before=history[4].entry_id)
    assert list(page) == list(history[5:10])


async def test_a_missed_deadline_counts_against_the_agent(desk: Desk):
    task_id = await desk.post()
    await desk.apply(task_id)
    await desk.assign(task_id)
    with pytest.raises(TooEarly):
        await desk.market.expire(TEAM, task_id)
    desk.wait(3600)
    receipt = await desk.market.expire(TEAM, task_id)
    task = await desk.market.task(TEAM, task_id)
    assert (receipt.state, task.expiry_reason) == ("expired", "no_submission")
    assert await desk.market.balance(TEAM, "ann") == 1000
    assert (await desk.market.agent(TEAM, "solver")).reputation.win_rate == 0.0


async def test_an_absent_judge_does_not_take_the_agents_money(desk: Desk):
    task_id = await desk.submitted(
        timeout_policy=TimeoutPolicy.SPLIT,
        agent_share_percent=33,
        fallback_judge="fay",
        fallback_window_seconds=60,
    )
    desk.wait(600)
    with pytest.raises(TooEarly):
        await desk.market.expire(TEAM, task_id)
    desk.wait(60)
    await desk.market.expire(TEAM, task_id)
    task = await desk.market.task(TEAM, task_id)
    assert (task.expiry_reason, task.payout) == ("no_verdict", 33)
    assert await desk.market.balance(TEAM, "solver") == 33
    assert await desk.market.balance(TEAM, "ann") == 967
    known = (await desk.market.agent(TEAM, "solver")).reputation
    assert (known.attempts, known.decided, known.win_rate) == (1, 0, None)


async def test_a_dispute_is_settled_by_the_arbiter(desk: Desk):
    await desk.market.deposit_test_money(TEAM, "solver", 5)
    task_id = await desk.submitted(
        dispute_window_seconds=60, arbiter="art", arbiter_window_seconds=60, bond=5
    )
    assert (await desk.judge(task_id, 20)).state is TaskState.JUDGED
    await desk.dispute(task_id, "unfair")
    assert (await desk.market.balances(TEAM))[f"bond:{task_id}"] == 5
    receipt = await desk.market.resolve(TEAM, task_id, 95, by="art", reason_uri="it works")
    assert receipt.state is TaskState.PAID
    assert await desk.market.balance(TEAM, "solver") == 105
    assert (await desk.market.agent(TEAM, "solver")).reputation.average_score == 95.0


async def test_a_dispute_needs_its_bond(desk: Desk):
    task_id = await desk.submitted(
        dispute_window_seconds=60, arbiter="art", arbiter_window_seconds=60, bond=5
    )
    await desk.judge(task_id, 20)
    with pytest.raises(InsufficientFunds):
        await desk.dispute(task_id, "unfair")
    assert (await desk.market.task(TEAM, task_id)).state is TaskState.JUDGED


async def test_a_result_can_be_committed_to_before_it_is_revealed(desk: Desk):
    task_id = await desk.post(commit_deadline=desk.at + timedelta(seconds=100))
    await desk.apply(task_id)
    await desk.assign(task_id)
    market_id = await desk.market.market_id(TEAM)
    commitment = commitment_of(market_id, task_id, "solver", cid_of(ANSWER), "pepper")
    with pytest.raises(WrongState, match="commit"):
        await desk.submit(task_id)
    proof = await desk.proof(Act.COMMIT, task_id, "solver", commitment)
    with pytest.raises(BadContent):
        await desk.market.commit_result(TEAM, task_id, "solver", "short", proof)
    await desk.market.commit_result(TEAM, task_id, "solver", commitment, proof)
    with pytest.raises(TooEarly):
        await desk.submit(task_id, salt="pepper")
    desk.wait(100)
    for result, salt in ((ANSWER, "salt"), (b"other", "pepper")):
        with pytest.raises(BadContent, match="commitment"):
            await desk.submit(task_id, result, salt=salt)
    assert (await desk.submit(task_id, salt="pepper")).state is TaskState.SUBMITTED


async def test_the_best_applicant_is_chosen_by_judged_work(desk: Desk):
    for _ in range(2):
        await desk.judge(await desk.submitted("rival"), 90)
    await desk.judge(await desk.submitted("solver"), 100)
    task_id = await desk.post(
        assignment=Assignment.BEST_REPUTATION, apply_until=desk.at + timedelta(seconds=60)
    )
    with pytest.raises(TooEarly):
        await desk.market.assign_best(TEAM, task_id)
    await desk.apply(task_id, "solver")
    await desk.apply(task_id, "rival")
    ranked = await desk.market.applicants(TEAM, task_id)
    assert [(one.agent, one.rank) for one in ranked] == [("rival", 1), ("solver", 2)]
    desk.wait(60)
    await desk.market.assign_best(TEAM, task_id)
    assert (await desk.market.task(TEAM, task_id)).agent == "rival"


async def test_a_first_come_task_goes_to_the_first_applicant(desk: Desk):
    task_id = await desk.post(assignment=Assignment.FIRST)
    assert (await desk.apply(task_id, "rival")).state is TaskState.ASSIGNED
    with pytest.raises(WrongState):
        await desk.apply(task_id, "solver")


async def test_tasks_can_be_filtered_and_paged(desk: Desk):
    paid = await desk.submitted(reward=10)
    await desk.judge(paid, 90)
    open_ones = [await desk.post(reward=20 + number) for number in range(3)]
    await desk.apply(open_ones[0], "rival")
    market = desk.market

    async def ids(filters: TaskFilter, **keys: Any) -> list[int]:
        return [task.id for task in await market.tasks(TEAM, filters, **keys)]

    assert await ids(TaskFilter()) == [*reversed(open_ones), paid]
    assert await ids(TaskFilter(), limit=2) == open_ones[:0:-1]
    assert await ids(TaskFilter(), before=open_ones[1]) == [open_ones[0], paid]
    assert await ids(TaskFilter(states=frozenset({TaskState.PAID}))) == [paid]
    assert await ids(TaskFilter(states=frozenset())) == []
    assert await ids(TaskFilter(agent="solver")) == [paid]
    assert await ids(TaskFilter(applicant="rival")) == [open_ones[0]]
    assert await ids(TaskFilter(poster="bob")) == []
    assert await ids(TaskFilter(judge="jim", min_reward=Amount(22))) == [open_ones[2]]
    for limit in (0, 1001, "x"):
        with pytest.raises(InvalidInput, match="limit"):
            await market.tasks(TEAM, limit=limit)  # pyright: ignore[reportArgumentType]


async def test_due_tasks_can_be_closed_by_anyone(desk: Desk):
    unjudged = await desk.submitted()
    judged = await desk.submitted(
        dispute_window_seconds=60, arbiter="art", arbiter_window_seconds=60
    )
    await desk.judge(judged, 80)
    await desk.post()
    assert await desk.market.due(TEAM, "embedded", desk.at) == []
    desk.wait(60)
    assert [task.id for task in await desk.market.due(TEAM, "embedded", desk.at)] == [judged]
    desk.wait(3600)
    assert len(await desk.market.close_due(TEAM)) == 3
    assert await desk.market.close_due(TEAM) == []
    states = [task.state for task in await desk.market.tasks(TEAM)]
    assert states == ["expired", "paid", "expired"]
    assert (await desk.market.task(TEAM, unjudged)).expiry_reason == "no_verdict"


@pytest.mark.parametrize(
    "changes",
    [
        {"reward": 0},
        {"reward": -5},
        {"reward": True},
        {"reward": 1.5},
        {"reward": 10**16},
        {"judge_window_seconds": 59},
        {"judge_window_seconds": 31 * 86_400},
        {"deadline": timedelta(0)},
        {"deadline": timedelta(days=367)},
        {"fallback_window_seconds": 60},
        {"fallback_judge": "fay"},
        {"dispute_window_seconds": 60},
        {"dispute_window_seconds": 60, "arbiter": "art"},
        {"bond": 5},
        {"arbiter": "art"},
        {"agent_share_percent": 5},
        {"timeout_policy": TimeoutPolicy.SPLIT},
        {"timeout_policy": TimeoutPolicy.SPLIT, "agent_share_percent": 101},
        {"max_applicants": 0},
        {"max_applicants": 1001},
        {"commit_deadline": timedelta(hours=1)},
        {"commit_deadline": timedelta(0)},
        {"assignment": Assignment.BEST_REPUTATION},
        {"apply_until": timedelta(seconds=5)},
        {"judge": ""},
        {"judge": "anyone"},
        {"judge": "a b"},
        {"judge": "x" * 101},
    ],
    ids=str,
)
async def test_invalid_terms_are_refused(desk: Desk, changes: dict[str, Any]):
    moments = {
        name: desk.at + value if isinstance(value, timedelta) else value
        for name, value in changes.items()
    }
    with pytest.raises(InvalidInput):
        await desk.post(**moments)
    assert await desk.market.balance(TEAM, "ann") == 1000


@pytest.mark.parametrize(
    "changes",
    [
        {"judge": "ann"},
        {"judge": "jim", "is_self_judged": True},
        {"fallback_judge": "jim", "fallback_window_seconds": 60},
        {"fallback_judge": "ann", "fallback_window_seconds": 60},
        {"dispute_window_seconds": 60, "arbiter_window_seconds": 60, "arbiter": "jim"},
        {"dispute_window_seconds": 60, "arbiter_window_seconds": 60, "arbiter": "ann"},
    ],
    ids=str,
)
async def test_one_party_cannot_have_two_roles(desk: Desk, changes: dict[str, Any]):
    with pytest.raises(WrongRole):
        await desk.post(**changes)


async def test_a_self_judged_task_says_so_and_counts_for_nothing(desk: Desk):
    task_id = await desk.submitted(judge="ann", is_self_judged=True)
    await desk.judge(task_id, 100, by="ann")
    task = await desk.market.task(TEAM, task_id)
    assert (task.state, task.is_self_judged) == ("paid", True)
    known = (await desk.market.agent(TEAM, "solver")).reputation
    assert (known.attempts, known.judged) == (0, 0)


@pytest.mark.parametrize("text", ["", " \n ", "x" * 20_001, "nul\0", "\ud800", None, 5])
async def test_a_description_is_a_text(desk: Desk, text: Any):
    new = desk.offer(description=text)
    with pytest.raises(InvalidInput):
        await desk.market.post_task(TEAM, new)
    with pytest.raises(InvalidInput):
        await desk.market.deposit_test_money(TEAM, "ann", 5, key=text if text is not None else "")


@pytest.mark.parametrize("amount", [0, -1, 1.0, True, "5", 10**16, None])
async def test_an_amount_is_a_whole_number_of_minor_units(desk: Desk, amount: Any):
    for call in (desk.market.deposit_test_money, desk.market.withdraw_test_money):
        with pytest.raises(InvalidInput):
            await call(TEAM, "ann", amount)


async def test_a_refused_amount_is_reported_as_people_write_it(desk: Desk):
    with pytest.raises(InvalidInput, match=r"is 2000000000, must be from 0.000001 to 1000000000"):
        await desk.market.deposit_test_money(TEAM, "ann", 2 * 10**15)


async def test_deposits_cannot_exceed_what_the_ledger_can_count(desk: Desk):
    for _ in range(9):
        await desk.market.deposit_test_money(TEAM, "bob", 10**15)
    with pytest.raises(InvalidInput, match="more than can be kept"):
        await desk.market.deposit_test_money(TEAM, "cid", 10**15)


async def test_a_withdrawal_cannot_exceed_the_balance(desk: Desk):
    await desk.market.withdraw_test_money(TEAM, "ann", 400)
    with pytest.raises(InsufficientFunds):
        await desk.market.withdraw_test_money(TEAM, "ann", 601)
    with pytest.raises(InsufficientFunds):
        await desk.market.withdraw_test_money(TEAM, "stranger", 1)
    assert await desk.market.balances(TEAM) == {"outside": -600, "user:ann": 600}


async def test_events_are_json_and_in_order(desk: Desk):
    await desk.judge(await desk.submitted(), 70)
    events = await desk.market.events(TEAM)
    assert [event.id for event in events] == sorted(event.id for event in events)
    assert json.loads(json.dumps([dict(event.data) for event in events]))
    rest = await desk.market.events(TEAM, since=events[3].id, limit=2)
    assert list(rest) == list(events[4:6])


async def test_a_receipt_has_the_state_and_the_time(desk: Desk):
    receipt = await desk.market.deposit_test_money(TEAM, "ann", 5, key="k")
    assert receipt == Receipt(ref=receipt.ref, task_id=None, state=None, at=desk.at)
