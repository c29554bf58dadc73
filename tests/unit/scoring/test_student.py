"""Quantiles of Student's t against the printed tables and against scipy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from arena.errors import InvalidInput
from arena.scoring.student import normal_quantile, t_quantile


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
