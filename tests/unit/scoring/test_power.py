"""What a comparison can detect, against statsmodels and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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


@pytest.mark.parametrize(
    ("pairing", "tolerance"),
    [
        (mixed(10, 3, 2), 0.01),
        (mixed(20, 7, 1), 0.005),
        (mixed(100, 20, 10), 0.001),
        (mixed(1000, 150, 100), 0.0005),
    ],
)
@pytest.mark.parametrize("side", ["two-sided", "larger"])
def test_the_detectable_difference_is_that_of_statsmodels(
    pairing: Pairing, tolerance: float, side: str
) -> None:
    differences = np.array([one.passed - two.passed for one, two in pairing.tests], float)
    effect = TTestPower().solve_power(
        nobs=len(differences), alpha=0.05, power=0.8, alternative=side
    )
    found = power(pairing, is_two_sided=side == "two-sided").detectable_difference
    assert found is not None
    expected = 100 * effect * differences.std(ddof=1)
    assert found == pytest.approx(expected, rel=tolerance, abs=0.006)


@pytest.mark.parametrize("pairing", [mixed(20, 7, 1), mixed(100, 20, 10), mixed(1000, 150, 130)])
def test_the_tests_needed_are_those_of_statsmodels(pairing: Pairing) -> None:
    differences = np.array([one.passed - two.passed for one, two in pairing.tests], float)
    effect = differences.mean() / differences.std(ddof=1)
    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    assert power(pairing).tests_needed == pytest.approx(math.ceil(expected), abs=1)


def test_equal_results_on_few_tests_detect_nothing() -> None:
    assert power(paired([1] * 3, [1] * 3)).detectable_difference is None
    assert power(paired([1] * 5, [0] * 5)).detectable_difference is None


def test_equal_results_detect_only_what_would_have_brought_a_spread() -> None:
    # (2.093 + 0.861)² = 8.73; 8.73 / (20 + 8.73) = 30.4 %: about the six tests that must differ.
    assert power(paired([1] * 20, [1] * 20)).detectable_difference == pytest.approx(30.38, abs=0.01)
    # With three trials a third of a test can change.
    assert power(paired([3] * 20, [3] * 20, 3)).detectable_difference == pytest.approx(
        10.1, abs=0.1
    )


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


def test_the_detectable_difference_is_detected_in_80_of_100_runs() -> None:
    random = np.random.default_rng(7)
    tests, gain, loss = 150, 0.2, 0.08
    # The difference that is simulated is, nearly, the one that such a suite detects.
    assert power(mixed(tests, 30, 12)).detectable_difference == pytest.approx(12, abs=0.2)
    found = 0
    for _ in range(1000):
        drawn = random.choice([1, -1, 0], tests, p=[gain, loss, 1 - gain - loss])
        found += sign_flip_p_value([int(value) for value in drawn]) < 0.05
    # The exact test is a little conservative.
    assert 740 <= found <= 830


def test_copies_of_every_test_detect_no_more() -> None:
    names = [f"c{place}" for place in range(12)]
    one, two = [1] * 9 + [0] * 3, [1] * 3 + [0] * 8 + [1]
    plain, copied = power(paired(one, two)), power(paired(one * 10, two * 10, 1, names * 10))
    assert copied.detectable_difference == plain.detectable_difference
    assert plain.tests_needed is not None
    assert copied.tests_needed == 10 * plain.tests_needed


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
