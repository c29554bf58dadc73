import asyncio

from arena.models.turns import Turns, turns_at
from arena.team import working_for


async def test_nobody_gets_a_turn_during_a_pause():
    turns = Turns(max_concurrency=5)
    loop = asyncio.get_running_loop()
    until = loop.time() + 0.2
    turns.pause(0.2)
    turns.pause(0.01)  # a shorter pause does not end a longer one

    async def one() -> float:
        async with turns.turn():
            return loop.time()

    assert min(await asyncio.gather(*(one() for _ in range(5)))) >= until


async def test_teams_take_turns_at_an_endpoint():
    turns = Turns(max_concurrency=1)
    order: list[str] = []

    async def one(team: str) -> None:
        with working_for(team):
            async with turns.turn():
                order.append(team)

    held = await turns.take()
    waiting = [asyncio.create_task(one(team)) for team in ("a", "a", "a", "b")]
    await asyncio.sleep(0)
    turns.give_back(held)
    await asyncio.gather(*waiting)
    assert order == ["a", "b", "a", "a"]


async def test_all_callers_of_one_endpoint_share_its_turns():
    here = turns_at("http://a/v1", max_concurrency=1, per_minute=None)
    assert turns_at("http://a/v1", max_concurrency=9, per_minute=9) is here
    assert turns_at("http://b/v1", max_concurrency=1, per_minute=None) is not here


def test_each_event_loop_has_its_own_turns():
    async def at() -> Turns:
        return turns_at("http://a/v1", max_concurrency=1, per_minute=None)

    assert asyncio.run(at()) is not asyncio.run(at())


async def test_a_pause_also_applies_to_those_already_waiting_for_the_window():
    turns = Turns(max_concurrency=5, per_minute=1, window_seconds=0.1)
    loop = asyncio.get_running_loop()

    async def one() -> float:
        async with turns.turn():
            return loop.time()

    await one()
    waiting = asyncio.create_task(one())
    await asyncio.sleep(0)  # it waits for the window now, and there was no pause yet
    until = loop.time() + 0.3
    turns.pause(0.3)
    assert await waiting >= until
