"""All the numbers of one agent version together."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scoring.overall import Weights
from arena.scoring.scorecard import Evidence, scorecard
from arena.scoring.share import Share


def _ratings(votes: list[int]) -> Share:
    return Share.of_ratings(len(votes), sum(votes), sum(vote * vote for vote in votes))


def test_a_full_card_says_85_5() -> None:
    card = scorecard(
        Evidence(
            benchmark=Share.of_counts(12, 12),
            user_rating=_ratings([3, 4, 5, 4]),
            success_rate=Share.of_counts(80, 100),
            cost_efficiency=Share.of_groups([(700_000, 1_000_000)] * 12),
        )
    )
    assert card.components.by_name() == {
        "benchmark": 100,
        "user_rating": 75,
        "success_rate": 80,
        "cost_efficiency": 70,
    }
    assert (card.overall.score, card.overall.coverage) == (Decimal("85.50"), 1)
    assert not card.overall.provisional
    assert card.overall_interval is not None
    assert card.overall_interval.low < 85.5 < card.overall_interval.high
    assert {name: interval.method for name, interval in card.intervals.items()} == {
        "benchmark": "wilson",
        "user_rating": "wilson-effective",
        "success_rate": "wilson",
        "cost_efficiency": "wilson",  # no spread seen, so the widest that could be
    }


def test_a_benchmark_alone_has_the_interval_of_the_benchmark() -> None:
    card = scorecard(Evidence(benchmark=Share.of_counts(12, 12)))
    assert (card.overall.score, card.overall.coverage) == (100, Decimal("0.4"))
    assert card.overall.provisional
    interval = card.overall_interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((75.7506, 100), abs=1e-4)
    assert list(card.intervals) == ["benchmark"]


def test_without_evidence_there_are_no_numbers() -> None:
    card = scorecard(Evidence())
    assert set(card.components.by_name().values()) == {None}
    assert (card.overall.score, card.overall_interval, card.intervals) == (None, None, {})


def test_a_single_vote_is_nearly_no_knowledge() -> None:
    interval = scorecard(Evidence(user_rating=_ratings([5]))).intervals["user_rating"]
    assert interval.low < 25
    assert interval.high == 100


def test_the_card_shows_the_weights_it_was_made_with() -> None:
    weights = Weights(benchmark=1, user_rating=0, success_rate=0, cost_efficiency=0)
    card = scorecard(Evidence(benchmark=Share.of_counts(1, 2)), weights)
    assert card.weights == weights
    assert not card.overall.provisional


def test_evidence_that_weighs_nothing_gives_no_overall_interval() -> None:
    weights = Weights(benchmark=1, user_rating=0, success_rate=0, cost_efficiency=0)
    card = scorecard(Evidence(success_rate=Share.of_counts(1, 2)), weights)
    assert card.overall.score is None
    assert card.overall_interval is None
    assert "success_rate" in card.intervals


def test_another_confidence_reaches_every_interval() -> None:
    evidence = Evidence(benchmark=Share.of_counts(6, 12), user_rating=_ratings([3, 4]))
    wide, narrow = scorecard(evidence, confidence=0.99), scorecard(evidence, confidence=0.8)
    assert wide.overall_interval is not None
    assert narrow.overall_interval is not None
    assert (wide.overall_interval.confidence, narrow.overall_interval.confidence) == (0.99, 0.8)
    assert wide.overall_interval.low < narrow.overall_interval.low


counts = st.integers(0, 400).flatmap(
    lambda n: st.builds(Share.of_counts, st.integers(0, n), st.just(n))
)
unit = st.integers(1, 5_000_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
groups = st.builds(Share.of_groups, st.lists(unit, max_size=15))
evidences = st.builds(
    Evidence,
    benchmark=counts | groups,
    user_rating=st.lists(st.integers(1, 5), max_size=20).map(_ratings),
    success_rate=counts,
    cost_efficiency=groups,
)


@given(evidences)
def test_every_interval_holds_its_score_and_stays_on_the_scale(evidence: Evidence) -> None:
    card = scorecard(evidence)
    for name, score in card.components.by_name().items():
        assert (name in card.intervals) == (score is not None)
        if score is not None:
            assert float(score) in card.intervals[name]
            assert 0 <= card.intervals[name].low <= card.intervals[name].high <= 100
    assert (card.overall_interval is None) == (card.overall.score is None)
    if card.overall.score is not None and card.overall_interval is not None:
        assert float(card.overall.score) in card.overall_interval
        assert 0 <= card.overall_interval.low <= card.overall_interval.high <= 100


@given(evidences, evidences)
def test_evidence_may_arrive_in_any_order(one: Evidence, two: Evidence) -> None:
    def joined(first: Evidence, second: Evidence) -> Evidence:
        return Evidence(
            **{name: share + second.by_name()[name] for name, share in first.by_name().items()}
        )

    assert scorecard(joined(one, two)) == scorecard(joined(two, one))
