"""Tasks that people judge: the payout follows the standing answers."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from arena.amounts import Amount
from arena.assembly import open_arena
from arena.errors import Conflict
from arena.evaluation.resources import Resources
from arena.evaluation.sealed import SealedFolder, commitment_of, seal, write_private_part
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict
from arena.market.call import CallKey
from arena.market.errors import TooLate, WrongRole
from arena.market.reviewing import TaskReviews
from arena.market.task import TaskState
from arena.reviews.records import add_answers
from arena.reviews.review import ReviewAnswer, ReviewStatus, SubjectKind
from arena.reviews.reviews import Reviews
from arena.settings import Settings
from arena.store.migrations import downgrade, upgrade
from arena.store.tables.market import MarketCalls as Calls
from arena.store.tables.reviews import Reviews as Table
from market_desk import TEAM, Desk

STANDARD = {
    "type": "all_of",
    "all_of": [
        {"type": "checklist", "items": ["It works"]},
        {"type": "judge_prompt", "prompt": "Is it good?"},
    ],
}


def one_answer(passed: bool) -> list[ReviewAnswer]:
    return [ReviewAnswer(place=(0,), item=0, passed=passed)]


def reviewed(desk: Desk, resources: Resources) -> tuple[TaskReviews, Reviews]:
    tasks = TaskReviews(desk.database, desk.market, sandbox="", reviewers_needed=1)
    return tasks, Reviews(desk.database, resources, {SubjectKind.TASK: tasks.settle})


@pytest.mark.parametrize(("first", "then", "state"), [(1, 0, "refunded"), (0, 1, "paid")])
async def test_an_answer_that_is_changed_while_the_verdict_is_made_decides(
    desk: Desk, first: int, then: int, state: str
):
    task_id = await desk.submitted(evaluation=STANDARD)
    calls: list[int] = []

    async def slow(
        _standard: JudgePrompt, _submission: Submission, _purpose: str | None
    ) -> Verdict:
        calls.append(1)
        if len(calls) == 1:
            await add_answers(desk.database, review_id, TEAM, "rita", one_answer(bool(then)))
        return Verdict(score=20, passed=False, reasoning="hm", findings=())

    tasks, reviews = reviewed(desk, Resources(judge=slow))
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    review_id = review.id
    done = await reviews.answer(review_id, TEAM, "rita", one_answer(bool(first)))
    task = await desk.market.reader.task(TEAM, task_id)
    assert (done.status, task.state) == (ReviewStatus.DONE, TaskState(state))
    assert (task.score, len(calls)) == (60 if then else 10, 2)


@pytest.mark.parametrize(
    ("terms", "seconds"),
    [({}, 600), ({"fallback_judge": "fay", "fallback_window_seconds": 300}, 900)],
)
async def test_an_answer_after_the_last_window_is_refused(
    desk: Desk, terms: dict[str, Any], seconds: int
):
    tasks, reviews = reviewed(desk, Resources())
    task_id = await desk.submitted(**terms)
    due_at = desk.at + timedelta(seconds=seconds)
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    assert review.due_at == due_at
    desk.wait(seconds)
    with pytest.raises(Conflict, match=rf"until {re.escape(due_at.isoformat())}.*no longer count"):
        await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    with pytest.raises(TooLate, match="ended at"):
        await tasks.new_review(TEAM, task_id, by="jim")
    await reviews.settle_answered()
    (closed,) = await reviews.list(TEAM)
    assert closed.status is ReviewStatus.CANCELLED
    assert closed.trouble == "its time ended before every item was answered"


async def test_the_last_moment_of_the_fallback_window_still_counts(desk: Desk):
    tasks, reviews = reviewed(desk, Resources())
    task_id = await desk.submitted(fallback_judge="fay", fallback_window_seconds=300)
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    desk.wait(899)
    done = await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    assert (done.status, done.trouble) == (ReviewStatus.DONE, None)
    assert (await desk.market.reader.task(TEAM, task_id)).judged_by == "fay"


async def test_a_window_that_closes_during_the_verdict_leaves_it_to_the_fallback_judge(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    tasks, reviews = reviewed(desk, Resources())
    task_id = await desk.submitted(fallback_judge="fay", fallback_window_seconds=300)
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    desk.wait(599)
    real_now = desk.market.ledger.now

    async def closing() -> datetime:
        """A time within the judge's window, which is over when the market reads the clock."""
        now = await real_now()
        desk.wait(1)
        return now

    monkeypatch.setattr(desk.market.ledger, "now", closing)
    done = await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    assert (done.status, done.trouble) == (ReviewStatus.DONE, None)
    assert (await desk.market.reader.task(TEAM, task_id)).judged_by == "fay"


