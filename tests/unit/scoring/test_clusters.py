"""Tests that are no independent evidence count as one."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from arena.scoring.clusters import clustered_share, connected, share_of_tests
from arena.scoring.components import Share
from arena.scoring.intervals import Interval, share_interval, wilson_interval
from arena.scoring.trials import TrialCounts

counts = st.integers(1, 5).flatmap(
    lambda trials: st.tuples(st.integers(0, trials), st.just(trials))
)
suites = st.lists(counts, min_size=1, max_size=12)
"""Tests as (passed, trials)."""


def suite(tests: list[tuple[int, int]], clusters: list[str] | None = None) -> list[TrialCounts]:
    names = clusters or [""] * len(tests)
    return [
        TrialCounts(test_id=f"t{place:03}", passed=passed, trials=trials, cluster=name)
        for place, ((passed, trials), name) in enumerate(zip(tests, names, strict=True))
    ]


def interval_of(tests: list[TrialCounts]) -> Interval:
    interval = share_interval(share_of_tests(tests))
    assert interval is not None
    return interval


def test_items_that_share_a_label_are_connected_also_through_others() -> None:
    assert connected([["a"], ["b"], [], ["a", "c"], ["c"], ["b"]]) == [0, 1, 2, 0, 0, 1]
    assert connected([["a"], ["b"], ["c"], ["b", "c"], ["c", "a"]]) == [0, 0, 0, 0, 0]
    assert connected([[], []]) == [0, 1]
    assert connected([]) == []


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_without_clusters_nothing_changes(passed: list[int]) -> None:
    tests = [(one, 5) for one in passed]
    assert share_of_tests(suite(tests)) == Share.of_groups(tests)


@pytest.mark.parametrize(
    "trials",
    [
        [100, *[1] * 14],
        [20, *[1] * 14],
        [1000, *[3] * 29],
    ],
    ids=["100 and 14 x 1", "20 and 14 x 1", "1000 and 29 x 3"],
)
def test_a_test_with_many_trials_does_not_narrow_the_interval_below_the_truth(
    trials: list[int],
) -> None:
    """The share follows the heavy test; the truth is about tests like these."""
    random = np.random.default_rng(3)
    covered, rounds, mean = 0, 400, 2 / 3
    for _ in range(rounds):
        chances = random.beta(2, 1, len(trials))
        passed = random.binomial(trials, chances)
        drawn = [(int(one), count) for one, count in zip(passed, trials, strict=True)]
        covered += mean in interval_of(suite(drawn))
    assert covered >= 0.93 * rounds


@given(suites, st.integers(2, 10))
def test_copies_of_every_test_change_no_interval(tests: list[tuple[int, int]], times: int) -> None:
    names = [f"c{place}" for place in range(len(tests))]
    assert interval_of(suite(tests * times, names * times)) == interval_of(suite(tests))


@given(
    st.lists(st.lists(counts, min_size=1, max_size=4), min_size=1, max_size=8), st.integers(2, 9)
)
def test_copies_of_every_clustered_test_change_no_interval(
    clusters: list[list[tuple[int, int]]], times: int
) -> None:
    tests = [one for cluster in clusters for one in cluster]
    names = [f"c{place}" for place, cluster in enumerate(clusters) for _ in cluster]
    assert interval_of(suite(tests * times, names * times)) == interval_of(suite(tests, names))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=15), st.integers(2, 30), st.data())
def test_copies_of_one_test_never_narrow_an_interval(
    passes: list[int], times: int, data: st.DataObject
) -> None:
    tests = [(passed, 3) for passed in passes]
    place = data.draw(st.integers(0, len(tests) - 1))
    names = [f"c{place}" for place in range(len(tests))]
    plain = interval_of(suite(tests))
    copied = interval_of(
        suite(tests + [tests[place]] * (times - 1), names + [names[place]] * (times - 1))
    )
    assert copied.width >= plain.width - 1e-9


def test_a_cluster_that_outweighs_the_others_brings_no_certainty() -> None:
    # A hundred rows of one data set, two thirds passed, beside nine other tests: the share
    # follows the data set, so it hardly deviates from it; the naive interval would be ±7 points.
    groups = [(200, 300), *[(3, 3)] * 5, *[(0, 3)] * 4]
    naive, honest = share_interval(Share.of_groups(groups)), share_interval(clustered_share(groups))
    assert naive is not None
    assert honest is not None
    assert naive.width < 0.15
    assert honest.width > 0.7


@given(st.lists(counts, min_size=1, max_size=12))
def test_a_clustered_interval_is_never_narrower_than_the_usual_one(
    groups: list[tuple[int, int]],
) -> None:
    share = clustered_share(groups)
    assert (share.units, share.value) == (len(groups), Share.of_groups(groups).value)
    usual, clustered = share_interval(Share.of_groups(groups)), share_interval(share)
    assert usual is not None
    assert clustered is not None
    assert share.value in clustered
    assert clustered.low <= usual.low + 1e-9
    assert clustered.high >= usual.high - 1e-9


def test_single_trials_have_the_interval_of_statsmodels() -> None:
    tests = suite([(1, 1)] * 17 + [(0, 1)] * 6)
    low, high = proportion_confint(17, 23, method="wilson")
    interval = interval_of(tests)
    assert (interval.low, interval.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    "clusters",
    [
        [[1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0]],  # of equal size
        [[1, 1, 0, 1], [1, 1], [0, 1, 0], [1], [0, 0, 0, 1, 1], [1, 1, 0]],
    ],
)
def test_the_variance_is_the_cluster_robust_one_of_statsmodels(clusters: list[list[int]]) -> None:
    values = np.array([value for cluster in clusters for value in cluster], float)
    groups = np.array([place for place, cluster in enumerate(clusters) for _ in cluster])
    fitted = sm.OLS(values, np.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    variance = float(fitted.bse[0]) ** 2
    mean, size = values.mean(), len(clusters)
    interval = share_interval(Share.of_groups((sum(one), len(one)) for one in clusters))
    assert interval is not None
    t = stats.t.ppf(0.975, size - 1)
    for limit in (interval.low, interval.high):
        worth = mean * (1 - mean) / variance
        assert (mean - limit) ** 2 == pytest.approx(t**2 * limit * (1 - limit) / worth)


def test_clusters_that_agree_are_worth_one_test_each() -> None:
    tests = [(1, 1)] * 30 + [(0, 1)] * 20
    names = [f"c{place // 5}" for place in range(50)]
    assert interval_of(suite(tests, names)) == wilson_interval(6, 10)


@pytest.mark.parametrize(
    "sizes",
    [
        [5] * 20,
        list(range(1, 25)),
        [1] * 10 + [30] * 10,
        [100] + [1] * 14,  # where the usual variance covers the truth in a fifth of all cases
    ],
)
def test_the_interval_covers_the_truth_for_clusters_of_any_size(sizes: list[int]) -> None:
    random = np.random.default_rng(11)
    clustered = unclustered = 0
    for _ in range(800):
        # Each cluster has a difficulty of its own; the mean over clusters is 2/3.
        passed = random.binomial(sizes, random.beta(2, 1, len(sizes)))
        groups = [(int(part), whole) for part, whole in zip(passed, sizes, strict=True)]
        interval = share_interval(clustered_share(groups))
        naive = wilson_interval(int(passed.sum()), sum(sizes))
        assert interval is not None
        assert naive is not None
        clustered += 2 / 3 in interval
        unclustered += 2 / 3 in naive
    assert clustered >= 0.935 * 800
    assert unclustered < 0.88 * 800
