"""The entry point of scoring: add evidence, read the board, compare."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.agents.agent import precedence
from arena.catalog.test import Test
from arena.errors import InvalidInput
from arena.scoring.board import BoardEntry, BoardFilter, Leaderboard, Recalculated
from arena.scoring.comparison import Comparison, compare
from arena.scoring.components import Share
from arena.scoring.history import (
    Execution,
    ExecutionDetails,
    ExecutionsReported,
    Feedback,
    Subject,
)
from arena.scoring.item_quality import SuiteQuality, suite_quality
from arena.scoring.matrix import Matrix, MatrixAgent, Standing, TestOutcome, matrix_rows, standing
from arena.scoring.pareto import Pareto, pareto
from arena.scoring.records import board, evidence, outcomes, rebuilding, recalculation
from arena.scoring.records.suites import team_board
from arena.scoring.records.sums import stored_weights
from arena.scoring.scorecard import Weights
from arena.scoring.trials import TrialCounts, Trials, summarise
from arena.store.database import Database, shielded

MAX_BATCH = 1000


class Scores:
    """The scores of the agents."""

    def __init__(self, database: Database, weights: Weights | None = None) -> None:
        self._database = database
        self._weights = weights
        """The weights to store at start; None keeps the stored ones."""

    @shielded
    async def open(self) -> None:
        """Store the weights of the settings, if there are any."""
        # A shell without weights in its settings must not reset a server's weights.
        if self._weights is None:
            return
        async with self._database.reading() as connection:
            stored = await stored_weights(connection)
        # Read first: nearly every start finds them unchanged, and then need not wait for a writer.
        if stored != self._weights:
            async with self._database.writing() as connection:
                await recalculation.store_weights(connection, self._weights)

    @shielded
    async def submit_feedback(
        self,
        subject: Subject,
        *,
        rating: int,
        user_id: str = "anonymous",
        execution_id: UUID | None = None,
        comment: str | None = None,
        task_description: str | None = None,
    ) -> Feedback:
        """Record a rating of 1 to 5; the scores are up to date when this returns."""
        feedback = Feedback(
            id=uuid4(),
            agent_id=subject.agent_id,
            agent_version=subject.version,
            user_id=user_id,
            execution_id=execution_id,
            rating=rating,
            comment=comment,
            task_description=task_description,
            is_standing=True,
            created_at=clock.now(),
        )
        async with self._database.writing() as connection:
            await evidence.add_feedback(connection, subject, feedback)
        return feedback

    @shielded
    async def feedback(
        self,
        team_id: str,
        *,
        agent_id: str | None = None,
        version: str | None = None,
        with_history: bool = False,
        limit: int = 20,
        before: tuple[datetime, UUID] | None = None,
    ) -> list[Feedback]:
        """A team's ratings, newest first."""
        async with self._database.reading() as connection:
            return await evidence.list_feedback(
                connection,
                team_id,
                agent_id=agent_id,
                version=version,
                with_history=with_history,
                limit=limit,
                before=before,
            )

    @shielded
    async def report_executions(
        self, team_id: str, batch: Sequence[tuple[Subject, Execution]]
    ) -> ExecutionsReported:
        """Record executions that happened elsewhere; the whole batch or nothing."""
        if len(batch) > MAX_BATCH:
            raise InvalidInput(f"{len(batch)} executions in one batch, {MAX_BATCH} are allowed")
        async with self._database.writing() as connection:
            return await evidence.report_executions(connection, team_id, batch)

    @shielded
    async def execution(self, team_id: str, name: str) -> ExecutionDetails:
        """One execution of the team, by its id or idempotency key."""
        async with self._database.reading() as connection:
            return await evidence.find_execution(connection, team_id, name)

    @shielded
    async def leaderboard(
        self,
        team_id: str,
        selection: BoardFilter | None = None,
        *,
        at: datetime | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> Leaderboard:
        """A page of the leaderboard, now or at a past moment, without its `next_cursor`."""
        chosen = selection or BoardFilter()
        async with self._reading(team_id) as connection:
            if at is not None:
                return await board.past_board(connection, team_id, chosen, at, limit, offset)
            return await board.read_board(connection, team_id, chosen, limit, offset)

    @shielded
    async def last_change(self, team_id: str) -> datetime | None:
        """When a score of the team last changed."""
        async with self._database.reading() as connection:
            return await board.last_change(connection, team_id)

    @shielded
    async def entry(self, subject: Subject) -> BoardEntry | None:
        """One agent version's entry; None if there is no evidence about it."""
        async with self._database.reading() as connection:
            return await board.board_entry_of(connection, subject)

    @shielded
    async def newest(self, team_id: str, agent_id: str) -> Subject | None:
        """The newest version of an agent that has any evidence."""
        async with self._database.reading() as connection:
            versions = await board.known_versions(connection, team_id, agent_id)
        if not versions:
            return None
        return Subject(team_id=team_id, agent_id=agent_id, version=max(versions, key=precedence))

    @shielded
    async def compare(self, subjects: Sequence[Subject], suite: str | None = None) -> Comparison:
        """Compare agents on the tests they all ran in their latest full runs.

        Without a suite, on one that most of them have a run on.
        """
        known: dict[str, tuple[BoardEntry, list[TrialCounts]]] = {}
        async with self._reading(subjects[0].team_id) as connection:
            suites = await self._suites(connection, subjects, suite)
            for subject in subjects:
                entry = await board.board_entry_of(connection, subject, suites[subject])
                run_id = entry.benchmark_run_id if entry else None
                # Without a run of the suite, what is known of it anyway.
                entry = entry or await board.board_entry_of(connection, subject)
                if entry is not None:
                    counts = await outcomes.test_counts(connection, run_id) if run_id else []
                    known[str(subject)] = entry, counts
        found = compare([str(subject) for subject in subjects], known)
        return replace(found, suite=_only(suites.values()))

    async def _suites(
        self, connection: AsyncConnection, subjects: Sequence[Subject], suite: str | None
    ) -> dict[Subject, str | None]:
        """The suite on which each agent is compared."""
        if suite is not None:
            return dict.fromkeys(subjects, suite)
        return await board.compared_suites(connection, subjects)

    @shielded
    async def matrix(
        self,
        subjects: Sequence[Subject],
        *,
        suite: str | None = None,
        only_differing: bool = False,
        limit: int = 500,
        offset: int = 0,
    ) -> Matrix:
        """A page of the tests in the agents' latest full runs of a suite, with their results."""
        runs: dict[str, UUID] = {}
        found: dict[str, list[TestOutcome]] = {}
        async with self._reading(subjects[0].team_id) as connection:
            suites = await self._suites(connection, subjects, suite)
            for subject in subjects:
                entry = await board.board_entry_of(connection, subject, suites[subject])
                if entry is not None and entry.benchmark_run_id:
                    run_id = runs[str(subject)] = entry.benchmark_run_id
                    found[str(subject)] = await outcomes.test_outcomes(connection, run_id)
        rows = matrix_rows(list(runs), found)
        differing = [row for row in rows if row.differs]
        matching = differing if only_differing else rows
        page = matching[offset : offset + limit]
        return Matrix(
            agents=[MatrixAgent(agent=name, run_id=run_id) for name, run_id in runs.items()],
            without_run=[str(subject) for subject in subjects if str(subject) not in runs],
            rows=page,
            count=len(page),
            total=len(matching),
            tests=len(rows),
            differing=len(differing),
            suite=_only(suites.values()),
        )

    @shielded
    async def standing(self, team_id: str, test: Test) -> Standing:
        """The results of a test in the run of each agent version on the board of its suite.

        Only runs of the test as it is now count in the statistics.
        """
        async with self._reading(team_id) as connection:
            found = await outcomes.test_records(connection, team_id, test.suite, test.id)
        return standing(test.id, test.fingerprint, found)

    @shielded
    async def suite_quality(self, team_id: str, suite: str) -> SuiteQuality:
        """The weak tests of a suite, from the runs on its board."""
        async with self._reading(team_id) as connection:
            return suite_quality(await outcomes.suite_records(connection, team_id, suite))

    @shielded
    async def pareto(self, team_id: str, suite: str | None = None) -> Pareto:
        """Accuracy against cost of the agents on the board of a suite."""
        async with self._reading(team_id) as connection:
            suite = suite or (await team_board(connection, team_id)).default_suite
            return pareto(await outcomes.cost_points(connection, team_id, suite or ""))

    @shielded
    async def trials(self, run_id: UUID) -> Trials | None:
        """How often each test of a run passed; None if every test has one trial."""
        async with self._database.reading() as connection:
            if not await outcomes.has_repeats(connection, run_id):
                return None
            return summarise(await outcomes.test_counts(connection, run_id))

    @shielded
    async def run_share(self, run_id: UUID) -> Share:
        """Passes of trials of a run, a unit per cluster of tests."""
        async with self._database.reading() as connection:
            stored = None
            if await outcomes.has_equal_trials(connection, run_id):
                stored = await outcomes.stored_share(connection, run_id)
            return stored or await outcomes.share_of_run(connection, run_id)

    @shielded
    async def counts(self, run_id: UUID) -> list[TrialCounts]:
        """How often each test of a run passed, of those that have results."""
        async with self._database.reading() as connection:
            return await outcomes.test_counts(connection, run_id)

    @shielded
    async def recalculate(self, team_id: str, subject: Subject | None = None) -> Recalculated:
        """Recompute scores from the raw rows: of one agent version, or of the whole team."""
        async with self._database.writing() as connection:
            done = await recalculation.recalculate(connection, team_id, subject)
        return Recalculated(recalculated=[str(one) for one in done], count=len(done))

    @asynccontextmanager
    async def _reading(self, team_id: str) -> AsyncGenerator[AsyncConnection]:
        """A connection for reads of boards: computes those that are missing."""
        async with self._database.reading() as connection:
            if not await rebuilding.has_missing(connection, team_id):
                yield connection
                return
        async with self._database.writing() as connection:
            await rebuilding.compute_missing(connection, team_id)
            yield connection


def _only(names: Iterable[str | None]) -> str | None:
    """The name, if all are the same."""
    different = set(names)
    return different.pop() if len(different) == 1 else None
