"""The door of this room: give evidence, read the board, compare."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from arena.agents.semver import precedence
from arena.errors import InvalidInput
from arena.scoring import records
from arena.scoring.comparison import Comparison, compare
from arena.scoring.history import Execution, RecordedVote, Subject, Vote
from arena.scoring.matrix import MatrixRow, TestOutcome, matrix
from arena.scoring.overall import Weights
from arena.scoring.pair import Contender
from arena.scoring.records import Board, BoardFilter, BoardRow, Report
from arena.scoring.standing import TestStanding
from arena.scoring.trials import TrialCounts, TrialSummary
from arena.store.database import Database, shielded

MAX_BATCH = 1000


class Scores:
    """What is known of the agents, added up."""

    def __init__(self, database: Database, weights: Weights | None = None) -> None:
        self._database = database
        self._weights = weights
        """What is to be in force; None leaves what is."""

    @shielded
    async def open(self) -> None:
        """Put the weights in force."""
        # A shell that knows nothing of them must not take a server's weights away.
        if self._weights is None:
            return
        async with self._database.reading() as connection:
            stored = await records.stored_weights(connection)
        # Nearly every start finds them as they are; it then waits for nobody who writes.
        if stored.parts != self._weights.parts:
            async with self._database.writing() as connection:
                await records.store_weights(connection, self._weights)

    @shielded
    async def vote(self, subject: Subject, vote: Vote) -> RecordedVote:
        """Take a rating; the scores are right when this returns."""
        async with self._database.writing() as connection:
            return await records.add_vote(connection, subject, vote)

    @shielded
    async def votes(
        self,
        team_id: str,
        *,
        agent_id: str | None = None,
        version: str | None = None,
        with_history: bool = False,
        limit: int = 20,
        before: tuple[datetime, UUID] | None = None,
    ) -> Sequence[RecordedVote]:
        """A team's ratings, newest first."""
        async with self._database.reading() as connection:
            return await records.list_votes(
                connection,
                team_id,
                agent_id=agent_id,
                version=version,
                with_history=with_history,
                limit=limit,
                before=before,
            )

    @shielded
    async def report(self, team_id: str, batch: Sequence[tuple[Subject, Execution]]) -> Report:
        """Take executions that happened elsewhere; all of the batch, or nothing of it."""
        if len(batch) > MAX_BATCH:
            raise InvalidInput(f"{len(batch)} executions in one batch, {MAX_BATCH} are allowed")
        async with self._database.writing() as connection:
            return await records.report_executions(connection, team_id, batch)

    @shielded
    async def board(
        self, team_id: str, *, wanted: BoardFilter, limit: int = 20, offset: int = 0
    ) -> Board:
        """A page of the leaderboard."""
        async with self._looking(team_id) as connection:
            return await records.read_board(connection, team_id, wanted, limit, offset)

    @shielded
    async def last_change(self, team_id: str) -> datetime | None:
        """When a score of the team last changed."""
        async with self._database.reading() as connection:
            return await records.last_change(connection, team_id)

    @shielded
    async def scored(self, subject: Subject) -> BoardRow | None:
        """One agent version; None where nothing is known of it."""
        async with self._database.reading() as connection:
            return await records.score_row(connection, subject)

    @shielded
    async def newest(self, team_id: str, agent_id: str) -> Subject | None:
        """The newest version of an agent that something is known of."""
        async with self._database.reading() as connection:
            versions = await records.known_versions(connection, team_id, agent_id)
        if not versions:
            return None
        return Subject(team_id=team_id, agent_id=agent_id, version=max(versions, key=precedence))

    @shielded
    async def compare(self, subjects: Sequence[Subject]) -> tuple[Comparison, dict[str, BoardRow]]:
        """The agents side by side, on the tests that they all ran in their latest full runs."""
        rows: dict[str, BoardRow] = {}
        contenders: dict[str, Contender] = {}
        async with self._looking(subjects[0].team_id) as connection:
            for subject in subjects:
                row = await records.score_row(connection, subject)
                if row is None:
                    continue
                run_id = row.sums.benchmark_run_id
                counted = await records.test_counts(connection, run_id) if run_id else []
                rows[str(subject)] = row
                contenders[str(subject)] = Contender(
                    key=str(subject),
                    score=row.card.overall.score,
                    tests=tuple(_same_content(digest, counts) for digest, counts in counted),
                )
        return compare([str(subject) for subject in subjects], contenders), rows

    @shielded
    async def matrix(self, subjects: Sequence[Subject]) -> tuple[dict[str, UUID], list[MatrixRow]]:
        """The runs that are looked at, by agent, and a row for each test in any of them."""
        runs: dict[str, UUID] = {}
        outcomes: dict[str, list[TestOutcome]] = {}
        async with self._database.reading() as connection:
            for subject in subjects:
                row = await records.score_row(connection, subject)
                if row is not None and row.sums.benchmark_run_id:
                    runs[str(subject)] = row.sums.benchmark_run_id
                    outcomes[str(subject)] = await records.test_outcomes(
                        connection, row.sums.benchmark_run_id
                    )
        return runs, matrix(list(runs), outcomes)

    @shielded
    async def standing(self, team_id: str, test_id: str) -> list[TestStanding]:
        """How a test went with each agent version in its latest full run."""
        async with self._database.reading() as connection:
            return await records.test_standing(connection, team_id, test_id)

    @shielded
    async def trials(self, run_id: UUID) -> TrialSummary | None:
        """How often each test of a run passed; None where no test was to be asked twice."""
        async with self._database.reading() as connection:
            if not await records.has_repeats(connection, run_id):
                return None
            counted = await records.test_counts(connection, run_id)
        return TrialSummary(tests=tuple(counts for _, counts in counted))

    @shielded
    async def recalculate(
        self, team_id: str | None, subject: Subject | None = None
    ) -> list[Subject]:
        """Add everything up again from the raw rows: of one agent version, a team, or all."""
        async with self._database.writing() as connection:
            if subject is None:
                return await records.recalculate_all(connection, team_id)
            await records.recalculate(connection, subject)
            return [subject]

    @asynccontextmanager
    async def _looking(self, team_id: str) -> AsyncGenerator[AsyncConnection]:
        """A look at a team's places, which rest on intervals: those that SQL left open are made."""
        async with self._database.reading() as connection:
            if not await records.has_open_intervals(connection, team_id):
                yield connection
                return
        async with self._database.writing() as connection:
            await records.heal_intervals(connection, team_id)
            yield connection


def _same_content(digest: str, counts: TrialCounts) -> TrialCounts:
    """Tests are compared by what they say: an edited test is another test."""
    return TrialCounts(
        test_id=f"{counts.test_id}@{digest}", trials=counts.trials, passed=counts.passed
    )
