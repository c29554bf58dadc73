"""Runs to export, made of given results."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from uuid import UUID

from arena.cli.export.exported import ExportedRun
from arena.cli.gate import Gate
from arena.operations.runs import RunDetails
from arena.runs.records.reader import OUTCOMES
from arena.runs.run import Outcome, QuarantinedTest, Result, Run, RunError, RunStatus
from arena.scoring.trials import TrialCounts, summarise

RUN_ID = UUID("5e06f7d4-f474-4fa8-a834-b447442a7da2")
STARTED = datetime(2026, 11, 17, 9, 30, 5, tzinfo=UTC)


def a_run(results: Sequence[Result] = (), **changes: object) -> Run:
    """A completed run with these results."""
    passed = sum(result.passed is True for result in results)
    values: dict[str, object] = {
        "id": RUN_ID,
        "agent_id": "my-agent",
        "agent_version": "1.2.0",
        "team_id": "default",
        "status": RunStatus.COMPLETED,
        "total_tests": len(results),
        "completed_tests": len(results),
        "passed_tests": passed,
        "failed_tests": sum(result.passed is False for result in results),
        "errored_tests": 0,
        "awaiting_tests": sum(result.passed is None for result in results),
        "score_percent": 100 * passed / len(results) if results else None,
        "points_earned": 1.0,
        "points_possible": 2.0,
        "points_percent": 50.0,
        "is_full": True,
        "suite": "words",
        "suite_version": "a" * 64,
        "trials": None,
        "concurrency": None,
        "category": None,
        "input_tokens": None,
        "output_tokens": None,
        "cost_usd": None,
        "costed_tests": 0,
        "duration_seconds": 1.5,
        "error_message": None,
        "created_at": STARTED,
        "started_at": STARTED,
        "completed_at": STARTED,
    }
    return Run(**{**values, **changes})


def exported(
    results: Sequence[Result],
    *,
    errors: Sequence[RunError] = (),
    quarantined: Sequence[QuarantinedTest] = (),
    gate: Gate | None = None,
    **changes: object,
) -> ExportedRun:
    """An export of a run with these results; `changes` are of the run."""

    async def read(outcome: Outcome | None = None, /) -> AsyncIterator[Result]:
        for result in results:
            if outcome is None or result.passed is OUTCOMES[outcome]:
                yield result

    counts = [TrialCounts(test_id=one.test_id, trials=one.trial, passed=0) for one in results]
    details = RunDetails(
        run=a_run(results, **changes),
        results=[],
        count=0,
        errors=list(errors),
        categories=[],
        trials=summarise(counts) if any(one.trial > 1 for one in results) else None,
    )
    return ExportedRun(
        details=details,
        results=read,
        gate=gate,
        quarantined={one.test_id: one for one in quarantined},
    )


async def text_of(pieces: AsyncIterator[str]) -> str:
    """The whole text of an export."""
    return "".join([piece async for piece in pieces])


def a_quarantine(test_id: str, **changes: object) -> QuarantinedTest:
    """A quarantine of a test that failed once."""
    values: dict[str, object] = {
        "test_id": test_id,
        "until": "2026-12-31",
        "reason": "the host is flaky",
        "trials": 1,
        "passed": 0,
        "failed": 1,
        "awaiting": 0,
    }
    return QuarantinedTest(**{**values, **changes})
