"""Runs that move between servers: bundles, pushed runs, and runs that are executed again."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.operations.operation import OperationGroup, get, post
from arena.operations.run_fields import Wait
from arena.runs.run import Agreement, Run

BUNDLE = "application/jsonl"
PUSH_PATH = "/api/benchmarks/runs/push"
"""Takes larger bodies than other operations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPushed:
    """A run that was pushed to this server, now or before."""

    run: Run
    """As it is stored here: with an id of its own, under the sender's team."""
    path: Annotated[
        str, Field(examples=["/agent-dashboard/runs/5e06f7d4-f474-4fa8-a834-b447442a7da2"])
    ]
    """Its page on the dashboard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReexecuted:
    """A new run that repeats another one."""

    run_id: UUID
    source_run_id: UUID
    """The run that it repeats."""
    status: Annotated[str, Field(examples=["completed"])]
    passed: int
    failed: int
    score_percent: Annotated[float | None, Field(examples=[91.67])]
    total_tests: int
    error_message: str | None
    agreement: Agreement | None
    """Null until it has ended."""


class PushOperations(OperationGroup):
    """Runs that come from elsewhere, or go there."""

    @get(
        "/api/benchmarks/runs/{run_id}/bundle",
        tag="runs",
        errors=(404, 409),
        media_type=BUNDLE,
        description="The bundle: JSON lines, the last one with the SHA-256 of the others.",
        response_headers={"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"},
    )
    async def run_bundle(self, run_id: UUID) -> bytes:
        """A completed run with its tests, results and records, as one document."""
        tests = self.arena.catalog.current.by_id
        lines = self.arena.pushing.bundle(run_id, self.named_team, tests)
        return b"".join([line async for line in lines])

    @post(PUSH_PATH, tag="runs", errors=(409, 413, 429, 507))
    async def push_run(self, bundle: bytes) -> RunPushed:
        """Take a run that was executed elsewhere; the body is its bundle.

        It is checked, its verdicts are replayed where that is possible, and it is stored as
        `reported`: a claim of the sender's team. A second push of the same run changes nothing.
        """
        run = await self.arena.pushing.receive(self.team, bundle)
        return RunPushed(run=run, path=f"/agent-dashboard/runs/{run.id}")

    @post(
        "/api/benchmarks/runs/{run_id}/reexecute",
        tag="runs",
        errors=(404, 409),
        query=("wait",),
        accepted_unless="wait",
    )
    async def reexecute_run(self, run_id: UUID, *, wait: Wait = True) -> RunReexecuted:
        """Ask the agent of a completed run again, on the same tests: a new run.

        The agent must be registered here with the same id and version.
        """
        self.arena.registry.refresh()
        executor = self.arena.executor
        run = await executor.reexecute(run_id, self.team)
        run = await executor.start(run.id, self.team)
        agreement = None
        if wait:
            run = await executor.wait(run.id)
            agreement = await self.arena.runs.agreement(run.id, self.team)
        return RunReexecuted(
            run_id=run.id,
            source_run_id=run_id,
            status=run.status,
            passed=run.passed_tests,
            failed=run.failed_tests,
            score_percent=run.score_percent,
            total_tests=run.total_tests,
            error_message=run.error_message,
            agreement=agreement,
        )

    @get(
        "/api/benchmarks/runs/{run_id}/agreement",
        id="get_agreement",
        tag="runs",
        errors=(404, 409),
    )
    async def agreement(self, run_id: UUID) -> Agreement:
        """How far a run that was executed again agrees with the run that it repeats."""
        return await self.arena.runs.agreement(run_id, self.named_team)
