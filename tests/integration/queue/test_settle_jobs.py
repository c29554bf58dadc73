"""Workers make the verdicts of answered reviews: one of them, once."""

import asyncio
from uuid import UUID

import pytest

from arena.assembly import Arena, open_arena
from arena.queue.job import Postponed
from arena.reviews import records
from arena.reviews.review import Review, ReviewStatus, SubjectKind
from arena.settings import Settings
from judging import WORK
from market_desk import Desk
from queue_worker import (
    JUDGED,
    TEAM,
    Model,
    empty_queue,
    jobs_left,
    registered,
    until,
    worker_process,
    working,
)
from reviewing import said

BOTH = {
    "type": "all_of",
    "all_of": [{"type": "checklist", "items": ["Good?"]}, JUDGED],
}


async def opened(house: Arena, desk: Desk) -> Review:
    """A review of a task that people and a model judge."""
    task_id = await desk.post(evaluation=BOTH)
    await desk.apply(task_id)
    await desk.assign(task_id)
    await desk.submit(task_id, WORK.encode())
    new = await house.task_reviews.new_review(TEAM, task_id, by="jim")
    return await house.reviews.open(new)


async def answered(house: Arena, desk: Desk) -> Review:
    """The same with an answer, and without anybody who makes the verdict."""
    review = await opened(house, desk)
    answers = said(True, place=(0,))
    await records.add_answers(house.database, review.id, TEAM, "mia", answers)
    return await read(house, review.id)


async def read(house: Arena, review_id: UUID) -> Review:
    return await records.get_review(house.database, review_id, None)


async def is_done(house: Arena, review: Review) -> bool:
    return (await read(house, review.id)).status is ReviewStatus.DONE


async def test_a_worker_makes_the_verdict_and_the_last_reviewer_sees_it(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    review = await opened(house, desk)
    async with working(settings) as worker:
        ended = await house.reviews.answer(review.id, TEAM, "mia", said(True, place=(0,)))
        assert ended.status is ReviewStatus.DONE
        assert "judge" in vars(worker)
    assert "judge" not in vars(house)  # this process has not judged
    assert model.asked() == 1


async def test_without_a_worker_the_verdict_is_made_here(house: Arena, desk: Desk, model: Model):
    review = await opened(house, desk)
    ended = await house.reviews.answer(review.id, TEAM, "mia", said(True, place=(0,)))
    assert (ended.status, model.asked()) == (ReviewStatus.DONE, 1)


async def test_answered_reviews_without_a_verdict_are_shown(house: Arena, desk: Desk, model: Model):
    before = await house.queue_reader.version()
    review = await answered(house, desk)
    overview = await house.queue_reader.overview()
    (chore,) = overview.chores
    assert (chore.kind, chore.waiting, chore.in_work) == ("settle_review", 1, 0)
    # The task is judged by its review, not by a judge.
    assert [(one.queue, one.depth) for one in overview.queues] == [("chores", 1)]
    assert await house.queue_reader.version() != before
    with model.held():
        settling = asyncio.create_task(house.reviews.settle(review))
        await until(lambda: _asked(model, 1))
        (chore,) = (await house.queue_reader.overview()).chores
        assert (chore.waiting, chore.in_work) == (0, 1)
    await settling
    assert (await house.queue_reader.overview()).chores == []


async def test_two_workers_with_the_same_job_ask_the_model_once(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    review = await answered(house, desk)
    job = {"review": str(review.id)}
    async with open_arena(settings) as other:
        handle, handle_too = (one.jobs.handlers["settle"] for one in (house, other))
        with model.held():
            first = asyncio.create_task(handle(job))
            await until(lambda: _asked(model, 1))
            with pytest.raises(Postponed):
                await handle_too(job)
        await first
        await handle_too(job)
    assert await is_done(house, review)
    assert model.asked() == 1


async def test_a_worker_that_lost_its_claim_stops(house: Arena, desk: Desk, model: Model):
    review = await answered(house, desk)
    with model.held():
        working = asyncio.create_task(house.reviews.settle(review))
        await until(lambda: _asked(model, 1))
        async with house.database.writing() as connection:
            await connection.exec_driver_sql("UPDATE reviews SET claim_token = 'another'")
        assert (await working).status is ReviewStatus.ANSWERED
    assert model.asked() == 1


async def test_the_review_of_a_killed_worker_is_settled_by_another(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    review = await answered(house, desk)
    with model.held(), worker_process(settings, "killed") as process:
        await until(lambda: _asked(model, 1))
        process.kill()
    async with working(settings):
        await until(lambda: is_done(house, review))
    assert model.asked() == 2


async def test_a_lost_queue_loses_no_verdict(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    async with working(settings):
        with model.held():
            review = await opened(house, desk)
            answering = asyncio.create_task(
                house.reviews.answer(review.id, TEAM, "mia", said(True, place=(0,)))
            )
            await until(lambda: _asked(model, 1))
            await empty_queue(house)
        await answering
        await until(lambda: is_done(house, review))
    assert model.asked() == 1


async def test_a_server_adds_missing_jobs_and_settles_nothing_itself(
    house: Arena, desk: Desk, model: Model
):
    review = await answered(house, desk)
    async with registered(house.database, "w", ["chores"]), house.reviews.settling():
        await until(lambda: jobs_left(house))
    assert ((await read(house, review.id)).status, model.asked()) == (ReviewStatus.ANSWERED, 0)


async def test_a_verdict_that_cannot_be_made_says_why_and_comes_again(
    house: Arena, desk: Desk, model: Model
):
    review = await answered(house, desk)
    model.follow((400, {}))
    with pytest.raises(Postponed):
        await house.jobs.handlers["settle"]({"review": str(review.id)})
    assert "because" in ((await read(house, review.id)).trouble or "")
    model.answer()
    await house.jobs.handlers["settle"]({"review": str(review.id)})
    assert await is_done(house, review)


async def test_changed_answers_while_a_verdict_is_made_count(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    async with working(settings):
        review = await opened(house, desk)
        with model.held():
            answering = asyncio.create_task(
                house.reviews.answer(review.id, TEAM, "mia", said(True, place=(0,)))
            )
            await until(lambda: _asked(model, 1))
            changing = asyncio.create_task(
                house.reviews.answer(review.id, TEAM, "mia", said(False, place=(0,)))
            )
            await until(lambda: _has_revision(house, review, 2))
        await asyncio.gather(answering, changing)
        await until(lambda: is_done(house, review))
    task = await desk.market.task(TEAM, int(review.subject.id))
    assert (review.subject.kind, task.state) == (SubjectKind.TASK, "refunded")


async def _has_revision(house: Arena, review: Review, revision: int) -> bool:
    return (await read(house, review.id)).revision == revision


async def _asked(model: Model, count: int) -> bool:
    return model.asked() >= count
