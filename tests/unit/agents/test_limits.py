import asyncio

import pytest

from arena.agents import Answer, Limits, Question
from arena.agents.limits import Limited
from arena.errors import AgentCrashed

QUESTION = Question(id="q", prompt="p", timeout_seconds=1)


class Slow:
    """A connector that counts how many ask it at once and when they began."""

    def __init__(self, seconds: float = 0.02) -> None:
        self.seconds = seconds
        self.running = self.most = 0
        self.begun: list[float] = []
        self.is_closed = False

    async def answer(self, question: Question) -> Answer:
        self.begun.append(asyncio.get_running_loop().time())
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.seconds)
            if question.prompt == "fail":
                raise AgentCrashed
            return Answer(output="ok")
        finally:
            self.running -= 1

    async def close(self) -> None:
        self.is_closed = True


async def test_never_more_at_once_than_allowed():
    slow = Slow()
    limited = Limited(slow, Limits(max_concurrency=3))
    await asyncio.gather(*(limited.answer(QUESTION) for _ in range(10)))
    assert slow.most == 3


async def test_never_more_in_any_window_than_allowed():
    slow = Slow(0)
    limited = Limited(slow, Limits(max_concurrency=9, per_minute=3), window_seconds=0.2)
    await asyncio.gather(*(limited.answer(QUESTION) for _ in range(8)))
    assert len(slow.begun) == 8
    for early, late in zip(slow.begun, slow.begun[3:], strict=False):
        assert late - early >= 0.19


async def test_the_first_ones_do_not_wait():
    limited = Limited(Slow(0), Limits(max_concurrency=9, per_minute=5))
    await asyncio.wait_for(asyncio.gather(*(limited.answer(QUESTION) for _ in range(5))), 5)


async def test_a_fault_or_a_cancelled_question_gives_its_slot_back():
    limited = Limited(Slow(), Limits(max_concurrency=1))
    with pytest.raises(AgentCrashed):
        await limited.answer(Question(id="q", prompt="fail", timeout_seconds=1))
    task = asyncio.create_task(limited.answer(QUESTION))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await asyncio.wait_for(limited.answer(QUESTION), 5)).output == "ok"


async def test_cancelling_one_that_waits_for_its_turn_leaves_the_order_intact():
    limited = Limited(Slow(0), Limits(max_concurrency=9, per_minute=1), window_seconds=0.1)
    await limited.answer(QUESTION)
    waiting = [asyncio.create_task(limited.answer(QUESTION)) for _ in range(2)]
    await asyncio.sleep(0.01)
    waiting[0].cancel()
    assert (await asyncio.wait_for(waiting[1], 5)).output == "ok"


async def test_closing_closes_the_connector():
    slow = Slow()
    await Limited(slow, Limits()).close()
    assert slow.is_closed
