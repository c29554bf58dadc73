"""The gate: what got worse, and whether that is more than chance."""

import itertools
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arena.errors import InvalidInput
from arena.scoring.regression import Regression, regression
from arena.scoring.significance import EXACT_WORK_BITS, one_sided_mid_p_value
from arena.scoring.trials import TrialCounts


def run(clusters: dict[str, str] | None = None, **tests: str) -> list[TrialCounts]:
    """A run with a word like `++-` per test: a sign per trial."""
    return [
        TrialCounts(
            test_id=name,
            trials=len(signs),
            passed=signs.count("+"),
            passed_trials=frozenset(n for n, sign in enumerate(signs, start=1) if sign == "+"),
            cluster=(clusters or {}).get(name, ""),
        )
        for name, signs in tests.items()
    ]


def row(signs: str, cluster_size: int = 1) -> list[TrialCounts]:
    """A run with single trials of the tests t00, t01, ..."""
    return [
        TrialCounts(
            test_id=f"t{place:02}",
            trials=1,
            passed=int(sign == "+"),
            cluster=f"c{place // cluster_size}" if cluster_size > 1 else "",
        )
        for place, sign in enumerate(signs)
    ]


def names(tests: list) -> list[str]:
    return [test.test_id for test in tests]


@pytest.mark.parametrize(
    ("worse", "better", "p_value"),
    [
        (4, 0, 1 / 32),  # half of 1 / 2^4
        (3, 0, 1 / 16),
        (7, 1, (1 + 8 / 2) / 256),  # Fagerland et al. 2013, one side of their mid-p of 0.039
        (0, 0, 0.5),
        (0, 4, 31 / 32),
    ],
)
def test_the_p_value_counts_the_observed_pattern_half(
    worse: int, better: int, p_value: float
) -> None:
    before = row("+" * worse + "-" * better + "+")
    after = row("-" * worse + "+" * better + "+")
    assert regression(before, after).p_value == p_value


@given(st.lists(st.integers(-9, 9), max_size=10))
def test_the_mid_p_value_agrees_with_trying_every_sign(values: list[int]) -> None:
    observed, sums = sum(values), []
    for signs in itertools.product((1, -1), repeat=len(values)):
        sums.append(sum(sign * abs(value) for sign, value in zip(signs, values, strict=True)))
    above, equal = sum(one > observed for one in sums), sums.count(observed)
    expected = float(Fraction(2 * above + equal, 2 * len(sums)))
    assert one_sided_mid_p_value(values) == expected
    assert one_sided_mid_p_value([-value for value in values]) == pytest.approx(1 - expected)


@given(st.integers(0, 200), st.integers(0, 200))
def test_for_single_trials_it_is_the_binomial_mid_p_value(worse: int, better: int) -> None:
    tosses = stats.binom(worse + better, 0.5)
    expected = tosses.sf(worse) + tosses.pmf(worse) / 2
    assert one_sided_mid_p_value([1] * worse + [-1] * better) == pytest.approx(expected)


@pytest.mark.parametrize("worse", [900, 950, 1010])
def test_beyond_the_exact_count_the_normal_curve_is_close(worse: int) -> None:
    assert EXACT_WORK_BITS < 1900**3
    tosses = stats.binom(1900, 0.5)
    expected = tosses.sf(worse) + tosses.pmf(worse) / 2
    found = one_sided_mid_p_value([1] * worse + [-1] * (1900 - worse))
    assert found == pytest.approx(expected, rel=0.002)


def test_a_run_that_is_clearly_worse_is_a_regression() -> None:
    found = regression(row("+" * 12), row("+" * 6 + "-" * 6))
    assert found.is_regression
    assert found.p_value == 1 / 128
    assert found.difference == -0.5
    assert found.interval is not None
    assert found.interval.low < -50 < found.interval.high < 0
    assert names(found.new_failures) == names(found.worse) == [f"t{n:02}" for n in range(6, 12)]
    assert (found.better, found.flaky, found.quarantined) == ([], [], [])


