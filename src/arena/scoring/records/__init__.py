"""Scores in the database: this room's one door to the tables.

Every change of the evidence (`evidence.py`) and the scores that follow from it are written in the
same transaction, from running sums: what it costs does not grow with the history.
"""

from arena.scoring.records.board import (
    Board,
    BoardFilter,
    BoardRow,
    has_open_intervals,
    heal_intervals,
    known_versions,
    last_change,
    read_board,
    score_row,
)
from arena.scoring.records.evidence import add_executions, add_vote, set_benchmark
from arena.scoring.records.executions import Report, report_executions
from arena.scoring.records.outcomes import (
    has_repeats,
    outcomes_of_run,
    test_counts,
    test_outcomes,
)
from arena.scoring.records.recalculation import recalculate, recalculate_all, store_weights
from arena.scoring.records.standing import test_standing
from arena.scoring.records.sums import stored_weights
from arena.scoring.records.votes import list_votes

__all__ = [
    "Board",
    "BoardFilter",
    "BoardRow",
    "Report",
    "add_executions",
    "add_vote",
    "has_open_intervals",
    "has_repeats",
    "heal_intervals",
    "known_versions",
    "last_change",
    "list_votes",
    "outcomes_of_run",
    "read_board",
    "recalculate",
    "recalculate_all",
    "report_executions",
    "score_row",
    "set_benchmark",
    "store_weights",
    "stored_weights",
    "test_counts",
    "test_outcomes",
    "test_standing",
]