@pytest.mark.parametrize("is_expired", [False, True])
async def test_answers_that_come_too_late_are_reported_as_not_counted(desk: Desk, is_expired: bool):
    async def slow(
        _standard: JudgePrompt, _submission: Submission, _purpose: str | None
    ) -> Verdict:
        desk.wait(600)
        if is_expired:
            await desk.market.expire(TEAM, task_id)
        return Verdict(score=100, passed=True, reasoning="good", findings=())

    tasks, reviews = reviewed(desk, Resources(judge=slow))
    task_id = await desk.submitted(evaluation=STANDARD)
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    ended = await reviews.answer(review.id, TEAM, "rita", one_answer(True))
    assert review.due_at is not None
    over = f"the time to judge task {task_id} ended at {review.due_at.isoformat()}"
    assert ended.status is ReviewStatus.CANCELLED
    assert ended.trouble == f"{over}: the answers did not count"


async def test_answers_to_a_task_that_was_judged_by_hand_did_not_count(desk: Desk):
    tasks, reviews = reviewed(desk, Resources())
    task_id = await desk.submitted()
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    await desk.judge(task_id, 10)
    ended = await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    assert ended.status is ReviewStatus.CANCELLED
    assert f"task {task_id} was judged by jim" in (ended.trouble or "")


@pytest.mark.parametrize("score", [100, 70])
async def test_a_verdict_given_before_a_crash_causes_no_error_after_it(desk: Desk, score: int):
    """A model may give another verdict the second time: the first one stands."""
    calls: list[int] = []

    async def judge(
        _standard: JudgePrompt, _submission: Submission, _purpose: str | None
    ) -> Verdict:
        calls.append(1)
        if len(calls) == 1:
            return Verdict(score=100, passed=True, reasoning="good", findings=())
        return Verdict(score=score, passed=True, reasoning="good", findings=())

    tasks, reviews = reviewed(desk, Resources(judge=judge))
    task_id = await desk.submitted(evaluation=STANDARD)
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    await reviews.answer(review.id, TEAM, "rita", one_answer(True))
    async with desk.database.writing() as connection:  # as if it died before closing it
        row = update(Table).where(Table.id == review.id)
        await connection.execute(row.values(status=ReviewStatus.ANSWERED, completed_at=None))
    (settled,) = (await reviews.settle_answered()).settled
    done = (await reviews.get(settled, TEAM)).review
    assert (done.status, done.trouble, len(calls)) == (ReviewStatus.DONE, None, 2)
    assert (await desk.market.reader.task(TEAM, task_id)).score == 100


async def test_a_team_with_a_token_opens_only_the_hidden_cases_that_were_left_for_it(
    desk: Desk, settings: Settings
):
    shown, hidden = ({"input": [n, 1], "expected": n + 1, "hidden": n > 1} for n in (1, 2))
    public, openings = seal({"type": "test_cases", "functionName": "add", "cases": [shown, hidden]})
    people = {"type": "checklist", "items": ["It works"]}
    task_id = await desk.post(evaluation={"type": "all_of", "all_of": [people, public]})
    await desk.apply(task_id)
    await desk.assign(task_id)
    await desk.submit(task_id, b"def add(a, b): return a + b")

    shared = SealedFolder(settings.sealed_folder)

    def leave(folder: SealedFolder) -> None:
        file = folder.path([commitment_of(opening) for opening in openings])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(write_private_part(openings))

    tokens = (SecretStr(f"{TEAM}:{'t' * 20}"),)
    async with open_arena(settings.model_copy(update={"tokens": tokens})) as house:
        await house.reviews.open(await house.task_reviews.new_review(TEAM, task_id, by="jim"))
        (review,) = await house.reviews.list(TEAM)
        leave(shared)
        leave(shared.of_team("blue"))
        answered = await house.reviews.answer(review.id, TEAM, "rita", one_answer(True))
        assert "private part" in (answered.trouble or "")
        leave(shared.of_team(TEAM))
        done = await house.reviews.settle(answered)
        assert (done.status, done.trouble) == (ReviewStatus.DONE, None)
    assert (await desk.market.reader.task(TEAM, task_id)).state is TaskState.PAID


