"""Tests against agents, and how well a test discriminates between agents."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scoring.matrix import TestOutcome, TestRecord, discrimination, matrix_rows, standing


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


def a_record(passed: int, trials: int, rest: tuple[int, int], digest: str = "d") -> TestRecord:
    return TestRecord(
        agent_id="a",
        agent_version="1",
        run_id=uuid4(),
        result_id=uuid4(),
        digest=digest,
        trials=trials,
        passed=passed,
        rest_passed=rest[0],
        rest_trials=rest[1],
    )


def test_equal_shares_of_unequal_trials_are_no_difference():
    (row,) = matrix_rows(["a", "b"], {"a": [an_outcome("t", 1, 2)], "b": [an_outcome("t", 3, 6)]})
    assert not row.differs


def test_a_test_that_only_one_agent_ran_is_no_difference():
    (row,) = matrix_rows(["a", "b"], {"a": [an_outcome("t", 0)]})
    assert (row.cells[1], row.differs) == (None, False)


def test_an_edited_test_is_two_rows_that_say_so():
    rows = matrix_rows(
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
def test_every_outcome_stands_in_its_row_and_column(passes: dict[str, dict[str, bool]]):
    outcomes = {a: [an_outcome(t, int(p)) for t, p in tests.items()] for a, tests in passes.items()}
    rows = matrix_rows(["a", "b", "c"], outcomes)
    seen = {
        (agent, row.test_id): bool(cell.passed)
        for row in rows
        for agent, cell in zip("abc", row.cells, strict=True)
        if cell
    }
    assert seen == {(a, t): p for a, tests in passes.items() for t, p in tests.items()}
    assert [row.test_id for row in rows] == sorted({t for tests in passes.values() for t in tests})


def test_a_test_that_only_strong_agents_pass_discriminates():
    records = [a_record(p, 1, (rest, 10)) for p, rest in ((1, 10), (1, 10), (0, 2), (0, 2))]
    assert discrimination(records) == pytest.approx(1)


def test_a_test_that_only_weak_agents_pass_is_below_zero():
    records = [a_record(p, 1, (rest, 10)) for p, rest in ((0, 9), (0, 8), (1, 2))]
    assert (discrimination(records) or 0) < -0.9


@pytest.mark.parametrize(
    "points",
    [
        [(1, 10), (0, 2)],  # two points always lie on a line
        [(1, 10), (1, 5), (1, 2)],  # all passed it
        [(1, 5), (0, 5), (1, 5)],  # all are equally good
    ],
)
def test_nothing_is_claimed_where_nothing_is_known(points: list[tuple[int, int]]):
    assert discrimination([a_record(p, 1, (rest, 10)) for p, rest in points]) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), max_size=12))
def test_discrimination_stays_between_minus_one_and_one(points: list[tuple[int, int]]):
    value = discrimination([a_record(p, 5, (rest, 20)) for p, rest in points])
    assert value is None or -1 <= value <= 1


def test_statistics_of_a_test_leave_out_runs_of_its_earlier_content():
    old, new = a_record(0, 1, (1, 2), digest="old"), a_record(3, 4, (0, 0))
    found = standing("t", "d", [old, new])
    assert [(row.is_current, row.rest_percent) for row in found.rows] == [(False, 50), (True, None)]
    assert (found.counted, found.pass_percent, found.discrimination) == (1, 75.0, None)
