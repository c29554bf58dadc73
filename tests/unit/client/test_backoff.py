"""Waits after failures grow, end, and are forgotten after a success."""

from arena.client.backoff import MAX_HOLD_SECONDS, Restraint, grown


def test_a_delay_doubles_up_to_the_most():
    delays = [grown(10.0, number, most_seconds=60.0) for number in (1, 2, 3, 4, 5000)]
    assert delays == [10.0, 20.0, 40.0, 60.0, 60.0]


def test_failures_in_a_row_restrain_for_longer_and_a_success_ends_it():
    restraint = Restraint(MAX_HOLD_SECONDS / 2)
    assert not restraint.is_on
    assert restraint.failed().endswith("within 300 s")
    assert restraint.failed().endswith("within 600 s")
    assert restraint.failed().endswith("within 600 s")
    assert restraint.is_on
    restraint.succeeded()
    assert not restraint.is_on
    assert restraint.failed().startswith("a task failed")
