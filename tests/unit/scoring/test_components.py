"""Shares that can be added in any order, and the components of a score that they give."""

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.components import (
    CostContribution,
    Share,
    average_rating,
    cost_contribution,
    divide_half_up,
    share_score,
)
from arena.scoring.scorecard import Components

units = st.integers(0, 10**9).flatmap(
    lambda whole: st.tuples(st.integers(0, whole), st.just(whole))
)
groups = st.lists(units, max_size=20)
ratings = st.lists(st.integers(1, 5), max_size=30)


def _stars(ratings: list[int]) -> Share:
    return Share.of_ratings(len(ratings), sum(ratings), sum(rating**2 for rating in ratings))


def test_without_data_every_component_is_missing_and_not_a_number() -> None:
    assert share_score(0, 0) is None
    assert _stars([]).score is None  # the original formula gave −25 here
    assert average_rating(0, 0) is None


def test_a_zero_is_not_missing_data() -> None:
    assert share_score(0, 12) == 0
    assert _stars([1, 1, 1]).score == 0


@pytest.mark.parametrize(
    ("passed", "total", "score"), [(12, 12, "100.00"), (11, 12, "91.67"), (1, 6, "16.67")]
)
def test_benchmark_is_passed_of_total(passed: int, total: int, score: str) -> None:
    assert share_score(passed, total) == Decimal(score)


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
    assert _stars(ratings).score == Decimal(score)
    assert average_rating(sum(ratings), len(ratings)) == Decimal(average)


@pytest.mark.parametrize(("rating_sum", "count"), [(0, 1), (6, 1), (16, 3), (1, 0), (-1, -1)])
def test_sums_that_no_ratings_have_are_refused(rating_sum: int, count: int) -> None:
    with pytest.raises(InvalidInput):
        Share.of_ratings(count, rating_sum, rating_sum**2)


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
        share_score(passed, passed + more),
        share_score(passed + 1, passed + more),
    )
    assert lower is not None
    assert higher is not None
    assert 0 <= lower < higher <= 100


@pytest.mark.parametrize("score", ["-25", "100.01", "-0.01"])
def test_a_component_outside_the_scale_is_refused_by_name(score: str) -> None:
    with pytest.raises(InvalidInput, match="user_rating is"):
        Components(user_rating=Decimal(score))


@pytest.mark.parametrize(
    ("part", "whole", "score"),
    [
        (12, 12, "100.00"),
        (0, 12, "0.00"),
        (2, 3, "66.67"),
        (1, 3, "33.33"),
        (1, 800, "0.13"),  # exactly 0.125: a half goes up, as PostgreSQL's round() does
        (3, 800, "0.38"),  # exactly 0.375: half-even would agree here but not above
        (1, 20_000, "0.01"),  # exactly 0.005
    ],
)
def test_a_score_is_rounded_to_the_cent_with_halves_up(part: int, whole: int, score: str) -> None:
    assert str(share_score(part, whole)) == score


def test_a_share_of_nothing_has_no_score() -> None:
    assert share_score(0, 0) is None
    assert Share().score is None
    assert Share().value is None


@pytest.mark.parametrize(("part", "whole"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_a_part_outside_its_whole_is_refused(part: int, whole: int) -> None:
    with pytest.raises(InvalidInput, match="0 <= part <= whole"):
        share_score(part, whole)
    with pytest.raises(InvalidInput):
        Share.of_groups([(part, whole)])


def test_more_cannot_be_taken_away_than_was_added() -> None:
    with pytest.raises(InvalidInput, match="only what was added"):
        Share.of_counts(1, 2) - Share.of_counts(2, 2)


def test_squares_that_no_ratings_can_have_are_refused() -> None:
    # Two ratings that add up to 8 have squares of at least 32.
    assert Share.of_ratings(2, 8, 32).units == 2
    with pytest.raises(InvalidInput):
        Share.of_ratings(2, 8, 31)


def test_counts_are_the_same_as_one_group_per_trial() -> None:
    assert Share.of_counts(2, 5) == Share.of_groups([(1, 1), (1, 1), (0, 1), (0, 1), (0, 1)])


def test_a_unit_without_a_whole_is_left_out() -> None:
    assert Share.of_groups([(0, 0), (1, 2)]) == Share.of_groups([(1, 2)])


@given(ratings)
def test_ratings_are_the_same_as_one_group_per_rating(stars: list[int]) -> None:
    assert _stars(stars) == Share.of_groups((star - 1, 4) for star in stars)


@given(groups, st.randoms(use_true_random=False), st.integers(0, 20))
def test_adding_up_does_not_depend_on_order_or_grouping(
    pairs: list[tuple[int, int]], random: Random, cut: int
) -> None:
    whole = Share.of_groups(pairs)
    shuffled = pairs.copy()
    random.shuffle(shuffled)
    assert Share.of_groups(shuffled[:cut]) + Share.of_groups(shuffled[cut:]) == whole
    assert whole - Share.of_groups(shuffled[:cut]) == Share.of_groups(shuffled[cut:])


@given(groups)
def test_a_score_is_the_nearest_cent(pairs: list[tuple[int, int]]) -> None:
    share = Share.of_groups(pairs)
    if share.score is None:
        assert not share.whole
        return
    exact = Fraction(100 * share.part, share.whole)
    assert abs(Fraction(share.score) - exact) <= Fraction(1, 200)
    assert Decimal(0) <= share.score <= Decimal(100)


@given(st.integers(0, 10**40), st.integers(1, 10**40))
def test_division_rounds_halves_up_at_any_size(numerator: int, denominator: int) -> None:
    result = divide_half_up(numerator, denominator)
    assert -1 < 2 * (Fraction(numerator, denominator) - result) < 1 or (
        2 * (result * denominator - numerator) == denominator
    )
