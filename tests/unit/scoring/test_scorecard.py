"""One number from four, and all the numbers of one agent version together."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.components import Share
from arena.scoring.scorecard import (
    DEFAULT_WEIGHTS,
    Components,
    Evidence,
    Overall,
    Weights,
    overall,
    scorecard,
)

scores = st.none() | st.integers(0, 10_000).map(lambda cents: Decimal(cents).scaleb(-2))
components = st.builds(
    Components, benchmark=scores, user_rating=scores, success_rate=scores, cost_efficiency=scores
)


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    cuts = sorted(draw(st.lists(st.integers(0, 1000), min_size=3, max_size=3)))
    steps = [b - a for a, b in zip([0, *cuts], [*cuts, 1000], strict=True)]
    one, two, three, four = (Decimal(step).scaleb(-3) for step in steps)
    return Weights(benchmark=one, user_rating=two, success_rate=three, cost_efficiency=four)


def test_the_example_of_the_leaderboard_holds() -> None:
    parts = Components(
        benchmark=Decimal(100),
        user_rating=Decimal(75),
        success_rate=Decimal(80),
        cost_efficiency=Decimal(70),
    )
    assert overall(parts) == Overall(score=Decimal("85.5"), coverage=Decimal(1), provisional=False)


def test_a_perfect_benchmark_alone_is_a_provisional_hundred() -> None:
    assert overall(Components(benchmark=Decimal(100))) == Overall(
        score=Decimal(100), coverage=Decimal("0.4"), provisional=True
    )


def test_without_any_data_there_is_no_score() -> None:
    assert overall(Components()) == Overall(score=None, coverage=Decimal(0), provisional=True)


def test_data_that_weighs_nothing_gives_no_score() -> None:
    only_ratings = Weights(benchmark=0, user_rating=1, success_rate=0, cost_efficiency=0)
    result = overall(Components(benchmark=Decimal(100)), only_ratings)
    assert (result.score, result.coverage, result.provisional) == (None, 0, True)
    complete = overall(Components(user_rating=Decimal(50)), only_ratings)
    assert (complete.score, complete.coverage, complete.provisional) == (50, 1, False)


def test_halves_of_a_cent_go_up() -> None:
    even = Weights(benchmark=0.5, user_rating=0.5, success_rate=0, cost_efficiency=0)
    parts = Components(benchmark=Decimal("0.01"), user_rating=Decimal("0.00"))
    assert overall(parts, even).score == Decimal("0.01")


def test_weights_as_floats_are_taken_as_written() -> None:
    assert Weights(benchmark=0.4, user_rating=0.3, success_rate=0.2, cost_efficiency=0.1) == (
        DEFAULT_WEIGHTS
    )
    assert DEFAULT_WEIGHTS.parts == {
        "benchmark": 400_000_000,
        "user_rating": 300_000_000,
        "success_rate": 200_000_000,
        "cost_efficiency": 100_000_000,
    }


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"benchmark": 0.5}, "add up to 1.1, must add up to 1: benchmark 0.5, user_rating 0.3"),
        ({"benchmark": 0.400000002}, "must add up to 1"),  # beyond the tolerance of 1e-9
        ({"benchmark": -0.4, "user_rating": 1.1}, "weight benchmark is -0.4"),
        ({"benchmark": float("nan")}, "weight benchmark is NaN"),
        ({"cost_efficiency": float("inf")}, "weight cost_efficiency is Infinity"),
    ],
)
def test_wrong_weights_are_refused(changed: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Weights.from_settings(changed)


def test_weights_may_miss_one_by_a_billionth() -> None:
    thirds = Weights(
        benchmark=0.333333333, user_rating=0.333333333, success_rate=0.333333333, cost_efficiency=0
    )
    same = Decimal("66.67")
    result = overall(Components(benchmark=same, user_rating=same, success_rate=same), thirds)
    assert (result.score, result.coverage, result.provisional) == (same, 1, False)


def test_a_component_with_hidden_decimals_is_refused() -> None:
    with pytest.raises(InvalidInput, match="more than two decimals"):
        overall(Components(benchmark=Decimal("66.666")))


@given(components, weights())
def test_the_score_is_the_exact_weighted_mean_to_the_cent(parts: Components, by: Weights) -> None:
    result = overall(parts, by)
    known = {
        name: (Fraction(score), Fraction(str(getattr(by, name))))
        for name, score in parts.by_name().items()
        if score is not None
    }
    covered = sum((weight for _, weight in known.values()), Fraction(0))
    assert Fraction(result.coverage) == round(covered, 4)
    assert result.provisional == (covered < 1)
    if not covered:
        assert result.score is None
        return
    exact = sum(score * weight for score, weight in known.values()) / covered
    assert result.score is not None
    assert abs(Fraction(result.score) - exact) <= Fraction(1, 200)
    counting = [score for score, weight in known.values() if weight]
    assert min(counting) <= Fraction(result.score) <= max(counting)


@given(components, weights(), st.sampled_from(["benchmark", "user_rating", "success_rate"]))
def test_raising_a_component_never_lowers_the_score(
    parts: Components, by: Weights, name: str
) -> None:
    before = overall(parts, by).score
    values = parts.by_name()
    if before is None or values[name] is None:
        return
    after = overall(Components(**(values | {name: Decimal(100)})), by).score
    assert after is not None
    assert after >= before


def _ratings(stars: list[int]) -> Share:
    return Share.of_ratings(len(stars), sum(stars), sum(star * star for star in stars))


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


def test_a_single_rating_is_nearly_no_knowledge() -> None:
    interval = scorecard(Evidence(user_rating=_ratings([5]))).intervals["user_rating"]
    assert interval.low < 25
    assert interval.high == 100


def test_only_components_that_weigh_something_make_a_card_provisional() -> None:
    weights = Weights(benchmark=1, user_rating=0, success_rate=0, cost_efficiency=0)
    card = scorecard(Evidence(benchmark=Share.of_counts(1, 2)), weights)
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
