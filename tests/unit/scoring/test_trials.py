"""Repeats: what the best of k and all of k would do."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.trials import TrialCounts, pass_all_k, pass_at_k, summarise

counts = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def _counts(**tests: str) -> list[TrialCounts]:
    """Counts from words like `++-`: a sign per trial."""
    return [
        TrialCounts(test_id=name, trials=len(signs), passed=signs.count("+"))
        for name, signs in tests.items()
    ]


@pytest.mark.parametrize(
    ("trials", "passed", "k", "at", "everything"),
    [
        (5, 3, 1, 0.6, 0.6),  # for one trial both are the pass rate
        (5, 3, 2, 0.9, 0.3),  # 1 − 1/10 and 3/10
        (5, 3, 3, 1.0, 0.1),  # three draws cannot miss three passes of five
        (5, 3, 5, 1.0, 0.0),
        (4, 4, 4, 1.0, 1.0),
        (4, 0, 2, 0.0, 0.0),
        (3, 2, 4, None, None),  # never tried
    ],
)
def test_estimates_by_hand(
    trials: int, passed: int, k: int, at: float | None, everything: float | None
) -> None:
    assert pass_at_k(trials, passed, k) == at
    assert pass_all_k(trials, passed, k) == everything


@given(counts, st.integers(1, 9))
def test_the_estimates_are_those_of_drawing_every_subset(trials: tuple[int, int], k: int) -> None:
    total, passed = trials
    if k > total:
        assert pass_at_k(total, passed, k) is None
        assert pass_all_k(total, passed, k) is None
        return
    draws = list(itertools.combinations([True] * passed + [False] * (total - passed), k))
    assert pass_at_k(total, passed, k) == sum(any(draw) for draw in draws) / len(draws)
    assert pass_all_k(total, passed, k) == sum(all(draw) for draw in draws) / len(draws)


@given(counts)
def test_pass_at_k_rises_and_pass_all_k_falls_with_k(trials: tuple[int, int]) -> None:
    total, passed = trials
    at = [pass_at_k(total, passed, k) or 0.0 for k in range(1, total + 1)]
    everything = [pass_all_k(total, passed, k) or 0.0 for k in range(1, total + 1)]
    assert at == sorted(at)
    assert everything == sorted(everything, reverse=True)
    assert at[0] == everything[0] == passed / total


def test_large_numbers_stay_exact() -> None:
    assert pass_at_k(2000, 1, 1000) == 0.5
    assert pass_all_k(2000, 1999, 1000) == 0.5


@pytest.mark.parametrize(("trials", "passed", "k"), [(3, 4, 1), (3, -1, 1), (3, 2, 0)])
def test_impossible_counts_are_refused(trials: int, passed: int, k: int) -> None:
    with pytest.raises(InvalidInput, match="k >= 1"):
        pass_at_k(trials, passed, k)
    with pytest.raises(InvalidInput, match="k >= 1"):
        pass_all_k(trials, passed, k)


def test_a_run_is_the_mean_over_its_tests() -> None:
    trials = summarise(_counts(always="+++", never="---", sometimes="+-+"))
    assert trials.k == 3
    assert trials.flaky == ["sometimes"]
    assert trials.pass_at_k == pytest.approx(2 / 3)
    assert trials.pass_all_k == pytest.approx(1 / 3)
    assert [(test.pass_at_k, test.pass_all_k) for test in trials.tests] == [(1, 1), (0, 0), (1, 0)]


def test_k_is_limited_by_the_test_with_the_fewest_trials() -> None:
    trials = summarise(_counts(full="++++", cut="+-"))
    assert trials.k == 2
    assert (trials.pass_at_k, trials.pass_all_k) == (1.0, 0.5)


def test_a_single_trial_is_never_flaky() -> None:
    trials = summarise(_counts(a="+", b="-"))
    assert (trials.flaky, trials.pass_at_k, trials.pass_all_k) == ([], 0.5, 0.5)


def test_an_empty_run_has_no_estimates() -> None:
    trials = summarise([])
    assert (trials.k, trials.flaky, trials.pass_at_k, trials.tests) == (0, [], None, [])


def test_counts_without_trials_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one trial"):
        TrialCounts(test_id="a", trials=0, passed=0)


@given(st.dictionaries(st.text(max_size=3), st.text("+-", min_size=1, max_size=5), max_size=6))
def test_flaky_tests_are_those_with_both_signs(tests: dict[str, str]) -> None:
    trials = summarise(_counts(**tests))
    assert set(trials.flaky) == {name for name, signs in tests.items() if len(set(signs)) == 2}
    assert [test.test_id for test in trials.tests if test.flaky] == trials.flaky
