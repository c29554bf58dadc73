import asyncio
import threading

from arena.pools.threads import FairThreads, share_threads
from arena.team import current_team, working_for


async def test_a_read_of_one_team_does_not_wait_behind_the_flood_of_another():
    threads = FairThreads("test", 2, spare=1)
    gate = threading.Event()
    with working_for("flood"):
        flood = [asyncio.ensure_future(threads.run(gate.wait)) for _ in range(20)]
    with working_for("other"):
        assert await threads.run(current_team) == "other"
    gate.set()
    assert all(await asyncio.gather(*flood))
    threads.shutdown()


async def test_teams_take_turns():
    threads = FairThreads("test", 1, spare=0)
    gate, order = threading.Event(), list[str]()
    waits = [asyncio.ensure_future(threads.run(gate.wait))]
    for team in ("a", "a", "a", "b"):
        with working_for(team):
            waits.append(asyncio.ensure_future(threads.run(lambda: order.append(current_team()))))
    await asyncio.sleep(0)  # they have all been submitted now
    gate.set()
    await asyncio.gather(*waits)
    assert order == ["a", "b", "a", "a"]
    threads.shutdown()


async def test_the_pool_of_to_thread_is_fair_and_made_once_per_loop():
    share_threads()
    share_threads()
    name = await asyncio.to_thread(lambda: threading.current_thread().name)
    assert name.startswith("read")


async def test_a_cancelled_job_is_not_run():
    threads = FairThreads("test", 1, spare=0)
    gate, ran = threading.Event(), list[int]()
    first = asyncio.ensure_future(threads.run(gate.wait))
    second = asyncio.ensure_future(threads.run(ran.append, 1))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    gate.set()
    await first
    threads.shutdown()
    assert ran == []
