"""F1 with real programs in the real sandbox: nobody's work expires behind one that stalls."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from arena.evaluation import time_limit
from arena.evaluation.record import read_record
from arena.evaluation.resources import Resources
from arena.market.judge_market import LocalMarket
from arena.market.judging import JudgeFlow
from arena.market.reviewing import TaskReviews
from arena.market.task import Assignment, Task, TimeoutPolicy
from arena.reviews.reviews import Reviews
from arena.sandbox import programs
from arena.sandbox.limits import Limits, TimeBudget
from arena.sandbox.namespace.provider import NamespaceProvider
from market_desk import TEAM, Desk

CASES = [{"input": [n], "expected": n} for n in range(20)]
PROGRAM = {"type": "test_cases", "language": "shell"}
STALLS = b"sleep 600\n"
HONEST = b"read line; line=${line#[}; echo ${line%]}\n"
CASE_SECONDS, TOTAL_SECONDS = 2.0, 4.0
MARKET_SECONDS = 7
"""Of the market's clock, for one of the sandbox: as if all cases together had 28 s."""
HANG_SECONDS = 120


@pytest.fixture
async def sandbox(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> AsyncIterator[NamespaceProvider]:
    """The real sandbox with short limits; time spent in it passes on the market's clock."""
    monkeypatch.setattr(time_limit, "CASE_SECONDS", CASE_SECONDS)
    monkeypatch.setattr(time_limit, "MAX_PROGRAM_SECONDS", TOTAL_SECONDS)
    monkeypatch.setattr(programs, "RUN_SECONDS", CASE_SECONDS)
    spend = TimeBudget.spend

    def spend_on_both_clocks(budget: TimeBudget, duration_ms: float, most_seconds: float) -> None:
        before = budget.spent_seconds
        spend(budget, duration_ms, most_seconds)
        # The honest program is no part of the delay: how long it takes depends on the machine.
        if budget.spent_seconds - before == most_seconds:
            desk.wait(MARKET_SECONDS * most_seconds)

    monkeypatch.setattr(TimeBudget, "spend", spend_on_both_clocks)
    async with NamespaceProvider(Limits(wall_seconds=CASE_SECONDS)) as provider:
        yield provider


def flow(desk: Desk, sandbox: NamespaceProvider) -> JudgeFlow:
    """A judge with one place: the others cannot hide that it is held for too long."""
    resources = Resources(sandbox=sandbox)
    tasks = TaskReviews(desk.database, desk.market, sandbox="namespace", reviewers_needed=1)
    market = LocalMarket(desk.market, Reviews(desk.database, resources, {}), tasks, TEAM)
    return JudgeFlow(
        market,
        "jim",
        desk.market.contents,
        resources,
        sandbox="namespace",
        report=print,
        at_once=1,
    )


async def submitted(desk: Desk, code: bytes, agent: str, poster: str, count: int) -> int:
    task_id = await desk.post(
        evaluation={**PROGRAM, "cases": CASES[:count]},
        poster=poster,
        assignment=Assignment.FIRST,
        judge_window_seconds=60,
        timeout_policy=TimeoutPolicy.SPLIT,
        agent_share_percent=100,
    )
    await desk.apply(task_id, agent)
    await desk.submit(task_id, code, agent)
    return task_id


def reasons(desk: Desk, task: Task) -> list[str]:
    assert task.reason_uri is not None
    return [one.reason for one in read_record(desk.content.get(task.reason_uri)).verdict.findings]


async def test_an_honest_program_is_paid_behind_one_that_stalls_in_every_case(
    desk: Desk, sandbox: NamespaceProvider
):
    await desk.market.deposit_test_money(TEAM, "bob", 1000)
    stalling = await submitted(desk, STALLS, "solver", "ann", 20)
    honest = await submitted(desk, HONEST, "rival", "bob", 2)
    async with asyncio.timeout(HANG_SECONDS):
        assert await flow(desk, sandbox).step() == 2
    paid, refunded = [await desk.market.task(TEAM, one) for one in (honest, stalling)]
    assert (paid.state, paid.score, refunded.state, refunded.score) == ("paid", 100, "refunded", 0)
    assert await desk.market.balance(TEAM, "rival") == 100
    assert await desk.market.balance(TEAM, "solver") == 0
    # Two cases stalled for as long as one may, and no other was begun.
    limit = "over the limit: wall_time"
    assert reasons(desk, refunded) == [limit] * 2 + [f"{limit} (all cases together have 4 s)"] * 18
