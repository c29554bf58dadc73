"""Intervals against published examples, scipy, and the coverage that they promise."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arena.errors import InvalidInput
from arena.scoring.components import Share
from arena.scoring.intervals import (
    Interval,
    WeightedEstimate,
    normal_quantile,
    share_interval,
    t_quantile,
    weighted_interval,
    wilson_interval,
)

units = st.integers(1, 10**6).flatmap(
    lambda whole: st.tuples(st.integers(0, whole), st.just(whole))
)


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_limits(
    successes: int, total: int, low: float, high: float
) -> None:
    interval = wilson_interval(successes, total)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert interval.method == "wilson"


@given(
    st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.sampled_from([0.8, 0.9, 0.95, 0.99]),
)
def test_wilson_agrees_with_scipy(counts: tuple[int, int], confidence: float) -> None:
    interval = wilson_interval(*counts, confidence)
    expected = stats.binomtest(*counts).proportion_ci(confidence, method="wilson")
    assert interval is not None
    assert interval.low == pytest.approx(expected.low, abs=1e-9)
    assert interval.high == pytest.approx(expected.high, abs=1e-9)


def test_a_perfect_record_is_not_certainty_and_ends_exactly_at_the_end() -> None:
    perfect, hopeless = wilson_interval(12, 12), wilson_interval(0, 12)
    assert perfect is not None
    assert hopeless is not None
    assert perfect.high == 1.0
    assert hopeless.low == 0.0
    assert perfect.low == pytest.approx(12 / (12 + 1.959964**2), rel=1e-6)
    assert hopeless.high == pytest.approx(1 - perfect.low)


def test_without_data_there_is_no_interval() -> None:
    assert wilson_interval(0, 0) is None
    assert share_interval(Share()) is None
    assert weighted_interval([]) is None


@given(st.lists(units, min_size=1, max_size=20), st.sampled_from([0.5, 0.95, 0.99]))
def test_an_interval_holds_its_estimate_and_stays_on_the_scale(
    groups: list[tuple[int, int]], confidence: float
) -> None:
    share = Share.of_groups(groups)
    interval = share_interval(share, confidence)
    assert interval is not None
    assert share.value in interval
    assert 0 <= interval.low <= interval.high <= 1
    assert interval.high > interval.low  # nothing observed is ever certain


@given(st.lists(units, min_size=1, max_size=12))
def test_turning_parts_into_rests_mirrors_the_interval(groups: list[tuple[int, int]]) -> None:
    one = share_interval(Share.of_groups(groups))
    other = share_interval(Share.of_groups((whole - part, whole) for part, whole in groups))
    assert one is not None
    assert other is not None
    assert one.low == pytest.approx(1 - other.high, abs=1e-9)
    assert one.high == pytest.approx(1 - other.low, abs=1e-9)


@given(st.integers(0, 50), st.integers(1, 50), st.integers(2, 20))
def test_more_of_the_same_narrows_the_interval(passed: int, failed: int, times: int) -> None:
    few = wilson_interval(passed, passed + failed)
    many = wilson_interval(passed * times, (passed + failed) * times)
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


def test_trials_that_always_agree_count_as_one() -> None:
    repeated = share_interval(Share.of_groups([(5, 5)] * 6 + [(0, 5)] * 4))
    single = wilson_interval(6, 10)
    assert repeated is not None
    assert single is not None
    assert (repeated.low, repeated.high) == pytest.approx((single.low, single.high))


def test_trials_that_vary_freely_are_worth_nearly_all_of_them() -> None:
    # Half of the trials pass in every test but two: the tests themselves hardly differ.
    share = Share.of_groups([(5, 10)] * 18 + [(4, 10), (6, 10)])
    interval, single = share_interval(share), wilson_interval(10, 20)
    assert interval is not None
    assert single is not None
    assert interval.method == "wilson-effective"
    assert interval.high - interval.low < (single.high - single.low) / 2


def test_the_effective_interval_is_wilsons_formula_on_the_ratio_variance() -> None:
    groups = [(3, 4), (4, 4), (2, 4), (4, 4), (1, 4)]
    values = [part / whole for part, whole in groups]
    mean = sum(values) / 5
    variance = stats.tvar(values) / 5
    worth = mean * (1 - mean) / variance
    t = stats.t.ppf(0.975, 4)
    centre = (mean + t * t / (2 * worth)) / (1 + t * t / worth)
    reach = t * math.sqrt(mean * (1 - mean) / worth + (t / (2 * worth)) ** 2) / (1 + t * t / worth)
    interval = share_interval(Share.of_groups(groups))
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((centre - reach, centre + reach))


def test_units_of_unequal_size_are_worth_fewer() -> None:
    # One test of 8 points and four of 1: Kish's size is 12² / 68, not 5.
    heavy = share_interval(Share.of_groups([(8, 8), (1, 1), (0, 1), (1, 1), (1, 1)]))
    assert heavy is not None
    size, mean, z = 144 / 68, 11 / 12, 1.959963985
    # The limits of a score interval solve (p̂ − p)² = z² p (1 − p) / n.
    for limit in (heavy.low, heavy.high):
        assert (mean - limit) ** 2 == pytest.approx(z * z * limit * (1 - limit) / size)


def _coverage(ratings: int, chances: list[float], *, by_t: bool) -> float:
    """The exact probability that the interval of so many ratings holds the true mean."""
    truth = sum(place * chance for place, chance in enumerate(chances))
    covered = 0.0
    for counts in itertools.product(range(ratings + 1), repeat=4):
        rest = ratings - sum(counts)
        if rest < 0:
            continue
        every = (rest, *counts)
        probability = math.factorial(ratings) * math.prod(
            chance**count / math.factorial(count)
            for chance, count in zip(chances, every, strict=True)
        )
        total = sum(place * count for place, count in enumerate(every))
        squares = sum(place * place * count for place, count in enumerate(every))
        if by_t:
            mean = total / ratings
            variance = max(0.0, (squares - ratings * mean * mean) / (ratings - 1))
            reach = t_quantile(0.95, ratings - 1) * math.sqrt(variance / ratings)
            interval = Interval(low=mean - reach, high=mean + reach, method="t", confidence=0.95)
        else:
            interval = share_interval(
                Share.of_ratings(ratings, total + ratings, squares + 2 * total + ratings)
            )
            interval = interval and interval.scaled(4)
        assert interval is not None
        covered += probability * (truth in interval)
    return covered


@pytest.mark.parametrize("ratings", [2, 3, 5, 8])
@pytest.mark.parametrize(
    "chances",
    [
        [0.10, 0.03, 0.07, 0.20, 0.60],  # as stars usually fall: many fives, some ones
        [0.02, 0.00, 0.03, 0.10, 0.85],  # nearly everybody is happy
        [0.20, 0.20, 0.20, 0.20, 0.20],
        [0.40, 0.05, 0.10, 0.05, 0.40],  # loved or hated
    ],
)
def test_the_interval_of_ratings_covers_the_truth_as_often_as_it_says(
    ratings: int, chances: list[float]
) -> None:
    assert _coverage(ratings, chances, by_t=False) >= 0.94


@pytest.mark.parametrize(("ratings", "by_t", "by_us"), [(5, 0.79, 0.99), (8, 0.85, 0.94)])
def test_the_plain_t_interval_would_not_keep_its_promise_for_stars(
    ratings: int, by_t: float, by_us: float
) -> None:
    usual = [0.10, 0.03, 0.07, 0.20, 0.60]
    assert round(_coverage(ratings, usual, by_t=True), 2) == by_t
    assert round(_coverage(ratings, usual, by_t=False), 2) == by_us


def _term(weight: float, low: float, estimate: float, high: float, source: str) -> WeightedEstimate:
    interval = Interval(low=low, high=high, method="wilson", confidence=0.95)
    return WeightedEstimate(weight=weight, estimate=estimate, interval=interval, source=source)


def test_independent_terms_are_squared_and_added_on_each_side() -> None:
    joined = weighted_interval([_term(1, 44, 50, 58, "a"), _term(1, 82, 90, 96, "b")])
    assert joined is not None
    assert joined.low == pytest.approx(70 - math.hypot(3, 4))
    assert joined.high == pytest.approx(70 + math.hypot(4, 3))


def test_terms_of_one_source_are_added_in_full() -> None:
    joined = weighted_interval([_term(1, 44, 50, 58, "a"), _term(1, 82, 90, 96, "a")])
    assert joined is not None
    assert (joined.low, joined.high) == pytest.approx((70 - 7, 70 + 7))


def test_the_weights_are_renormalised() -> None:
    alone = weighted_interval([_term(0.4, 75, 100, 100, "a"), _term(0.0, 0, 0, 9, "b")])
    assert alone is not None
    assert (alone.low, alone.high) == pytest.approx((75, 100))


def test_terms_that_cannot_be_joined_are_refused() -> None:
    with pytest.raises(InvalidInput, match="does not lie in its interval"):
        weighted_interval([_term(1, 60, 50, 70, "a")])
    other = Interval(low=0, high=1, method="wilson", confidence=0.9)
    with pytest.raises(InvalidInput, match="different confidence"):
        weighted_interval(
            [
                _term(1, 0, 0, 1, "a"),
                WeightedEstimate(weight=1, estimate=0, interval=other, source="b"),
            ]
        )


shape = st.tuples(st.floats(0, 30), st.floats(30, 60), st.floats(60, 100))


@given(st.lists(st.tuples(st.floats(0.01, 1), shape), min_size=1, max_size=4))
def test_dependence_can_only_widen_the_joined_interval(
    terms: list[tuple[float, tuple[float, float, float]]],
) -> None:
    apart = weighted_interval(_term(w, *limits, str(i)) for i, (w, limits) in enumerate(terms))
    together = weighted_interval(_term(w, *limits, "one") for w, limits in terms)
    assert apart is not None
    assert together is not None
    assert together.low <= apart.low + 1e-9
    assert apart.high <= together.high + 1e-9
    assert min(limits[0] for _, limits in terms) - 1e-9 <= together.low
    assert together.high <= max(limits[2] for _, limits in terms) + 1e-9


@pytest.mark.parametrize(
    ("confidence", "degrees", "printed"),
    [
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 9, 2.262),
        (0.95, 30, 2.042),
        (0.99, 5, 4.032),
        (0.90, 120, 1.658),
    ],
)
def test_quantiles_are_those_of_the_printed_table(
    confidence: float, degrees: int, printed: float
) -> None:
    assert round(t_quantile(confidence, degrees), 3) == printed


@settings(max_examples=200)
@given(st.floats(0.01, 0.9999), st.integers(1, 400) | st.integers(400, 10**7))
def test_quantiles_agree_with_scipy(confidence: float, degrees: int) -> None:
    expected = stats.t.ppf((1 + confidence) / 2, degrees)
    assert t_quantile(confidence, degrees) == pytest.approx(expected, rel=1e-8)


def test_the_two_ways_of_computing_meet_without_a_step() -> None:
    below, at, above = (t_quantile(0.95, degrees) for degrees in (199, 200, 201))
    assert below - at == pytest.approx(at - above, rel=0.02)


@given(st.floats(0.001, 0.999))
def test_the_normal_quantile_agrees_with_scipy(confidence: float) -> None:
    expected = stats.norm.ppf((1 + confidence) / 2)
    assert normal_quantile(confidence) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, float("nan")])
def test_a_confidence_outside_zero_and_one_is_refused(confidence: float) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        normal_quantile(confidence)
    with pytest.raises(InvalidInput, match="confidence"):
        t_quantile(confidence, 5)


def test_a_quantile_without_degrees_of_freedom_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        t_quantile(0.95, 0)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 2))
def test_an_interval_is_widened_within_its_scale(one: float, two: float, width: float) -> None:
    interval = Interval(low=min(one, two), high=max(one, two), method="newcombe", confidence=0.95)
    wide = interval.widened(width, -1, 1)
    assert -1 <= wide.low <= interval.low <= interval.high <= wide.high <= 1
    assert wide.width == pytest.approx(max(width, interval.width))
