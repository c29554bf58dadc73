import asyncio

import pytest

from arena.models.throttle import Entry, Throttle, WaitTooLong


def new(first_seconds: float = 0.001, max_wait_seconds: float = 600.0) -> Throttle:
    return Throttle(first_seconds=first_seconds, max_wait_seconds=max_wait_seconds)


async def refuse(throttle: Throttle, seconds: float | None) -> float:
    """One request that is refused."""
    entry = await throttle.enter()
    try:
        return throttle.refused(entry, seconds)
    finally:
        throttle.leave(entry)


async def test_a_provider_that_never_refuses_slows_nobody():
    throttle = new()
    entries = [throttle.enter() for _ in range(100)]
    for entry in entries:
        with pytest.raises(StopIteration):  # it ends without having waited for anything
            entry.send(None)


async def test_a_refusal_pauses_everybody_for_the_requested_time():
    throttle = new()
    loop = asyncio.get_running_loop()
    until = loop.time() + 0.2
    assert await refuse(throttle, 0.2) == 0.2
    await throttle.enter()
    assert loop.time() >= until


async def test_after_a_pause_one_probe_goes_out_and_the_others_wait_for_it():
    throttle = new()
    await refuse(throttle, 0.01)
    waiting = {asyncio.create_task(throttle.enter()) for _ in range(5)}
    done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    (probe,) = done
    assert probe.result().is_probe
    still, _ = await asyncio.wait(waiting, timeout=0.1)
    assert not still
    throttle.leave(probe.result())
    done, _ = await asyncio.wait(waiting)
    assert not any(task.result().is_probe for task in done)


async def test_a_cancelled_probe_lets_the_others_go():
    throttle = new()
    await refuse(throttle, 0.01)

    async def cancelled() -> Entry:
        entry = await throttle.enter()
        try:
            raise asyncio.CancelledError
        finally:
            throttle.leave(entry)

    with pytest.raises(asyncio.CancelledError):
        await cancelled()
    await throttle.enter()


async def test_without_a_requested_time_the_pause_doubles_until_something_is_accepted():
    throttle = new(first_seconds=0.004)
    waits = [await refuse(throttle, None) for _ in range(4)]
    for wait, expected in zip(waits, (0.004, 0.008, 0.016, 0.032), strict=True):
        assert expected / 2 <= wait <= expected
    throttle.leave(await throttle.enter())
    assert await refuse(throttle, None) <= 0.004


async def test_a_requested_time_that_does_not_help_grows_too():
    throttle = new(first_seconds=0.004)
    waits = [await refuse(throttle, 0.001) for _ in range(4)]
    assert waits[0] == 0.001
    assert waits[3] >= 0.008


async def test_pauses_in_a_row_have_a_limit_together():
    throttle = new(max_wait_seconds=0.1)
    assert await refuse(throttle, 0.06) == 0.06
    with pytest.raises(WaitTooLong) as caught:
        await refuse(throttle, 0.06)
    assert (caught.value.pause_seconds, caught.value.waited_seconds) == (0.06, 0.06)
    assert await refuse(throttle, 0.06) == 0.06  # whoever tries again later starts at zero


async def test_refusals_of_one_burst_are_one_refusal():
    throttle = new(first_seconds=0.001, max_wait_seconds=0.09)
    burst = [await throttle.enter() for _ in range(20)]
    for entry in burst:  # in flight together, refused together
        assert throttle.refused(entry, 0.05) == 0.05
        throttle.leave(entry)
    with pytest.raises(WaitTooLong):  # the second pause
        await refuse(throttle, 0.05)


async def test_time_in_which_nobody_asked_does_not_slow_anybody(monkeypatch):
    now, pauses = 0.0, list[float]()

    async def sleep(seconds: float) -> None:
        nonlocal now
        pauses.append(seconds)
        now += seconds

    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    throttle = new()
    throttle.leave(await throttle.enter())
    now += 3600  # an hour later
    accepted = [await throttle.enter() for _ in range(10)]
    await refuse(throttle, 0.1)
    for entry in accepted:
        throttle.leave(entry)
    throttle.leave(await throttle.enter())  # the probe
    await throttle.enter()
    # Ten requests were accepted in 0.1 s, with a margin of a tenth; not eleven in an hour.
    assert pauses == pytest.approx([0.1, 0.011])
