"""Several tasks at once: fair between parties, shared between processes, nobody blocks a judge."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import pytest

from arena.errors import InfrastructureError
from arena.evaluation.resources import Resources
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict
from arena.market.errors import BadContent
from arena.market.judge_market import LocalMarket
from arena.market.judging import JudgeFlow
from arena.market.records.claims import CLAIM_SECONDS
from arena.market.reviewing import TaskReviews
from arena.market.task import Assignment, TimeoutPolicy
from arena.reviews.reviews import Reviews
from market_desk import TEAM, Desk

PROMPT = {"type": "judge_prompt", "prompt": "Is it good?"}
HANG_SECONDS = 120
"""Only a broken judge needs as long: the test then fails instead of hanging."""

Judge = Callable[[JudgePrompt, Submission], Awaitable[Verdict]]


def good(score: float = 100) -> Verdict:
    return Verdict(score=score, passed=score >= 60, reasoning="judged", findings=())


def flow(desk: Desk, judge: Judge, reports: list[str] | None = None, **keys: int) -> JudgeFlow:
    tasks = TaskReviews(desk.database, desk.market, sandbox="", reviewers_needed=1)
    resources = Resources(judge=judge)
    reviews = Reviews(desk.database, resources, {})
    market = LocalMarket(desk.market, reviews, tasks, TEAM)
    said = [] if reports is None else reports
    return JudgeFlow(
        market, "jim", desk.market.contents, resources, sandbox="", report=said.append, **keys
    )


async def submit(desk: Desk, text: str, agent: str, poster: str = "ann", **terms: object) -> int:
    task_id = await desk.post(
        evaluation=PROMPT, poster=poster, assignment=Assignment.FIRST, **terms
    )
    await desk.apply(task_id, agent)
    await desk.submit(task_id, text.encode(), agent)
    return task_id


async def state(desk: Desk, task_id: int) -> str:
    return (await desk.market.task(TEAM, task_id)).state


async def test_an_honest_submission_is_paid_while_a_stalling_one_is_still_being_judged(desk: Desk):
    """F1: the stalling one came first and takes longer than both windows."""
    await desk.market.deposit_test_money(TEAM, "bob", 1000)
    split = {"timeout_policy": TimeoutPolicy.SPLIT}
    terms = {**split, "judge_window_seconds": 60, "agent_share_percent": 100}
    stalling = await submit(desk, "stall", "solver", **terms)
    honest = await submit(desk, "honest", "rival", "bob", judge_window_seconds=60)
    is_paid = asyncio.Event()

    async def judge(_standard: JudgePrompt, submission: Submission, _: str | None) -> Verdict:
        if submission.output == "honest":
            return good()
        await is_paid.wait()
        desk.wait(60)
        return good(0)

    class Reports(list[str]):
        def append(self, text: str) -> None:
            if f"task {honest} is paid" in text:
                is_paid.set()

    async with asyncio.timeout(HANG_SECONDS):
        await flow(desk, judge, Reports()).step()
    assert await state(desk, honest) == "paid"
    assert await desk.market.balance(TEAM, "rival") == 100
    await desk.market.close_due(TEAM)
    assert await state(desk, stalling) == "expired"


async def test_an_agent_gives_up_its_second_place_as_soon_as_somebody_else_waits(desk: Desk):
    await desk.market.deposit_test_money(TEAM, "bob", 1000)
    flood = [await submit(desk, f"stall {n}", "solver") for n in range(3)]
    began: list[str] = []
    has_filled, is_paid = asyncio.Event(), asyncio.Event()

    async def judge(_standard: JudgePrompt, submission: Submission, _: str | None) -> Verdict:
        began.append(submission.output)
        if submission.output == "honest":
            return good()
        if len(began) == 2:
            has_filled.set()
        await is_paid.wait()
        return good(0)

    class Reports(list[str]):
        def append(self, text: str) -> None:
            if f"task {honest} is paid" in text:
                is_paid.set()

    async with asyncio.timeout(HANG_SECONDS):
        honest = 0
        working = asyncio.create_task(flow(desk, judge, Reports(), at_once=2).step())
        await has_filled.wait()  # both places are the flood's: nobody else waited
        honest = await submit(desk, "honest", "rival", "bob", judge_window_seconds=3000)
        assert await working == 4
    assert began.index("honest") == 2
    assert [await state(desk, task) for task in (*flood, honest)] == ["refunded"] * 3 + ["paid"]


async def test_no_more_are_judged_at_once_than_allowed(desk: Desk):
    tasks = [await submit(desk, f"work {n}", "solver") for n in range(5)]
    now, most = 0, 0
    is_full = asyncio.Event()

    async def judge(_standard: JudgePrompt, _submission: Submission, _: str | None) -> Verdict:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        if now == 3:
            is_full.set()
        await is_full.wait()
        await asyncio.sleep(0)
        now -= 1
        return good()

    async with asyncio.timeout(HANG_SECONDS):
        assert await flow(desk, judge, at_once=3).step() == 5
    assert most == 3
    assert {await state(desk, task) for task in tasks} == {"paid"}


async def test_two_processes_judge_every_task_once(desk: Desk):
    await desk.market.deposit_test_money(TEAM, "bob", 1000)
    tasks = [
        await submit(desk, f"work {n}", ("solver", "rival")[n % 2], ("ann", "bob")[n % 2])
        for n in range(6)
    ]
    judged: list[str] = []

    async def judge(_standard: JudgePrompt, submission: Submission, _: str | None) -> Verdict:
        judged.append(submission.output)
        await asyncio.sleep(0)
        return good()

    async with asyncio.timeout(HANG_SECONDS):
        counts = await asyncio.gather(*(flow(desk, judge, at_once=2).step() for _ in range(2)))
        # One that the other process was faster with is looked at again a little later.
        while sum(counts) < len(tasks):
            desk.wait(2)
            counts.append(await flow(desk, judge, at_once=2).step())
    assert sorted(judged) == [f"work {n}" for n in range(6)]
    assert {await state(desk, task) for task in tasks} == {"paid"}


async def test_a_task_of_a_killed_judge_is_free_once_its_claim_has_expired(desk: Desk):
    task_id = await submit(desk, "work", "solver")
    await desk.market.claim(TEAM, task_id, by="jim", token="killed" * 4)

    async def judge(_standard: JudgePrompt, _submission: Submission, _: str | None) -> Verdict:
        return good()

    successor = flow(desk, judge)
    assert await successor.step() == 0
    assert [task.id for task in successor.claimed_elsewhere] == [task_id]
    desk.wait(CLAIM_SECONDS)
    assert await successor.step() == 1
    assert await state(desk, task_id) == "paid"


async def test_a_stopped_judge_releases_what_it_worked_on(desk: Desk):
    task_id = await submit(desk, "work", "solver")
    began = asyncio.Event()

    async def judge(_standard: JudgePrompt, _submission: Submission, _: str | None) -> Verdict:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    working = asyncio.create_task(flow(desk, judge).step())
    await began.wait()
    assert (await desk.market.task(TEAM, task_id)).claimed_until is not None
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert (await desk.market.task(TEAM, task_id)).claimed_until is None


async def test_an_offer_that_cannot_be_judged_within_its_window_is_refused(desk: Desk):
    cases = [{"input": [n], "expected": n} for n in range(20)]
    program = {"type": "test_cases", "cases": cases, "language": "python"}
    for terms in (
        {"judge_window_seconds": 60},
        {"fallback_judge": "fay", "fallback_window_seconds": 60},
        # The same in parts: the sum counts.
        {
            "judge_window_seconds": 60,
            "evaluation": {
                "type": "all_of",
                "pass_score": 60,
                "all_of": [
                    {"type": "test_cases", "functionName": "f", "cases": [case]} for case in cases
                ],
            },
        },
    ):
        try:
            await desk.post(**{"evaluation": program, **terms})
        except BadContent as error:
            assert "200 s" in error.message
            assert "at least 400 s" in error.message
        else:
            raise AssertionError(terms)
    await desk.post(evaluation=program, judge_window_seconds=400)
    function = {"type": "test_cases", "functionName": "f", "cases": cases}
    await desk.post(evaluation=function, judge_window_seconds=60)


async def test_an_outage_during_the_work_does_not_end_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
):
    """The list of tasks cannot be read while one is judged: that one is still paid."""
    monkeypatch.setattr("arena.market.judging.REFRESH_SECONDS", 0.01)
    task_id = await submit(desk, "work", "solver")
    failures = 0
    is_away = asyncio.Event()
    listed = desk.market.reader.tasks

    async def away(*words: object, **named: object) -> object:
        nonlocal failures
        if not began.is_set():
            return await listed(*words, **named)
        failures += 1
        is_away.set()
        raise InfrastructureError("no response")

    began = asyncio.Event()
    monkeypatch.setattr(desk.market.reader, "tasks", away)

    async def judge(_standard: JudgePrompt, _submission: Submission, _: str | None) -> Verdict:
        began.set()
        await is_away.wait()
        return good()

    async with asyncio.timeout(HANG_SECONDS):
        with contextlib.suppress(InfrastructureError):
            await flow(desk, judge).step()
    assert failures > 0
    assert await state(desk, task_id) == "paid"
