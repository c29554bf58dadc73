"""Tests against agents, and whether a test tells agents apart."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scoring import Subject, TestOutcome, TestStanding, discrimination, matrix


def an_outcome(test_id: str, passed: int, trials: int = 1, digest: str = "d") -> TestOutcome:
    return TestOutcome(
        test_id=test_id,
        digest=digest,
        name=test_id,
        category="c",
        trials=trials,
        passed=passed,
        result_id=uuid4(),
    )


def a_standing(passed: int, trials: int, rest: tuple[int, int]) -> TestStanding:
    return TestStanding(
        subject=Subject(team_id="t", agent_id="a", version="1"),
        outcome=an_outcome("t", passed, trials),
        run_id=uuid4(),
        rest_passed=rest[0],
        rest_trials=rest[1],
    )


def test_equal_shares_of_unequal_trials_are_no_difference():
    (row,) = matrix(["a", "b"], {"a": [an_outcome("t", 1, 2)], "b": [an_outcome("t", 3, 6)]})
    assert not row.differs


def test_a_test_that_only_one_was_asked_is_no_difference():
    (row,) = matrix(["a", "b"], {"a": [an_outcome("t", 0)]})
    assert (row.outcomes[1], row.differs) == (None, False)


def test_an_edited_test_is_two_rows_that_say_so():
    rows = matrix(
        ["a", "b"],
        {"a": [an_outcome("t", 1, digest="1")], "b": [an_outcome("t", 0, digest="2")]},
    )
    assert [(row.test_id, row.is_edited, row.differs) for row in rows] == [("t", True, False)] * 2


@given(
    st.dictionaries(
        st.sampled_from("abc"),
        st.dictionaries(st.sampled_from(["t1", "t2", "t3", "t4"]), st.booleans()),
    )
)
def test_every_outcome_stands_in_its_row_and_column(told: dict[str, dict[str, bool]]):
    outcomes = {a: [an_outcome(t, int(p)) for t, p in tests.items()] for a, tests in told.items()}
    rows = matrix(["a", "b", "c"], outcomes)
    seen = {
        (agent, row.test_id): bool(cell.passed)
        for row in rows
        for agent, cell in zip("abc", row.outcomes, strict=True)
        if cell
    }
    assert seen == {(a, t): p for a, tests in told.items() for t, p in tests.items()}
    assert [row.test_id for row in rows] == sorted({t for tests in told.values() for t in tests})


def test_a_test_that_only_strong_agents_pass_discriminates():
    standings = [a_standing(p, 1, (rest, 10)) for p, rest in ((1, 10), (1, 10), (0, 2), (0, 2))]
    assert discrimination(standings) == pytest.approx(1)


def test_a_test_that_only_weak_agents_pass_is_below_zero():
    standings = [a_standing(p, 1, (rest, 10)) for p, rest in ((0, 9), (0, 8), (1, 2))]
    assert (discrimination(standings) or 0) < -0.9


@pytest.mark.parametrize(
    "points",
    [
        [(1, 10), (0, 2)],  # two points always lie on a line
        [(1, 10), (1, 5), (1, 2)],  # all passed it
        [(1, 5), (0, 5), (1, 5)],  # all are equally good
    ],
)
def test_where_nothing_can_be_told_nothing_is_told(points: list[tuple[int, int]]):
    assert discrimination([a_standing(p, 1, (rest, 10)) for p, rest in points]) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), max_size=12))
def test_discrimination_stays_between_minus_one_and_one(points: list[tuple[int, int]]):
    value = discrimination([a_standing(p, 5, (rest, 20)) for p, rest in points])
    assert value is None or -1 <= value <= 1
