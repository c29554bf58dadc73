from uuid import uuid4

from arena.limits.permit_pool import PermitPool
from arena.limits.request import Outcome, Permits, Request


def add(pool: PermitPool, count: int, now: float) -> Permits:
    rate, used = pool.request(now)
    request = Request(
        place="p", holder="h.0", capacity=1, lease_seconds=1.0, needs={}, rate=rate, used=used
    )
    permits = Permits(uuid4(), "a", count)
    outcome = Outcome(slots={}, shares={}, paused_seconds=0.0, permits=[permits])
    pool.take_over(request, outcome, asked_at=now, now=now)
    return permits


def test_each_permit_is_used_once_and_by_its_team():
    pool = PermitPool(10, 60.0)
    add(pool, 2, now=100.0)
    assert pool.take("b", 100.0) is None
    assert pool.take("a", 100.0)
    assert pool.take("a", 100.0)
    assert pool.take("a", 100.0) is None
    assert not pool


def test_a_permit_that_is_too_old_is_not_used_but_given_back():
    pool = PermitPool(10, 60.0)
    permits = add(pool, 3, now=100.0)
    assert pool.take("a", 100.1)
    assert pool.take("a", 101.0) is None
    _, used = pool.request(101.0)
    assert used == {permits.id: 1}


def test_a_permit_whose_call_did_not_begin_in_time_is_given_back():
    pool = PermitPool(10, 60.0)
    permits = add(pool, 2, now=100.0)
    taken = [pool.take("a", 100.0), pool.take("a", 100.0)]
    assert taken[0] is not None
    pool.give_back(taken[0])
    _, used = pool.request(101.0)
    assert used == {permits.id: 1}


def test_a_slow_machine_gets_more_time_for_each_permit():
    pool = PermitPool(10, 60.0)
    add(pool, 1, now=100.0)
    before, _ = pool.request(100.0)
    taken = pool.take("a", 100.0)
    assert taken is not None
    pool.give_back(taken)
    assert pool.request(100.0)[0].hold_seconds == 2 * before.hold_seconds
