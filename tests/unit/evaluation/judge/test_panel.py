import statistics

from hypothesis import given
from hypothesis import strategies as st

from arena.evaluation.judge.panel import lower_median, medians, spreads, weighted_total
from arena.evaluation.judgement import Vote


@given(st.lists(st.integers(0, 100), min_size=1, max_size=25))
def test_the_middle_vote_counts_and_of_two_the_lower(scores):
    assert lower_median(scores) == statistics.median_low(scores)


def test_each_criterion_is_counted_by_itself():
    votes = [
        Vote(model="m", number=n, scores={"a": a, "b": b})
        for n, (a, b) in enumerate([(10, 90), (20, 80), (90, 10)], start=1)
    ]
    assert medians(("a", "b"), votes) == {"a": 20, "b": 80}
    assert spreads(("a", "b"), votes) == {"a": 80, "b": 80}


def test_a_total_has_no_dust():
    assert weighted_total(("a", "b", "c"), (0.1, 0.2, 0.7), {"a": 60, "b": 60, "c": 60}) == 60
    assert weighted_total(("a", "b"), (0, 2), {"a": 0, "b": 77}) == 77