def test_a_run_that_is_better_is_none() -> None:
    found = regression(row("-" * 12), row("+" * 12))
    assert not found.is_regression
    assert found.difference == 1
    assert len(found.better) == 12


def test_the_tests_that_got_worse_come_with_the_largest_change_first() -> None:
    found = regression(
        run(steady="+++", slightly="++++", halved="++", gone="+++", up="-+", fixed="--"),
        run(steady="++", slightly="+++-", halved="+-", gone="---", up="++", fixed="++"),
    )
    assert names(found.worse) == ["gone", "halved", "slightly"]
    assert names(found.better) == ["fixed", "up"]
    assert names(found.flaky) == ["halved", "slightly", "up"]
    assert [test.flaky for test in found.worse] == [False, True, True]
    assert names(found.new_failures) == ["gone"]
    gone = found.worse[0]
    assert (gone.baseline_passed, gone.baseline_trials, gone.passed, gone.trials) == (3, 3, 0, 3)


def test_a_flaky_test_with_the_same_rate_is_listed_as_flaky_only() -> None:
    found = regression(run(shaky="+-"), run(shaky="++--"))
    assert names(found.flaky) == ["shaky"]
    assert found.worse == found.better == []


def test_a_quarantined_test_informs_and_does_not_block() -> None:
    before, after = row("+" * 8), row("-" * 5 + "+" * 3)
    assert regression(before, after).is_regression
    found = regression(before, after, quarantined={"t00", "t01", "elsewhere"})
    assert not found.is_regression
    assert found.common_tests == 6
    assert names(found.quarantined) == ["t00", "t01"]
    assert names(found.worse) == names(found.new_failures) == ["t02", "t03", "t04"]


def test_an_edited_or_missing_test_is_not_compared() -> None:
    edited = TrialCounts(test_id="edited", digest="2", trials=1, passed=0)
    found = regression(
        [*run(same="+", gone="+"), TrialCounts(test_id="edited", digest="1", trials=1, passed=1)],
        [*run(same="+", new="-"), edited],
    )
    assert found.common_tests == 1
    assert (found.only_baseline, found.only_now) == (["edited", "gone"], ["edited", "new"])
    assert found.worse == []


def test_tests_of_one_cluster_are_one_piece_of_evidence() -> None:
    before, after = "+" * 12, "-" * 8 + "+" * 4
    assert regression(row(before), row(after)).is_regression
    found = regression(row(before, 4), row(after, 4))
    assert (found.clusters, found.common_tests) == (3, 12)
    assert found.p_value == 1 / 8
    assert not found.is_regression


def test_too_few_clusters_cannot_raise_an_alarm_and_the_result_says_so() -> None:
    assert not regression(row("+++"), row("---")).can_detect
    assert regression(row("++++"), row("----")).can_detect
    assert regression(row("++++"), row("----")).is_regression
    # What never passed cannot get worse.
    assert not regression(row("+++-----"), row("--------")).can_detect
    assert not regression(row("+" * 12, 4), row("-" * 12, 4)).can_detect


def test_without_common_tests_nothing_is_claimed() -> None:
    found = regression(run(a="+"), run(b="-"))
    assert found.p_value is found.difference is found.interval is found.power is None
    assert not found.is_regression
    assert not found.can_detect
    assert regression([], []).only_now == []


@pytest.mark.parametrize("alpha", [0.0, 0.5, -1.0, 1.0])
def test_a_level_that_no_gate_can_have_is_refused(alpha: float) -> None:
    with pytest.raises(InvalidInput, match="alpha"):
        regression([], [], alpha=alpha)


def test_a_test_listed_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the run: a test is listed twice"):
        regression(run(a="+"), run(a="+") * 2)


runs = st.dictionaries(
    st.sampled_from("abcdefghijklmnop"), st.text("+-", min_size=1, max_size=4), max_size=16
)
clusterings = st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.sampled_from("xyz"))


