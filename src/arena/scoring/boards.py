"""What a team decides about its boards, their log, and what was archived."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from arena.catalog.suite import EditedTest, SuiteDifference, difference
from arena.catalog.test import DECIDING_FIELDS
from arena.errors import NotFound
from arena.scoring.archive import ArchiveMark
from arena.scoring.baseline import Baseline
from arena.scoring.board import SuiteVersionRow
from arena.scoring.history import Subject
from arena.scoring.log import BoardEvent, TeamBoard
from arena.scoring.records import archive, baselines, log, outcomes, rebuilding, suites
from arena.store.database import Database, shielded


class Boards:
    """The suites of a team and their boards."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @shielded
    async def team(self, team_id: str) -> TeamBoard:
        """What the team has decided."""
        async with self._database.reading() as connection:
            return await suites.team_board(connection, team_id)

    @shielded
    async def suites(self, team_id: str) -> dict[str, list[SuiteVersionRow]]:
        """The versions of every suite of the team that was run, newest first, by its name."""
        async with self._database.reading() as connection:
            names = await suites.suite_names(connection, team_id)
            return {name: await suites.version_rows(connection, team_id, name) for name in names}

    @shielded
    async def manifest(self, team_id: str, suite: str, version: str) -> tuple[str, dict[str, str]]:
        """A version by its label or the beginning of its digest, and its tests."""
        async with self._database.reading() as connection:
            found = await suites.find_version(connection, team_id, suite, version)
            return found, await suites.manifest_of(connection, team_id, suite, found)

    @shielded
    async def diff(
        self, before: Mapping[str, str], after: Mapping[str, str]
    ) -> tuple[SuiteDifference, list[EditedTest]]:
        """How one manifest differs from another, and what was edited."""
        found = difference(before, after)
        prints = [one[test_id] for test_id in found.edited for one in (before, after)]
        async with self._database.reading() as connection:
            bodies = await outcomes.frozen_bodies(connection, prints)
        edited = [
            EditedTest(
                test_id=test_id,
                keys=_changed(bodies.get(before[test_id]), bodies.get(after[test_id])),
            )
            for test_id in found.edited
        ]
        return found, edited

    @shielded
    async def choose_default(self, team_id: str, suite: str, by: str | None = None) -> None:
        """Make a suite that was run the team's default."""
        async with self._database.writing() as connection:
            known = await suites.suite_names(connection, team_id)
            if suite not in known:
                raise NotFound.among("suite that was run", suite, known)
            await rebuilding.choose_default(connection, team_id, suite, by)

    @shielded
    async def rank_reported(self, team_id: str, is_allowed: bool, by: str | None = None) -> None:
        """Decide whether the team ranks reported runs."""
        async with self._database.writing() as connection:
            await rebuilding.rank_reported(connection, team_id, is_allowed=is_allowed, by=by)

    @shielded
    async def events(
        self,
        team_id: str,
        *,
        suite: str | None = None,
        agent_id: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> list[BoardEvent]:
        """The log of the team's boards, newest first."""
        async with self._database.reading() as connection:
            return await log.read_events(
                connection, team_id, suite=suite, agent_id=agent_id, before=before, limit=limit
            )

    @shielded
    async def marks(self, team_id: str) -> list[ArchiveMark]:
        """What was archived or deleted, newest first."""
        async with self._database.reading() as connection:
            return await archive.list_marks(connection, team_id)

    @shielded
    async def archive_agent(self, subject: Subject, *, by: str, reason: str) -> None:
        """Hide an agent version; it counts all the same."""
        async with self._database.writing() as connection:
            await archive.archive_agent(connection, subject, by=by, reason=reason)

    @shielded
    async def restore_agent(self, subject: Subject, *, by: str, reason: str) -> None:
        """Show an archived agent version again."""
        async with self._database.writing() as connection:
            await archive.restore_agent(connection, subject, by=by, reason=reason)

    @shielded
    async def delete_agent(self, subject: Subject, *, by: str, reason: str) -> None:
        """Delete the runs, ratings and executions of an agent version; marks remain."""
        async with self._database.writing() as connection:
            await archive.delete_agent(connection, subject, by=by, reason=reason)

    @shielded
    async def archive_run(self, team_id: str, run_id: UUID, *, by: str, reason: str) -> None:
        """Hide a run in lists; it counts all the same."""
        async with self._database.writing() as connection:
            await archive.archive_run(connection, team_id, run_id, by=by, reason=reason)

    @shielded
    async def restore_run(self, team_id: str, run_id: UUID, *, by: str, reason: str) -> None:
        """Show an archived run again."""
        async with self._database.writing() as connection:
            await archive.restore_run(connection, team_id, run_id, by=by, reason=reason)

    @shielded
    async def delete_run(self, team_id: str, run_id: UUID, *, by: str, reason: str) -> None:
        """Delete a run and its results; a mark and the log remain."""
        async with self._database.writing() as connection:
            await archive.delete_run(connection, team_id, run_id, by=by, reason=reason)

    @shielded
    async def baselines(
        self, team_id: str, *, name: str | None = None, suite: str | None = None
    ) -> list[Baseline]:
        """A team's baselines, with this name and of this suite."""
        async with self._database.reading() as connection:
            return await baselines.list_baselines(connection, team_id, name=name, suite=suite)

    @shielded
    async def set_baseline(
        self, team_id: str, name: str, run_id: UUID, *, suite: str | None = None, by: str
    ) -> Baseline:
        """Give a run a name, or move a name to it."""
        async with self._database.writing() as connection:
            return await baselines.set_baseline(
                connection, team_id, name, run_id, suite=suite, by=by
            )

    @shielded
    async def remove_baseline(
        self, team_id: str, name: str, *, suite: str | None = None
    ) -> Baseline:
        """Remove a name; the run stays."""
        async with self._database.writing() as connection:
            return await baselines.remove_baseline(connection, team_id, name, suite=suite)

    @shielded
    async def runs_of(self, subject: Subject) -> list[Baseline]:
        """The run of an agent version on the board of each suite."""
        async with self._database.reading() as connection:
            if not await rebuilding.has_missing(connection, subject.team_id):
                return await baselines.board_runs(connection, subject)
        # After an upgrade, the entries of boards are computed on their first use.
        async with self._database.writing() as connection:
            await rebuilding.compute_missing(connection, subject.team_id)
            return await baselines.board_runs(connection, subject)


def _changed(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[str]:
    """The keys in which two bodies of a test differ; none if one of them is unknown."""
    if before is None or after is None:
        return []
    return [name for name in DECIDING_FIELDS if before.get(name) != after.get(name)]
