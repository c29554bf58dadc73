import pytest

from arena.sandbox.cases import calc_score
from arena.sandbox.ports import CaseResult


def results(*passed: bool) -> list[CaseResult]:
    return [CaseResult(desc="", passed=one, got=None, expected=None) for one in passed]


@pytest.mark.parametrize(
    ("passed", "points", "score"),
    [
        ((True, True, False), 100, 66),  # the seed's own example: floored, not rounded
        ((True, False, False), 100, 33),
        ((True, True, True), 100, 100),
        ((False,), 100, 0),
        ((), 100, 0),
        ((True, True, False), 10, 6),
        ((True,), 0, 0),
    ],
)
def test_the_score_is_the_share_that_passed_rounded_down(passed, points, score) -> None:
    assert calc_score(results(*passed), points) == score
