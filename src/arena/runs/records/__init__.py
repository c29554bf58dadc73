"""Runs and their results in the database: this room's one door to the tables."""

from arena.runs.records.lease import LostLease, claim, lease_of, release, renew, take_over
from arena.runs.records.overview import (
    count_categories,
    known_teams,
    list_rows,
    placed_result,
)
from arena.runs.records.results import (
    add_error,
    add_results,
    list_errors,
    list_results,
    pending_items,
)
from arena.runs.records.runs import (
    NewRun,
    cancel,
    create_run,
    finish,
    get_run,
    list_runs,
    silent_runs,
    unfinished_runs,
)
from arena.runs.records.settlement import settle_result

__all__ = [
    "LostLease",
    "NewRun",
    "add_error",
    "add_results",
    "cancel",
    "claim",
    "count_categories",
    "create_run",
    "finish",
    "get_run",
    "known_teams",
    "lease_of",
    "list_errors",
    "list_results",
    "list_rows",
    "list_runs",
    "pending_items",
    "placed_result",
    "release",
    "renew",
    "settle_result",
    "silent_runs",
    "take_over",
    "unfinished_runs",
]
