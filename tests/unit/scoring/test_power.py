"""What a comparison can detect, against statsmodels and by counting every outcome."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from arena.scoring.pairing import Pairing, pair_up
from arena.scoring.power import Power, fewest_clusters, paired_power
from arena.scoring.significance import one_sided_mid_p_value, sign_flip_p_value
from arena.scoring.trials import TrialCounts


def paired(
    first: list[int], second: list[int], trials: int = 1, clusters: list[str] | None = None
) -> Pairing:
    """Passes of each test on both sides."""
    names = clusters or [""] * len(first)
    sides = (
        [
            TrialCounts(test_id=f"t{place:04}", passed=passed, trials=trials, cluster=name)
            for place, (passed, name) in enumerate(zip(side, names, strict=True))
        ]
        for side in (first, second)
    )
    return pair_up(*sides)


def power(pairing: Pairing, *, is_two_sided: bool = True) -> Power:
    return paired_power(pairing, alpha=0.05, is_two_sided=is_two_sided)


def mixed(tests: int, only_first: int, only_second: int) -> Pairing:
    rest = tests - only_first - only_second
    return paired(
        [1] * only_first + [0] * only_second + [1] * rest,
        [0] * only_first + [1] * only_second + [1] * rest,
    )


def exact_power(tests: int, gain: float, loss: float, *, is_two_sided: bool = True) -> float:
    """How often the paired test is significant if a test is passed by the first alone with the
    chance `gain` and by the second alone with the chance `loss`: every outcome is enumerated."""
    test = sign_flip_p_value if is_two_sided else one_sided_mid_p_value
    differing = stats.binom.pmf(np.arange(tests + 1), tests, gain + loss)
    power = 0.0
    for count in range(tests + 1):
        ahead = stats.binom.pmf(np.arange(count + 1), count, gain / (gain + loss))
        for more in range(count + 1):
            chance = differing[count] * ahead[more]
            if chance > 1e-9 and test([1] * more + [-1] * (count - more)) < 0.05:
                power += chance
    return power


@pytest.mark.parametrize(
    ("pairing", "loss"),
    [
        (mixed(20, 7, 1), 0.05),
        (mixed(12, 5, 0), 0.0),
        (mixed(100, 20, 10), 0.1),
        (mixed(40, 2, 2), 0.05),
        (mixed(6, 0, 0), 0.0),
        (mixed(10, 0, 0), 0.0),
        (mixed(20, 0, 0), 0.0),
    ],
)
@pytest.mark.parametrize("is_two_sided", [True, False], ids=["comparison", "gate"])
def test_the_detectable_difference_is_detected_in_80_of_100_cases(
    pairing: Pairing, loss: float, is_two_sided: bool
) -> None:
    found = power(pairing, is_two_sided=is_two_sided).detectable_difference
    assert found is not None
    gain = found / 100 + loss
    chance = exact_power(len(pairing.tests), gain, loss, is_two_sided=is_two_sided)
    assert 0.77 <= chance <= 0.82


@pytest.mark.parametrize("pairing", [mixed(20, 7, 1), mixed(40, 9, 2), mixed(100, 20, 10)])
def test_the_tests_needed_detect_the_observed_difference(pairing: Pairing) -> None:
    needed, tests = power(pairing).tests_needed, len(pairing.tests)
    assert needed is not None
    gain = sum(one.passed > two.passed for one, two in pairing.tests) / tests
    loss = sum(one.passed < two.passed for one, two in pairing.tests) / tests
    assert 0.75 <= exact_power(needed, gain, loss) <= 0.86


@pytest.mark.parametrize("side", ["two-sided", "larger"])
def test_in_a_large_suite_the_detectable_difference_is_that_of_statsmodels(side: str) -> None:
    pairing = mixed(4000, 484, 400)  # about the difference that is detectable
    differences = np.array([one.passed - two.passed for one, two in pairing.tests], float)
    effect = TTestPower().solve_power(
        nobs=len(differences), alpha=0.05, power=0.8, alternative=side
    )
    found = power(pairing, is_two_sided=side == "two-sided").detectable_difference
    assert found == pytest.approx(100 * effect * differences.std(ddof=1), rel=0.02)


def test_in_a_large_suite_the_tests_needed_are_those_of_statsmodels() -> None:
    pairing = mixed(1000, 150, 130)
    differences = np.array([one.passed - two.passed for one, two in pairing.tests], float)
    effect = differences.mean() / differences.std(ddof=1)
    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    assert power(pairing).tests_needed == pytest.approx(expected, rel=0.01)


def test_a_gate_detects_no_more_than_the_baseline_has_to_lose() -> None:
    pairing = mixed(100, 4, 0)
    assert paired_power(pairing, alpha=0.05, is_two_sided=False, most=0.04) == replace(
        power(pairing, is_two_sided=False), detectable_difference=None
    )


def test_equal_results_on_few_tests_detect_nothing() -> None:
    assert power(paired([1] * 3, [1] * 3)).detectable_difference is None
    assert power(paired([1] * 5, [0] * 5)).detectable_difference is None


def test_equal_results_detect_what_lets_enough_tests_change() -> None:
    # Six of 20 tests must differ; with a share of 36.9 %, six or more do in 80 of 100 cases.
    once = power(paired([1] * 20, [1] * 20)).detectable_difference
    assert once == pytest.approx(36.9, abs=0.1)
    assert stats.binom.sf(5, 20, once / 100) == pytest.approx(0.8, abs=0.01)
    # More trials say nothing about it: what changes may be whole tests.
    assert power(paired([3] * 20, [3] * 20, 3)).detectable_difference == once


@pytest.mark.parametrize(
    ("alpha", "is_two_sided", "count"),
    [(0.05, True, 6), (0.05, False, 4), (0.01, True, 8), (0.01, False, 6), (0.25, False, 2)],
)
def test_so_many_clusters_must_differ_before_the_test_can_be_significant(
    alpha: float, is_two_sided: bool, count: int
) -> None:
    assert fewest_clusters(alpha, is_two_sided=is_two_sided) == count
    p_value = sign_flip_p_value if is_two_sided else one_sided_mid_p_value
    assert p_value([1] * count) < alpha
    assert p_value([1] * (count - 1)) >= alpha


def test_copies_of_every_test_detect_no_more() -> None:
    names = [f"c{place}" for place in range(12)]
    one, two = [1] * 9 + [0] * 3, [1] * 3 + [0] * 8 + [1]
    plain, copied = power(paired(one, two)), power(paired(one * 10, two * 10, 1, names * 10))
    assert copied.detectable_difference == plain.detectable_difference
    assert plain.tests_needed is not None
    assert copied.tests_needed == pytest.approx(10 * plain.tests_needed, abs=10)


def test_a_cluster_that_outweighs_the_others_detects_less() -> None:
    one, two = [1] * 9 + [0] * 3, [1] * 3 + [0] * 8 + [1]
    names = [f"c{place}" for place in range(12)]
    heavy = power(paired(one + [1] * 50, two + [1] * 50, 1, names + ["c0"] * 50))
    plain = power(paired(one, two)).detectable_difference
    assert plain is not None
    assert heavy.detectable_difference is None or heavy.detectable_difference > plain


def test_without_a_difference_no_number_of_tests_is_named() -> None:
    found = power(mixed(20, 3, 3))
    assert (found.tests_needed, found.trials_needed) == (None, None)
    assert found.trials_reason == "no difference was observed"


def test_a_single_trial_does_not_show_how_much_trials_vary() -> None:
    found = power(mixed(20, 5, 1))
    assert found.trials_needed is None
    assert found.trials_reason == "one trial per test does not show how much its trials vary"


def test_noisy_trials_can_be_repeated_until_the_difference_shows() -> None:
    # Every test passes 6 of 10 against 5 of 10: all that varies is the noise of trials.
    found = power(paired([6, 7, 5, 6] * 5, [5, 4, 6, 5] * 5, 10))
    assert found.trials_reason is None
    # 20 tests, a variance of about 2 × 0.27 per trial, and 2.954 standard errors to be reached.
    assert found.trials_needed == math.ceil(2.954**2 * (0.535 / 20) / 0.1**2)


def test_where_tests_differ_in_earnest_no_number_of_trials_will_do() -> None:
    found = power(paired([10] * 6 + [0] * 5 + [10] * 9, [0] * 6 + [10] * 5 + [10] * 9, 10))
    assert found.trials_needed is None
    assert found.trials_reason is not None
    assert "more tests are needed" in found.trials_reason


def test_a_tiny_difference_is_not_looked_for() -> None:
    found = power(mixed(100_000, 20_001, 20_000))
    assert found.tests_needed is None


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20),
    st.lists(st.sampled_from(["", "a", "b"]), min_size=20, max_size=20),
)
def test_power_is_always_a_possible_number(pairs: list[tuple[int, int]], names: list[str]) -> None:
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    found = power(paired(first, second, 3, names[: len(pairs)]))
    assert found.detectable_difference is None or 0 < found.detectable_difference <= 100
    assert found.tests_needed is None or found.tests_needed >= 6
    assert (found.trials_needed is None) != (found.trials_reason is None)
    assert found == power(paired(second, first, 3, names[: len(pairs)]))
