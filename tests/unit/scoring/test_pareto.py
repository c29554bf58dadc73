"""Accuracy against cost: who is beaten by nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.pareto import CostPoint, pareto_front


def _point(key: str, cost: float | None, accuracy: float) -> CostPoint:
    return CostPoint(key=key, cost=cost, accuracy=accuracy)


def test_the_front_rises_from_cheap_to_accurate() -> None:
    front = pareto_front(
        [
            _point("accurate", 5.0, 95),
            _point("wasteful", 6.0, 90),
            _point("cheap", 0.0, 40),
            _point("middle", 1.0, 80),
            _point("beaten", 1.0, 79),  # as cheap as middle, less accurate
            _point("dearer", 2.0, 80),  # as accurate as middle, dearer
        ]
    )
    assert [point.key for point in front.front] == ["cheap", "middle", "accurate"]
    beaten_by = {beaten.point.key: beaten.by for beaten in front.dominated}
    assert beaten_by == {"beaten": "middle", "dearer": "middle", "wasteful": "accurate"}


def test_equal_points_share_the_front() -> None:
    front = pareto_front([_point("b", 1.0, 50), _point("a", 1.0, 50), _point("c", 1.0, 50)])
    assert [point.key for point in front.front] == ["a", "b", "c"]
    assert front.dominated == ()


def test_unknown_cost_is_apart_and_beats_nobody() -> None:
    front = pareto_front([_point("z", None, 100), _point("a", None, 100), _point("b", 9.0, 10)])
    assert [point.key for point in front.unknown_cost] == ["a", "z"]
    assert [point.key for point in front.front] == ["b"]


def test_without_points_there_is_no_front() -> None:
    front = pareto_front([])
    assert (front.front, front.dominated, front.unknown_cost) == ((), (), ())


@pytest.mark.parametrize(
    ("cost", "accuracy"), [(-0.01, 1), (float("nan"), 1), (float("inf"), 1), (1, float("nan"))]
)
def test_impossible_points_are_refused_by_name(cost: float, accuracy: float) -> None:
    with pytest.raises(InvalidInput, match="agent: "):
        _point("agent", cost, accuracy)


def _beats(one: CostPoint, other: CostPoint) -> bool:
    if one.cost is None or other.cost is None:
        return False
    return (
        one.cost <= other.cost
        and one.accuracy >= other.accuracy
        and (one.cost, one.accuracy) != (other.cost, other.accuracy)
    )


points = st.lists(
    st.tuples(st.none() | st.integers(0, 6).map(float), st.integers(0, 6).map(float)), max_size=15
)


@given(points)
def test_the_front_is_what_nobody_beats(pairs: list[tuple[float | None, float]]) -> None:
    listed = [_point(f"p{i:02}", cost, accuracy) for i, (cost, accuracy) in enumerate(pairs)]
    front = pareto_front(listed)
    unbeaten = {
        point.key
        for point in listed
        if point.cost is not None and not any(_beats(other, point) for other in listed)
    }
    assert {point.key for point in front.front} == unbeaten
    assert [p.accuracy for p in front.front] == sorted(p.accuracy for p in front.front)
    on_front = {point.key: point for point in front.front}
    assert all(_beats(on_front[beaten.by], beaten.point) for beaten in front.dominated)
    assert len(front.front) + len(front.dominated) + len(front.unknown_cost) == len(listed)
