"""The meter of a run that several workers execute."""

from arena.models.budget import Budget, Spent
from arena.models.usage import Usage
from arena.runs.budget import SharedMeter


def test_an_older_figure_does_not_turn_the_clock_back():
    meter = SharedMeter(Budget(max_minutes=1), Spent(seconds=50))
    meter.learn(Spent(seconds=1))
    assert meter.spent.seconds >= 50
    meter.learn(Spent(seconds=55))
    assert meter.spent.seconds >= 55


def test_what_others_spent_is_added_once():
    meter = SharedMeter(Budget(max_tokens=100), Spent(tokens=10))
    meter.spend(Usage(input_tokens=5, output_tokens=0))
    reported = meter.unreported()
    meter.learn(Spent(tokens=35))  # 20 of others and these 5, read before the report has returned
    meter.report(reported, Spent(tokens=35))
    assert (meter.spent.tokens, meter.unreported().tokens) == (35, 0)
