"""The four components: right where there is data, None where there is none."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.components import (
    Components,
    CostContribution,
    average_rating,
    benchmark_score,
    cost_contribution,
    cost_efficiency_score,
    success_rate_score,
    user_rating_score,
)


def test_without_data_every_component_is_missing_and_not_a_number() -> None:
    assert benchmark_score(0, 0) is None
    assert user_rating_score(0, 0) is None  # the origin said −25 here
    assert success_rate_score(0, 0) is None
    assert cost_efficiency_score(0, 0) is None
    assert average_rating(0, 0) is None


def test_a_zero_is_not_missing_data() -> None:
    assert benchmark_score(0, 12) == 0
    assert user_rating_score(3, 3) == 0
    assert success_rate_score(0, 1) == 0
    assert cost_efficiency_score(0, 1) == 0


@pytest.mark.parametrize(
    ("passed", "total", "score"), [(12, 12, "100.00"), (11, 12, "91.67"), (1, 6, "16.67")]
)
def test_benchmark_is_passed_of_total(passed: int, total: int, score: str) -> None:
    assert benchmark_score(passed, total) == Decimal(score)
    assert success_rate_score(passed, total) == Decimal(score)


@pytest.mark.parametrize(
    ("ratings", "score", "average"),
    [
        ([1], "0.00", "1.00"),
        ([3], "50.00", "3.00"),
        ([5], "100.00", "5.00"),
        ([4, 4, 4], "75.00", "4.00"),
        ([5, 4, 4], "83.33", "4.33"),
        ([5, 5, 5, 5, 5, 5, 5, 4], "96.88", "4.88"),  # 96.875 and 4.875: halves go up
    ],
)
def test_stars_become_a_score_by_average_minus_one_times_25(
    ratings: list[int], score: str, average: str
) -> None:
    assert user_rating_score(sum(ratings), len(ratings)) == Decimal(score)
    assert average_rating(sum(ratings), len(ratings)) == Decimal(average)


@pytest.mark.parametrize(("rating_sum", "count"), [(0, 1), (6, 1), (16, 3), (1, 0), (-1, -1)])
def test_sums_that_no_ratings_have_are_refused(rating_sum: int, count: int) -> None:
    with pytest.raises(InvalidInput):
        user_rating_score(rating_sum, count)


@pytest.mark.parametrize(
    ("points", "budget", "tokens", "earned", "possible"),
    [
        (1.0, 2000.0, 0, 1_000_000, 1_000_000),  # nothing spent: full efficiency
        (1.0, 2000.0, 1999, 1_000_000, 1_000_000),  # within the budget
        (1.0, 2000.0, 2000, 1_000_000, 1_000_000),  # the budget itself
        (1.0, 2000.0, 4000, 500_000, 1_000_000),  # twice the budget, half the points
        (1.5, 3000.0, 9000, 500_000, 1_500_000),
        (1.0, 2000.0, 3000, 666_667, 1_000_000),
        (0.1, 200.0, 0, 100_000, 100_000),  # a tenth, not the float next to it
        (1.0, 0.0, 10, 100_000, 1_000_000),  # a budget is at least one token
        (1.0, 2.5, 6, 500_000, 1_000_000),  # and whole: 2.5 counts as 3
        (0.0, 0.0, 10, 0, 0),  # a test without points says nothing
    ],
)
def test_a_result_over_its_budget_keeps_that_share_of_its_points(
    points: float, budget: float, tokens: int, earned: int, possible: int
) -> None:
    assert cost_contribution(points, budget, tokens) == CostContribution(
        earned_micropoints=earned, possible_micropoints=possible
    )


def test_a_result_with_unknown_tokens_adds_nothing() -> None:
    assert cost_contribution(1.0, 2000.0, None) is None


@pytest.mark.parametrize(
    ("points", "budget", "tokens"),
    [(-1, 2000, 5), (float("nan"), 2000, 5), (1, float("inf"), 5), (1, -1, 5), (1, 2000, -5)],
)
def test_impossible_amounts_are_refused(points: float, budget: float, tokens: int) -> None:
    with pytest.raises(InvalidInput, match="must be"):
        cost_contribution(points, budget, tokens)


@given(st.integers(1, 10**7), st.integers(1, 10**6), st.integers(0, 10**9), st.integers(0, 10**6))
def test_more_tokens_never_earn_more(micro: int, budget: int, tokens: int, extra: int) -> None:
    points = Decimal(micro).scaleb(-6)
    less = cost_contribution(points, budget, tokens)
    more = cost_contribution(points, budget, tokens + extra)
    assert less is not None
    assert more is not None
    assert 0 <= more.earned_micropoints <= less.earned_micropoints <= less.possible_micropoints
    exact = micro * min(Fraction(1), Fraction(budget, max(tokens, 1)))
    assert abs(less.earned_micropoints - exact) <= Fraction(1, 2)


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_one_more_pass_never_lowers_the_score(passed: int, more: int) -> None:
    lower, higher = (
        benchmark_score(passed, passed + more),
        benchmark_score(passed + 1, passed + more),
    )
    assert lower is not None
    assert higher is not None
    assert 0 <= lower < higher <= 100


@pytest.mark.parametrize("score", ["-25", "100.01", "-0.01"])
def test_a_component_outside_the_scale_is_refused_by_name(score: str) -> None:
    with pytest.raises(InvalidInput, match="user_rating is"):
        Components(user_rating=Decimal(score))