@given(runs, clusterings, st.floats(0.001, 0.499))
def test_a_run_against_itself_never_alarms(
    tests: dict[str, str], clusters: dict[str, str], alpha: float
) -> None:
    found = regression(run(clusters, **tests), run(clusters, **tests), alpha=alpha)
    assert not found.is_regression
    assert found.worse == found.better == found.new_failures == []


@given(runs, runs, clusterings)
def test_an_alarm_is_possible_only_where_it_is_said_to_be(
    before: dict[str, str], after: dict[str, str], clusters: dict[str, str]
) -> None:
    found = regression(run(clusters, **before), run(clusters, **after))
    assert found.can_detect or not found.is_regression
    assert found.p_value is None or 0 <= found.p_value <= 1
    if found.is_regression:
        assert found.difference is not None
        assert found.difference < 0
        assert found.worse


@given(runs, runs, clusterings)
def test_swapping_the_runs_turns_the_p_value_round(
    before: dict[str, str], after: dict[str, str], clusters: dict[str, str]
) -> None:
    one = regression(run(clusters, **before), run(clusters, **after))
    two = regression(run(clusters, **after), run(clusters, **before))
    assert {test.test_id for test in one.worse} == {test.test_id for test in two.better}
    if one.p_value is not None and two.p_value is not None:
        assert one.p_value == pytest.approx(1 - two.p_value)
        assert one.interval is not None
        assert two.interval is not None
        assert one.interval.low == -two.interval.high


@given(runs, runs, clusterings, st.integers(2, 6))
def test_copies_of_every_test_change_nothing(
    before: dict[str, str], after: dict[str, str], clusters: dict[str, str], times: int
) -> None:
    # Clusters of its own for each test without one, so that copies join it.
    named = {name: clusters.get(name, name) for name in "abcdefghijklmnop"}

    def copied(tests: dict[str, str]) -> list[TrialCounts]:
        return [
            replace(one, test_id=f"{one.test_id} {copy}")
            for one in run(named, **tests)
            for copy in range(times)
        ]

    plain = regression(run(named, **before), run(named, **after))
    found = regression(copied(before), copied(after))

    def numbers(result: Regression) -> tuple[object, ...]:
        return result.p_value, result.interval, result.difference, result.clusters

    assert numbers(found) == numbers(plain)


def counts(*passed_of: tuple[int, int]) -> list[TrialCounts]:
    return [
        TrialCounts(
            test_id=f"t{place:04}",
            trials=trials,
            passed=passed,
            passed_trials=frozenset(range(1, passed + 1)),
        )
        for place, (passed, trials) in enumerate(passed_of)
    ]


def test_few_tests_raise_no_alarm_however_many_trials_they_have() -> None:
    # The common denominator of such trials is too large for the fast count.
    before = counts((1009, 1013), (1019, 1021), (1031, 1033))
    after = counts((20, 1013), (30, 1021), (10, 1033))
    found = regression(before, after)
    assert found.p_value == 1 / 16  # half of 1 / 2^3
    assert not found.can_detect
    assert not found.is_regression


def test_many_tests_with_many_numbers_of_trials_are_compared() -> None:
    random = Random(5)
    trials = [random.randint(1, 1000) for _ in range(2000)]
    before = counts(*((round(0.9 * one), one) for one in trials))
    after = counts(*((round(0.8 * one), one) for one in trials))
    assert regression(before, after).is_regression
    assert not regression(after, before).is_regression


def test_a_large_suite_is_compared_without_counting_every_pattern() -> None:
    random = Random(5)
    before = [
        TrialCounts(test_id=str(n), trials=3, passed=random.randint(0, 3), cluster=str(n // 3))
        for n in range(20_000)
    ]
    after = [
        TrialCounts(
            test_id=one.test_id,
            trials=3,
            passed=max(0, one.passed - (random.random() < 0.02)),
            cluster=one.cluster,
        )
        for one in before
    ]
    found = regression(before, after)
    assert found.is_regression
    assert found.clusters == 6667
    assert found.p_value is not None
    assert 0 < found.p_value < 1e-10
