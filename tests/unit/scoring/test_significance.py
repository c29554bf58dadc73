"""Paired tests against published examples, scipy and counting by hand."""

import itertools
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arena.errors import InvalidInput
from arena.scoring.components import Share
from arena.scoring.significance import (
    EXACT_WORK_BITS,
    holm,
    mcnemar_p_value,
    paired_difference_interval,
    sign_flip_p_value,
)

differences = st.lists(st.integers(-9, 9), max_size=11)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p_value"),
    [
        (12, 2, 0.0129),  # Armitage & Berry 1994, p. 127: two media for growing bacilli
        (1, 7, 0.0703),  # Fagerland et al. 2013: airways before and after a transplantation
        (6, 16, 0.0525),  # Cavo et al. 2012, as in Fagerland et al. 2014
        (0, 5, 0.0625),  # 2 / 2^5: five tests cannot be enough
        (0, 6, 0.0312),  # six can
        (3, 3, 1.0),
        (0, 0, 1.0),  # no test separates the two
    ],
)
def test_mcnemar_gives_the_published_p_values(
    only_first: int, only_second: int, p_value: float
) -> None:
    assert mcnemar_p_value(only_first, only_second) == pytest.approx(p_value, abs=6e-5)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_symmetric_and_agrees_with_scipys_binomial_test(one: int, two: int) -> None:
    p_value = mcnemar_p_value(one, two)
    assert p_value == mcnemar_p_value(two, one)
    if one + two:
        assert p_value == pytest.approx(stats.binomtest(one, one + two).pvalue, rel=1e-9)


@pytest.mark.parametrize(("one", "two"), [(5150, 4851), (6000, 4500), (5001, 5000)])
def test_very_many_pairs_are_close_to_the_exact_value(one: int, two: int) -> None:
    exact = stats.binomtest(one, one + two).pvalue
    assert mcnemar_p_value(one, two) == pytest.approx(exact, rel=0.03)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(InvalidInput, match="negative"):
        mcnemar_p_value(-1, 3)


def test_the_permutation_test_counts_what_fisher_counted() -> None:
    # Fisher 1935, section 21, on Darwin's maize: 863 of 32,768 patterns reach the sum of 314.
    heights = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sum(heights) == 314
    assert sign_flip_p_value(heights) == 2 * 863 / 32768


@given(differences)
def test_the_permutation_test_agrees_with_trying_every_sign(values: list[int]) -> None:
    observed = abs(sum(values))
    patterns = list(itertools.product((1, -1), repeat=len(values)))
    extreme = sum(
        abs(sum(sign * value for sign, value in zip(signs, values, strict=True))) >= observed
        for signs in patterns
    )
    assert sign_flip_p_value(values) == float(Fraction(extreme, len(patterns)))


def test_the_permutation_test_agrees_with_scipy() -> None:
    first, second = [3, 5, 1, 4, 2, 5, 4, 0, 5, 3], [1, 5, 2, 2, 2, 1, 3, 0, 2, 1]
    expected = stats.permutation_test(
        (first, second),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=10_000,  # more than 2^10: scipy then counts exactly too
    )
    ours = sign_flip_p_value([a - b for a, b in zip(first, second, strict=True)])
    assert ours == pytest.approx(expected.pvalue)


@given(st.lists(st.sampled_from([-1, 0, 1]), max_size=60), st.integers(1, 50))
def test_for_single_trials_it_is_mcnemar_in_any_unit(values: list[int], unit: int) -> None:
    expected = mcnemar_p_value(values.count(1), values.count(-1))
    assert sign_flip_p_value([unit * value for value in values]) == expected


@given(differences)
def test_swapping_the_agents_changes_no_p_value(values: list[int]) -> None:
    assert sign_flip_p_value(values) == sign_flip_p_value([-value for value in values])
    assert 0 < sign_flip_p_value(values) <= 1


@pytest.mark.parametrize("lean", [0, 1, 2])
def test_beyond_the_exact_count_the_normal_curve_is_close(lean: int) -> None:
    random = Random(lean)
    values = [random.randint(-19, 19) + random.randint(0, lean) for _ in range(1500)]
    sizes = [abs(value) for value in values]
    assert len(values) ** 2 * sum(sizes) > EXACT_WORK_BITS
    # Independently: the distribution of the sum, in floating point, one sign after the other.
    chances = np.ones(1)
    for size in sizes:
        chances = np.convolve(chances, [0.5, *[0.0] * (2 * size - 1), 0.5] if size else [1.0])
    sums = np.arange(len(chances)) - sum(sizes)
    exact = chances[np.abs(sums) >= abs(sum(values))].sum()
    assert sign_flip_p_value(values) == pytest.approx(exact, rel=0.03)


def _table(both: int, first: int, second: int, neither: int) -> tuple[Share, Share, float]:
    total = both + first + second + neither
    covariance = (both * neither - first * second) / total**2
    return Share.of_counts(both + first, total), Share.of_counts(both + second, total), covariance


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        # Fagerland, Lydersen & Laake, Statistics in Medicine 33 (2014) 2850-2875, as printed there
        # and by the R package contingencytables.
        ((1, 1, 7, 12), -0.507, -0.026),
        ((59, 6, 16, 80), -0.1186, -0.0046),
    ],
)
def test_the_difference_has_newcombes_published_limits(
    table: tuple[int, int, int, int], low: float, high: float
) -> None:
    interval = paired_difference_interval(*_table(*table))
    assert interval is not None
    digits = len(str(abs(low))) - 2
    assert (round(interval.low, digits), round(interval.high, digits)) == (low, high)


tables = st.tuples(*[st.integers(0, 30)] * 4).filter(any)


@given(tables)
def test_the_interval_holds_the_difference_and_mirrors_it(table: tuple[int, int, int, int]) -> None:
    both, first, second, neither = table
    difference = (first - second) / sum(table)
    interval = paired_difference_interval(*_table(*table))
    mirrored = paired_difference_interval(*_table(both, second, first, neither))
    assert interval is not None
    assert mirrored is not None
    assert -1 - 1e-9 <= interval.low <= difference <= interval.high <= 1 + 1e-9
    assert (interval.low, interval.high) == pytest.approx((-mirrored.high, -mirrored.low))


def test_agents_that_agree_on_everything_still_leave_some_doubt() -> None:
    interval = paired_difference_interval(*_table(8, 0, 0, 4))
    assert interval is not None
    assert interval.low < 0 < interval.high


def test_unequal_numbers_of_tests_are_no_pairs() -> None:
    with pytest.raises(InvalidInput, match="not pairs"):
        paired_difference_interval(Share.of_counts(1, 2), Share.of_counts(1, 3), 0.0)
    assert paired_difference_interval(Share(), Share(), 0.0) is None


def test_holm_adjusts_as_in_the_textbook() -> None:
    # The order of the input is kept; each factor counts the hypotheses still standing.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=10))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(before <= after <= 1 for before, after in zip(p_values, adjusted, strict=True))
    by_p = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
    assert by_p == sorted(by_p)


def test_rates_over_a_huge_common_denominator_are_compared_too():
    # Sixty tests, each with another prime number of trials: the denominator has 170 digits.
    unit = 10**170
    p_value = sign_flip_p_value([unit + step for step in range(60)])
    assert 0 < p_value < 1e-10