@pytest.mark.parametrize(
    ("reviewer", "role"),
    [
        ("solver", "is its agent"),
        ("ann", "is its poster"),
        ("abe", "is its arbiter"),
        ("rival", "has applied for it"),
        # The same name, written differently.
        ("Solver", "is its agent"),
        (" ann ", "is its poster"),
        ("ａｎｎ", "is its poster"),
        ("solver@1.0.0", "is its agent"),
        ("solver:1.0.0", "is its agent"),
    ],
)
async def test_the_parties_of_a_task_cannot_answer_its_review(
    desk: Desk, settings: Settings, reviewer: str, role: str
):
    disputes = {"dispute_window_seconds": 60, "arbiter": "abe", "arbiter_window_seconds": 60}
    task_id = await desk.post(**disputes)
    for agent in ("solver", "rival"):
        await desk.apply(task_id, agent)
    await desk.assign(task_id)
    await desk.submit(task_id)
    answers = [ReviewAnswer(item=0, passed=True)]
    async with open_arena(settings) as house:
        review = await house.reviews.open(
            await house.task_reviews.new_review(TEAM, task_id, by="jim")
        )
        with pytest.raises(WrongRole, match=f"{role}; somebody else must answer"):
            await house.reviews.answer(review.id, TEAM, reviewer, answers)
        assert (await desk.market.reader.task(TEAM, task_id)).state is TaskState.SUBMITTED
        # Their answer was not recorded, and others may answer, the judge as well.
        assert (await house.reviews.get(review.id, TEAM)).items[0].answers == ()
        await house.reviews.answer(review.id, TEAM, "jim", answers)
    assert (await desk.market.reader.task(TEAM, task_id)).state is TaskState.JUDGED


async def test_the_poster_of_a_self_judged_task_may_answer_as_its_judge(
    desk: Desk, settings: Settings
):
    task_id = await desk.submitted(judge=None, is_self_judged=True)
    async with open_arena(settings) as house:
        review = await house.reviews.open(
            await house.task_reviews.new_review(TEAM, task_id, by="ann")
        )
        await house.reviews.answer(review.id, TEAM, "ann", [ReviewAnswer(item=0, passed=True)])
    assert (await desk.market.reader.task(TEAM, task_id)).state is TaskState.PAID


async def test_a_callers_key_cannot_take_the_place_of_an_internal_one(desk: Desk):
    """F2: the deposit's key is that of the review's verdict, as 0.1 wrote it."""
    tasks, reviews = reviewed(desk, Resources())
    task_id = await desk.submitted()
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    await desk.market.deposit_test_money(TEAM, "mallory", 1, key=f"review {review.id}")
    done = await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    task = await desk.market.reader.task(TEAM, task_id)
    assert (done.status, task.state) == (ReviewStatus.DONE, TaskState.PAID)


async def test_a_conflict_of_keys_alone_does_not_close_a_review(desk: Desk):
    tasks, reviews = reviewed(desk, Resources())
    task_id = await desk.submitted()
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    key = CallKey(text=f"review {review.id}", is_internal=True)
    await desk.market.ledger.deposit(TEAM, "mallory", Amount(1), key=key)
    kept = await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    assert kept.status is ReviewStatus.ANSWERED
    assert "was used for another call" in (kept.trouble or "")
    assert (await desk.market.reader.task(TEAM, task_id)).state is TaskState.SUBMITTED


async def test_a_verdict_that_0_1_gave_under_a_callers_key_is_recognised(desk: Desk):
    tasks, reviews = reviewed(desk, Resources())
    task_id, other = await desk.submitted(), await desk.submitted()
    await reviews.open(await tasks.new_review(TEAM, task_id, by="jim"))
    (review,) = await reviews.list(TEAM)
    await reviews.answer(review.id, TEAM, "rita", [ReviewAnswer(item=0, passed=True)])
    # Anybody could use such a key: this one is not of a review's verdict.
    await desk.judge(other, 70, key=f"review {uuid4()}")

    async with desk.database.writing() as connection:  # the rows as 0.1 left them, killed midway
        internal = Calls.internal_key.is_not(None)
        named = update(Calls).where(internal).values(idempotency_key=Calls.internal_key)
        await connection.execute(named)
        row = update(Table).where(Table.id == review.id)
        await connection.execute(row.values(status=ReviewStatus.ANSWERED, completed_at=None))
        await connection.run_sync(downgrade, "0006")
        await connection.run_sync(upgrade)
        moved = (await connection.execute(select(Calls.task_id).where(internal))).scalars().all()
    assert moved == [task_id]
    assert (await reviews.settle_answered()).settled == [review.id]
    assert (await reviews.get(review.id, TEAM)).review.trouble is None
    assert (await desk.market.reader.task(TEAM, task_id)).state is TaskState.PAID
