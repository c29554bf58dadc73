"""Sums that can be added in any order and taken away again."""

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.share import Share, divide_half_up, share_score

units = st.integers(0, 10**9).flatmap(
    lambda whole: st.tuples(st.integers(0, whole), st.just(whole))
)
groups = st.lists(units, max_size=20)
ratings = st.lists(st.integers(1, 5), max_size=30)


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


def test_squares_that_no_votes_can_have_are_refused() -> None:
    # Two votes that add up to 8 have squares of at least 32.
    assert Share.of_ratings(2, 8, 32).units == 2
    with pytest.raises(InvalidInput):
        Share.of_ratings(2, 8, 31)


def test_counts_are_the_same_as_one_group_per_trial() -> None:
    assert Share.of_counts(2, 5) == Share.of_groups([(1, 1), (1, 1), (0, 1), (0, 1), (0, 1)])


def test_a_unit_without_a_whole_is_left_out() -> None:
    assert Share.of_groups([(0, 0), (1, 2)]) == Share.of_groups([(1, 2)])


@given(ratings)
def test_ratings_are_the_same_as_one_group_per_vote(votes: list[int]) -> None:
    sums = Share.of_ratings(len(votes), sum(votes), sum(vote * vote for vote in votes))
    assert sums == Share.of_groups((vote - 1, 4) for vote in votes)


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
