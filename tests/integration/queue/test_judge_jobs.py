"""Workers judge paid tasks: each once, in fair turns, also when they die or the queue is lost."""

from datetime import timedelta
from itertools import cycle

import pytest

from arena import clock
from arena.assembly import Arena
from arena.market.task import Assignment, TaskState
from arena.reviews.review import SubjectKind
from arena.settings import Settings
from judging import WORK
from market_desk import Desk
from queue_worker import (
    JUDGED,
    TEAM,
    Model,
    empty_queue,
    jobs_left,
    until,
    worker_process,
    working,
)
from reviewing import said


async def submit(
    desk: Desk, word: str, agent: str = "solver", poster: str = "ann", **terms: object
) -> int:
    terms = {"evaluation": JUDGED, "assignment": Assignment.FIRST, **terms}
    task_id = await desk.post(poster=poster, **terms)
    await desk.apply(task_id, agent)
    await desk.submit(task_id, f"# {word}.\n{WORK}".encode(), agent)
    return task_id


async def all_paid(desk: Desk, tasks: list[int]) -> bool:
    states = [(await desk.market.task(TEAM, task)).state for task in tasks]
    return all(state is TaskState.PAID for state in states)


async def test_two_workers_judge_each_of_forty_tasks_once(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    agents, posters = cycle(["solver", "rival", "third", "fourth"]), cycle(["ann", "bob", "cleo"])
    async with working(settings, "w1", "jim"), working(settings, "w2", "jim"):
        words = [f"work {n}" for n in range(40)]
        tasks = [await submit(desk, one, next(agents), next(posters)) for one in words]
        await until(lambda: all_paid(desk, tasks))
        await until(lambda: _is_empty(house))
    assert [model.asked(f"{word}.") for word in words] == [1] * 40


async def test_parties_take_turns_whatever_the_order_of_the_tickets(
    settings: Settings, desk: Desk, model: Model
):
    # No worker is there yet: the tickets are added by the one that starts.
    tasks = [await submit(desk, f"flood {n}") for n in range(4)]
    tasks += [await submit(desk, f"other {n}", "rival", "bob") for n in range(2)]
    async with working(settings, "w1", "jim", at_once=1):
        await until(lambda: all_paid(desk, tasks))
    words = ["flood", "other", "flood", "other", "flood", "flood"]
    asked = [request.body.decode() for request in model.requests]
    assert [word in body for word, body in zip(words, asked, strict=True)] == [True] * 6


async def test_a_worker_gives_up_a_second_place_when_somebody_else_waits(
    settings: Settings, desk: Desk, model: Model
):
    async with working(settings, "w1", "jim", at_once=2):
        with model.held():
            flood = [await submit(desk, f"flood {n}") for n in range(4)]
            await until(lambda: _asked(model, 2))
            other = await submit(desk, "never held", "rival", "bob")
            await until(lambda: all_paid(desk, [other]))
        await until(lambda: all_paid(desk, flood))


async def test_the_tasks_of_a_killed_worker_are_judged_by_another(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    with model.held(), worker_process(settings, "killed", "jim") as process:
        words = [f"work {n}" for n in range(6)]
        tasks = [await submit(desk, word) for word in words]
        await until(lambda: _asked(model, 4))
        process.kill()
    async with working(settings, "heir", "jim"):
        await until(lambda: all_paid(desk, tasks))
        await until(lambda: _is_empty(house))
    assert sorted(model.asked(f"{word}.") for word in words) == [1, 1, 2, 2, 2, 2]


async def test_what_waits_for_a_judge_and_is_being_judged_is_shown_with_who_judges(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    before = await house.queue_reader.version()
    await submit(desk, "for eve", judge="eve")
    assert await house.queue_reader.version() != before
    with model.held():
        async with working(settings, "w1", "jim", at_once=2):
            await submit(desk, "first")
            await submit(desk, "second")
            await until(lambda: _asked(model, 2))
            await submit(desk, "third")
            found = {one.queue: one for one in (await house.queue_reader.overview()).queues}
            model.is_open.set()
            await until(lambda: _is_empty(house))
    assert found.keys() == {"chores", f"judge.{TEAM}.eve", f"judge.{TEAM}.jim"}
    jim, eve = found[f"judge.{TEAM}.jim"], found[f"judge.{TEAM}.eve"]
    assert (jim.depth, jim.in_work, jim.workers) == (1, 2, ["w1"])
    assert (eve.depth, eve.in_work, eve.workers) == (1, 0, [])


async def test_a_task_whose_judge_missed_its_window_is_shown_at_the_fallback_judge(
    house: Arena, desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    windows = {"judge_window_seconds": 3600, "fallback_window_seconds": 7200}
    now = clock.now
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: now() - timedelta(seconds=5400))
        await submit(desk, "work", judge="gone", fallback_judge="jim", **windows)
    (queue,) = (await house.queue_reader.overview()).queues
    assert (queue.queue, queue.depth, queue.workers) == (f"judge.{TEAM}.jim", 1, [])
    assert queue.lag_seconds >= 5400


async def test_a_lost_queue_loses_no_task(
    settings: Settings, house: Arena, desk: Desk, model: Model
):
    async with working(settings, "w1", "jim"), working(settings, "w2", "jim"):
        with model.held():
            words = [f"work {n}" for n in range(12)]
            tasks = [await submit(desk, word) for word in words]
            await until(lambda: _asked(model, 8))
            await empty_queue(house)
        await until(lambda: all_paid(desk, tasks))
    assert [model.asked(f"{word}.") for word in words] == [1] * 12


async def test_a_model_that_is_away_postpones_the_task(
    settings: Settings, desk: Desk, model: Model, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("arena.market.judging.FIRST_WAIT_SECONDS", 0.2)
    answer = model._answer
    model.follow(*[(400, {})] * 3, answer)
    async with working(settings, "w1", "jim"):
        task = await submit(desk, "work")
        await until(lambda: all_paid(desk, [task]))
    assert model.asked("work.") == 4


async def test_the_fallback_judge_gets_its_ticket_when_the_window_of_the_judge_closes(
    settings: Settings, house: Arena, desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    terms = {
        "evaluation": {"type": "contains", "contains": ["return"]},
        "judge": "gone",
        "judge_window_seconds": 60,
        "fallback_judge": "jim",
        "fallback_window_seconds": 600,
    }
    async with working(settings, "w1", "jim"):
        task = await submit(desk, "work", **terms)
        await house.jobs.judging.reconcile()
        assert await jobs_left(house) == 0
        now = clock.now
        monkeypatch.setattr(clock, "now", lambda: now() + timedelta(seconds=60))
        await until(lambda: all_paid(desk, [task]))
    assert (await desk.market.task(TEAM, task)).judged_by == "jim"


async def test_a_task_that_people_judge_needs_no_ticket_until_they_answer(
    settings: Settings, house: Arena, desk: Desk
):
    async with working(settings, "w1", "jim"):
        task = await submit(desk, "work", evaluation={"type": "checklist", "items": ["Good?"]})
        subject = SubjectKind.TASK, str(task)
        await until(lambda: house.reviews.list(TEAM, subject=subject))
        await until(lambda: _is_empty(house))
        await house.jobs.judging.reconcile()
        assert await jobs_left(house) == 0
        (review,) = await house.reviews.list(TEAM, subject=subject)
        answered = await house.reviews.answer(review.id, TEAM, "mia", said(True))
        assert answered.status == "done"
        assert await all_paid(desk, [task])


async def test_a_judge_that_no_worker_serves_gets_no_tickets(house: Arena, desk: Desk):
    await submit(desk, "work")
    await house.jobs.judging.reconcile()
    assert await jobs_left(house) == 0


async def _asked(model: Model, count: int) -> bool:
    return model.asked() >= count


async def _is_empty(house: Arena) -> bool:
    return await jobs_left(house) == 0
