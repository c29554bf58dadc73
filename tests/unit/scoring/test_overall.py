"""One number from four: a weighted mean over what has data."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.components import Components
from arena.scoring.overall import DEFAULT_WEIGHTS, Overall, Weights, overall

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
        Weights(**changed)


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
        name: (Fraction(score), Fraction(Decimal(getattr(by, name))))
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
