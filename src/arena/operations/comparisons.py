"""Two runs side by side: compared, and checked for a regression."""

from uuid import UUID

from arena.catalog.suite import SuiteDifference, difference
from arena.catalog.test import is_quarantined
from arena.errors import NotFound
from arena.operations.operation import OperationGroup, get
from arena.runs.comparison import MeasuredRun, RunComparison, RunRegression, check_against, compare
from arena.runs.run import Run


class ComparisonOperations(OperationGroup):
    """Comparisons of runs."""

    @get("/api/benchmarks/runs/{run_id}/compare/{other_id}", tag="runs", errors=(404,))
    async def compare_runs(self, run_id: UUID, other_id: UUID) -> RunComparison:
        """Compare a run with another of the same team, on the tests that both have."""
        first, second = await self._measured(run_id, other_id)
        return compare(first, second, suite_difference=await self._changed(first.run, second.run))

    @get("/api/benchmarks/runs/{run_id}/regression/{baseline_id}", tag="runs", errors=(404,))
    async def check_regression(self, run_id: UUID, baseline_id: UUID) -> RunRegression:
        """Test whether a run is worse than a baseline, on the tests that both have.

        Tests that were quarantined on the day of the run do not count.
        """
        now, baseline = await self._measured(run_id, baseline_id)
        # The day of the run, not today, so that the same run always gives the same answer.
        day = now.run.created_at.date()
        listed = await self.arena.runs.quarantined(run_id)
        return check_against(
            baseline,
            now,
            quarantined={one.test_id for one in listed if is_quarantined(one.until, day)},
            suite_difference=await self._changed(baseline.run, now.run),
        )

    async def _measured(self, run_id: UUID, other_id: UUID) -> tuple[MeasuredRun, MeasuredRun]:
        one = await self.arena.runs.get(run_id, self.named_team)
        # Of the same team, even if the request names none.
        two = await self.arena.runs.get(other_id, one.team_id)
        first, second = [
            MeasuredRun(run=run, counts=await self.arena.scores.counts(run.id))
            for run in (one, two)
        ]
        return first, second

    async def _changed(self, before: Run, after: Run) -> SuiteDifference | None:
        if before.suite != after.suite or before.suite_version == after.suite_version:
            return None
        manifests: list[dict[str, str]] = []
        for run in (before, after):
            try:
                found = await self.arena.boards.manifest(run.team_id, run.suite, run.suite_version)
            except NotFound:
                return None  # nothing is known of this version but its name
            manifests.append(found[1])
        return difference(*manifests)
