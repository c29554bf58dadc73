import asyncio

from arena.limits.request import Outcome
from arena.limits.shared_turns import SharedTurns, clock_seconds

TEAM = "default"


def settle(turns: SharedTurns, slots: int) -> None:
    """The tables grant so many slots to this process."""
    now = clock_seconds()
    request = turns.request(now)
    outcome = Outcome(
        slots={team: slots for team in request.needs},
        shares={team: slots for team in request.needs},
        paused_seconds=0.0,
        permits={},
        next_permit_seconds=None,
        slice_seconds=None,
    )
    turns.take_over(request, outcome, now)


async def test_a_slot_that_was_lost_before_its_call_began_is_not_used():
    turns = SharedTurns("agent:parrot", "me", lambda: None, max_concurrency=1)
    began: list[str] = []

    async def call() -> None:
        async with turns.turn(1.0):
            began.append("now")

    task = asyncio.create_task(call())
    await asyncio.sleep(0)  # it waits for a slot
    settle(turns, 1)
    # Before it goes on: the process was stopped for so long that others have its slot.
    settle(turns, 0)
    for _ in range(3):
        await asyncio.sleep(0)
    assert began == []
    settle(turns, 1)
    await task
    assert began == ["now"]
