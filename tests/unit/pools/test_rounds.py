"""Turns by team, as a property of the order that `Slots` and `FairThreads` share."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from arena.pools.slots import Slots
from arena.team import working_for

TEAMS = ("a", "b", "c")


@given(
    st.integers(1, 3),
    st.integers(0, 2),
    st.lists(st.tuples(st.sampled_from(TEAMS), st.sampled_from(["ask", "end", "cancel"]))),
)
def test_no_team_gets_two_slots_in_a_row_while_another_waits_below_its_limit(
    count: int, spare: int, steps: list[tuple[str, str]]
):
    asyncio.run(check(count, spare, steps))


class Teams:
    """Teams that ask for slots, hold them and give them back."""

    def __init__(self, count: int, spare: int) -> None:
        self.slots = Slots(count, spare=spare)
        self.granted: list[str] = []
        self.holding: list[str] = []
        self.asking: dict[asyncio.Task[None], str] = {}

    async def ask(self, team: str) -> None:
        with working_for(team):
            assert await self.slots.take() == team
        self.granted.append(team)
        self.holding.append(team)

    def step(self, team: str, step: str) -> None:
        if step == "ask":
            self.asking[asyncio.create_task(self.ask(team))] = team
        elif step == "cancel":
            for task in [task for task, one in self.asking.items() if one == team][-1:]:
                task.cancel()
                del self.asking[task]
        elif self.holding:
            self.slots.give_back(self.holding.pop(0))

    def waiting(self) -> set[str]:
        return {team for task, team in self.asking.items() if not task.done()}


async def check(count: int, spare: int, steps: list[tuple[str, str]]) -> None:
    teams = Teams(count, spare)
    overtaken = {team: Counter[str]() for team in TEAMS}
    """Grants to each other team since this one waits, or had its last turn."""
    for team, step in [*steps, *[("a", "end")] * len(steps)]:
        waited, held = teams.waiting(), {one: teams.holding.count(one) for one in TEAMS}
        before = len(teams.granted)
        teams.step(team, step)
        for _ in range(5):
            await asyncio.sleep(0)
        counts = {one: teams.holding.count(one) for one in TEAMS}
        assert max(counts.values()) <= count
        assert sum(counts.values()) <= count + spare
        # Nobody waits for a slot that is free for their team.
        if sum(counts.values()) < count + spare:
            assert all(counts[one] >= count for one in teams.waiting())
        new = teams.granted[before:]
        for one in TEAMS:
            if one in waited & teams.waiting() and one not in new and held[one] < count:
                overtaken[one].update(new)
            else:
                overtaken[one].clear()
            assert max(overtaken[one].values(), default=0) < 2, (one, overtaken[one])
    for task in teams.asking:
        task.cancel()
    await asyncio.gather(*teams.asking, return_exceptions=True)


async def test_teams_take_turns_and_within_a_team_the_first_comes_first():
    slots = Slots(1)
    order: list[str] = []

    async def one(team: str, name: str) -> None:
        with working_for(team):
            async with slots.slot():
                order.append(name)

    held = await slots.take()
    names = ("a0", "a1", "a2", "a3", "b0", "b1")
    waiting = [asyncio.create_task(one(name[0], name)) for name in names]
    await asyncio.sleep(0)  # they all wait now
    slots.give_back(held)
    await asyncio.gather(*waiting)
    assert order == ["a0", "b0", "a1", "b1", "a2", "a3"]


async def test_a_team_cannot_take_the_spare_slots_alone():
    slots = Slots(2, spare=1)
    held = [await slots.take() for _ in range(2)]
    third = asyncio.create_task(slots.take())
    await asyncio.sleep(0)
    assert not third.done()
    with working_for("other"):
        assert await slots.take() == "other"
    slots.give_back(held[0])
    await third
