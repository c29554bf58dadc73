"""What every format writes: a run, its results in pages, its gate, its quarantined tests."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from arena.cli import output
from arena.cli.gate import Compared, Gate
from arena.operations.runs import RunDetails
from arena.runs.run import Outcome, QuarantinedTest, Result, Run

CUT = " … (cut)"


class Results(Protocol):
    """Reads the results of the run, page by page."""

    def __call__(self, outcome: Outcome | None = None, /) -> AsyncIterator[Result]:
        """Every result, or those with this outcome, in the order of recording."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRun:
    """A run to export."""

    details: RunDetails
    """Without its results."""
    results: Results
    gate: Gate | None = None
    compared: Compared | None = None
    """Beside its baseline, if one was named."""
    quarantined: Mapping[str, QuarantinedTest]
    """By test id; only those whose quarantine held on the day of the run."""


RUN_FIELDS = ("agent_id", "agent_version", "suite", "suite_version", "provenance")
"""What a single result needs of its run: whose it is, of which tests, and where it was executed."""


def fields_of_run(run: Run) -> dict[str, str]:
    """The fields that every exported result has of its run."""
    return {"run_id": str(run.id)} | {name: str(getattr(run, name)) for name in RUN_FIELDS}


def output_of(result: Result) -> str:
    """The agent's output as text."""
    value: object = (result.actual_output or {}).get("output", "")
    return value if isinstance(value, str) else output.as_json(value)


def cut(text: str, length: int) -> str:
    """A text of at most this length, with a mark if it was longer."""
    return text if len(text) <= length else text[: length - len(CUT)] + CUT
