"""The rules of what is shown of the queue."""

import pytest

from arena.queue.overview import NEWEST_RESULTS, results_per_second


@pytest.mark.parametrize(
    ("recent", "oldest_seconds", "running_seconds", "rate"),
    [
        (0, 0, 500, 0),
        (30, 55, 500, 0.5),  # of a whole minute
        (30, 9, 10, 3),  # it began ten seconds ago
        (5, 0, 0.1, 5),  # it has just begun: at least a second
        (NEWEST_RESULTS, 10, 500, NEWEST_RESULTS / 10),  # more than were looked at
    ],
)
def test_the_throughput_is_that_of_the_last_minute(
    recent: int, oldest_seconds: float, running_seconds: float, rate: float
):
    found = results_per_second(
        recent, oldest_seconds=oldest_seconds, running_seconds=running_seconds
    )
    assert found == pytest.approx(rate)
