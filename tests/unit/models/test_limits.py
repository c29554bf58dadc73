import asyncio

import pytest

from arena.models.turns import Turns


class Work:
    """Work done in a turn: counts how many run at once and records when they started."""

    def __init__(self, limiter: Turns, seconds: float = 0.02) -> None:
        self.limiter = limiter
        self.seconds = seconds
        self.running = self.most = 0
        self.started: list[float] = []

    async def once(self) -> None:
        async with self.limiter.turn():
            self.started.append(asyncio.get_running_loop().time())
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(self.seconds)
            self.running -= 1

    async def times(self, count: int) -> None:
        async with asyncio.timeout(20):
            await asyncio.gather(*(self.once() for _ in range(count)))


async def test_never_more_at_once_than_allowed():
    work = Work(Turns(max_concurrency=3))
    await work.times(10)
    assert work.most == 3


async def test_never_more_in_any_window_than_allowed():
    limits = dict(max_concurrency=9, per_minute=3)
    work = Work(Turns(**limits, window_seconds=0.2), seconds=0)
    await work.times(8)
    assert len(work.started) == 8
    for early, late in zip(work.started, work.started[3:], strict=False):
        assert late - early >= 0.19


async def test_the_first_ones_do_not_wait():
    await Work(Turns(max_concurrency=9, per_minute=5), seconds=0).times(5)


async def test_a_fault_gives_its_turn_back():
    limiter = Turns(max_concurrency=1)
    with pytest.raises(ValueError, match="broken"):
        async with limiter.turn():
            raise ValueError("broken")
    await Work(limiter).times(1)


async def test_a_cancelled_task_gives_its_turn_back():
    limiter = Turns(max_concurrency=1)
    task = asyncio.create_task(Work(limiter, seconds=60).once())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await Work(limiter).times(1)


async def test_cancelling_a_waiting_task_leaves_the_order_intact():
    limits = dict(max_concurrency=9, per_minute=1)
    work = Work(Turns(**limits, window_seconds=0.1), seconds=0)
    await work.once()
    waiting = [asyncio.create_task(work.once()) for _ in range(2)]
    await asyncio.sleep(0.01)
    waiting[0].cancel()
    await asyncio.wait_for(waiting[1], 5)
    assert len(work.started) == 2
