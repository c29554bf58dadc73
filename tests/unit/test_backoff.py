"""Delays after failures grow up to a limit, and a success resets them."""

from hypothesis import given
from hypothesis import strategies as st

from arena.backoff import MAX_COOLDOWN_SECONDS, Cooldown, backoff_seconds


def test_a_delay_doubles_up_to_the_most():
    delays = [backoff_seconds(10.0, number, most_seconds=60.0) for number in (1, 2, 3, 4, 5000)]
    assert delays == [10.0, 20.0, 40.0, 60.0, 60.0]


@given(st.integers(1, 10_000))
def test_jitter_takes_away_at_most_a_half(failures):
    most = backoff_seconds(0.5, failures, most_seconds=30.0)
    delay = backoff_seconds(0.5, failures, most_seconds=30.0, jitter=True)
    assert most / 2 <= delay <= most


def test_jitter_spreads_callers():
    assert len({backoff_seconds(1.0, 1, most_seconds=9.0, jitter=True) for _ in range(20)}) > 1


def test_failures_in_a_row_pause_for_longer_and_a_success_ends_it():
    cooldown = Cooldown(MAX_COOLDOWN_SECONDS / 2)
    assert not cooldown.is_active
    assert [cooldown.failed() for _ in range(3)] == [300.0, 600.0, 600.0]
    assert cooldown.failures == 3
    assert cooldown.is_active
    cooldown.succeeded()
    assert not cooldown.is_active
    assert cooldown.failed() == 300.0
