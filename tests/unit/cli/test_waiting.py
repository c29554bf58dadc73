"""How long a judge waits with a task that it cannot judge yet."""

from datetime import timedelta

from arena import clock
from arena.market.judging import MAX_WAIT_SECONDS, _Postponed


def test_a_task_that_waits_for_people_for_weeks_does_not_end_the_judge():
    """A window may be 30 days long, which is thousands of polls."""
    waiting, now = _Postponed(), clock.now()
    for _ in range(10_000):
        waiting.add(1, now)
    assert waiting.until[1] == now + timedelta(seconds=MAX_WAIT_SECONDS)
