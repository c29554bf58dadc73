"""Accuracy against cost: the Pareto front."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.pareto import ParetoPoint, pareto


def _point(agent: str, cost: float | None, accuracy: float) -> ParetoPoint:
    return ParetoPoint(
        agent_id=agent,
        agent_version="1",
        run_id=UUID(int=0),
        accuracy=accuracy,
        cost_usd_per_test=cost,
        costed_tests=1,
        total_tests=1,
    )


def test_the_front_rises_from_cheap_to_accurate() -> None:
    front = pareto(
        [
            _point("accurate", 5.0, 95),
            _point("wasteful", 6.0, 90),
            _point("cheap", 0.0, 40),
            _point("middle", 1.0, 80),
            _point("beaten", 1.0, 79),  # as cheap as middle, less accurate
            _point("dearer", 2.0, 80),  # as accurate as middle, dearer
        ]
    )
    assert [point.agent_id for point in front.front] == ["cheap", "middle", "accurate"]
    beaten_by = {beaten.agent_id: beaten.by for beaten in front.dominated}
    assert beaten_by == {"beaten": "middle:1", "dearer": "middle:1", "wasteful": "accurate:1"}


def test_equal_points_share_the_front() -> None:
    front = pareto([_point("b", 1.0, 50), _point("a", 1.0, 50), _point("c", 1.0, 50)])
    assert [point.agent_id for point in front.front] == ["a", "b", "c"]
    assert front.dominated == []


def test_unknown_cost_is_apart_and_beats_nobody() -> None:
    front = pareto([_point("z", None, 100), _point("a", None, 100), _point("b", 9.0, 10)])
    assert [point.agent_id for point in front.unknown_cost] == ["a", "z"]
    assert [point.agent_id for point in front.front] == ["b"]


def test_without_points_there_is_no_front() -> None:
    front = pareto([])
    assert (front.front, front.dominated, front.unknown_cost) == ([], [], [])


@pytest.mark.parametrize(
    ("cost", "accuracy"), [(-0.01, 1), (float("nan"), 1), (float("inf"), 1), (1, float("nan"))]
)
def test_impossible_points_are_refused_by_name(cost: float, accuracy: float) -> None:
    with pytest.raises(InvalidInput, match="agent:1: "):
        _point("agent", cost, accuracy)


def _beats(one: ParetoPoint, other: ParetoPoint) -> bool:
    if one.cost_usd_per_test is None or other.cost_usd_per_test is None:
        return False
    return (
        one.cost_usd_per_test <= other.cost_usd_per_test
        and one.accuracy >= other.accuracy
        and (one.cost_usd_per_test, one.accuracy) != (other.cost_usd_per_test, other.accuracy)
    )


points = st.lists(
    st.tuples(st.none() | st.integers(0, 6).map(float), st.integers(0, 6).map(float)), max_size=15
)


@given(points)
def test_the_front_is_what_nobody_beats(pairs: list[tuple[float | None, float]]) -> None:
    listed = [_point(f"p{i:02}", cost, accuracy) for i, (cost, accuracy) in enumerate(pairs)]
    front = pareto(listed)
    unbeaten = {
        point.agent_id
        for point in listed
        if point.cost_usd_per_test is not None and not any(_beats(other, point) for other in listed)
    }
    assert {point.agent_id for point in front.front} == unbeaten
    assert [p.accuracy for p in front.front] == sorted(p.accuracy for p in front.front)
    on_front = {point.name: point for point in front.front}
    assert all(_beats(on_front[beaten.by], beaten) for beaten in front.dominated)
    assert len(front.front) + len(front.dominated) + len(front.unknown_cost) == len(listed)
