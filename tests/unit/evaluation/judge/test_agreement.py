import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.evaluation.judge.agreement import agreement, mean_of, rate_of, weighted_kappa

scores = st.integers(0, 100)
pairs = st.lists(st.tuples(scores, scores), min_size=1, max_size=30)


def kappa_by_table(given: list[tuple[int, int]]) -> float | None:
    """Cohen's definition, with a category for each point and no shortcut."""
    n = len(given)
    observed = sum((j - p) ** 2 for j, p in given) / n
    chance = sum((j - p) ** 2 for j, _ in given for _, p in given) / n**2
    return None if len({p for _, p in given}) == 1 else 1 - observed / chance


@given(pairs)
def test_kappa_is_cohens_with_quadratic_weights(given):
    expected = kappa_by_table(given)
    found = weighted_kappa(given)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_kappa_of_known_tables():
    assert weighted_kappa([(1, 1), (50, 50), (99, 99)]) == 1
    assert weighted_kappa([(0, 100), (100, 0)]) == -1
    assert weighted_kappa([(0, 0), (0, 100), (100, 0), (100, 100)]) == 0
    # scikit-learn's cohen_kappa_score(…, weights="quadratic") for these two lists
    given = list(zip([1, 2, 3, 4, 5, 3], [1, 2, 4, 4, 5, 1], strict=True))
    assert weighted_kappa(given) == pytest.approx(0.8)


# Each example draws twelve thousand samples.
@settings(max_examples=30)
@given(pairs)
def test_an_interval_holds_its_figure_and_is_the_same_every_time(given):
    first, second = agreement("x", given), agreement("x", given)
    assert first == second
    for figure in (first.kappa, first.mean_error, first.bias):
        if figure.low is not None:
            assert figure.low <= figure.value <= figure.high


def test_error_and_bias_are_in_points():
    found = agreement("x", [(60, 50), (40, 50), (80, 50)])
    assert found.mean_error.value == pytest.approx(50 / 3)
    assert found.bias.value == 10
    assert found.items == 3


def test_one_item_has_no_interval_and_none_have_no_figure():
    assert (mean_of([5.0]).value, mean_of([5.0]).low) == (5, None)
    assert mean_of([]).value is None
    assert agreement("x", [(5, 5)]).kappa.value is None


def test_a_rate_is_never_certain():
    none = rate_of(0, 20)
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(0.161, abs=0.001)  # Wilson
    assert rate_of(20, 20).low == pytest.approx(0.839, abs=0.001)
    assert rate_of(0, 0).value is None
