import pytest

from arena.sandbox import CaseResult, TestCase, calc_score


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


def test_a_case_is_read_as_a_standard_writes_it() -> None:
    case = TestCase.from_json({"input": [1, {"a": 2}], "expected": None, "desc": "x"})
    assert case == TestCase(input=[1, {"a": 2}], expected=None, desc="x")


def test_a_single_input_is_one_argument() -> None:
    assert list(TestCase.from_json({"input": "text", "expected": 1}).input) == ["text"]
    assert list(TestCase.from_json({"expected": 1}).input) == []
