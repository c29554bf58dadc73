"""Do it, durably: runs are created, executed, watched, resumed and read here.

A *run* is one agent version against a list of tests that is frozen when the run is created. An
*item* is one test in one trial. Each item ends in exactly one *result*, or in an error of the
infrastructure that a resume tries again. Whoever executes a run holds its *lease*; results are
written under it and counted in the same transaction, so a process may die at any moment.

This room imports the catalog, the agents, evaluation and the store.
"""

from arena.runs.attempt import Retries, ask
from arena.runs.changes import Changes, rung
from arena.runs.engine import Engine
from arena.runs.owner import Owner
from arena.runs.run import (
    CategoryCount,
    PlacedResult,
    RecordedResult,
    Result,
    ResultFilter,
    ResultRow,
    Run,
    RunError,
    RunStatus,
)
from arena.runs.runs import RunEvent, RunRequest, Runs
from arena.runs.verdicts import Recorder

__all__ = [
    "CategoryCount",
    "Changes",
    "Engine",
    "Owner",
    "PlacedResult",
    "RecordedResult",
    "Recorder",
    "Result",
    "ResultFilter",
    "ResultRow",
    "Retries",
    "Run",
    "RunError",
    "RunEvent",
    "RunRequest",
    "RunStatus",
    "Runs",
    "ask",
    "rung",
]
