from uuid import uuid4

import pytest

from arena.errors import Conflict
from arena.runs.run import MOVES, RunStatus, check_move


def test_every_state_has_its_row_in_the_table_of_moves():
    assert set(MOVES) == set(RunStatus)


def test_only_pending_and_running_are_not_final():
    assert {status for status in RunStatus if not status.is_final} == {"pending", "running"}


def test_a_run_that_waits_for_people_is_completed_or_cancelled_but_never_resumed():
    assert MOVES[RunStatus.AWAITING_REVIEW] == {"completed", "cancelled"}


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_a_final_state_allows_no_moves(status: str):
    assert not MOVES[RunStatus(status)]


def test_a_move_that_is_not_in_the_table_is_refused_with_both_ends_named():
    run_id = uuid4()
    with pytest.raises(Conflict, match=f"run {run_id} is completed, it cannot be cancelled"):
        check_move(run_id, RunStatus.COMPLETED, RunStatus.CANCELLED, "cancelled")
