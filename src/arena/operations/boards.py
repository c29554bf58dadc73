"""Suites and their boards: versions, differences, the log, and what was archived."""

from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.catalog.suite import EditedTest
from arena.catalog.tests import ids_of
from arena.errors import Forbidden, NotFound
from arena.fields import MAX_NAME_LENGTH, AgentId, NameFilter, NonBlank
from arena.operations import paging
from arena.operations.operation import OperationGroup, get, post
from arena.scoring.archive import ArchiveList
from arena.scoring.board import SuiteVersionRow
from arena.scoring.history import Subject
from arena.scoring.item_quality import SuiteQuality
from arena.scoring.log import BoardLog

CURRENT = "current"
"""Names the version of a suite that its files are now."""

By = Annotated[
    NonBlank, Field(max_length=MAX_NAME_LENGTH, description="Who does it.", examples=["ann"])
]
Reason = Annotated[NonBlank, Field(max_length=1000, examples=["the agent was withdrawn"])]
Version = Annotated[str, Field(min_length=1, max_length=20, examples=["1.0.0"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """A suite: of the catalog, or one that was run before."""

    suite: Annotated[str, Field(examples=["lab"])]
    is_default: bool
    """Whether its board is the one that is shown first."""
    tests: int
    """Active tests in the catalog; 0 if it is not there any more."""
    version: str | None
    """The digest of those tests: of everything that can change a verdict."""
    label: str | None
    """What its author calls this version."""
    shown_version: str | None
    """The version on its board: the newest with a complete run; null without a board."""
    agents: int
    """Agent versions on its board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteList:
    """Every suite of the team."""

    suites: list[SuiteRow]
    count: int
    ranks_reported: bool
    """Whether the team ranks runs that were pushed from elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDetails:
    """A suite with its versions, and tests that say little about agents."""

    suite: SuiteRow
    versions: list[SuiteVersionRow]
    """Those that were run, newest first."""
    test_ids: list[str]
    """The active tests of the catalog."""
    quality: SuiteQuality | None
    """From the runs on its board; null without a board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteDiff:
    """How two versions of a suite differ."""

    suite: str
    before: str
    after: str
    added: list[str]
    removed: list[str]
    edited: list[EditedTest] = field(default_factory=list[EditedTest])
    same: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Something was done."""

    message: str


class BoardOperations(OperationGroup):
    """Suites and their boards."""

    @get("/api/benchmarks/suites", id="list_suites", tag="suites")
    async def suites(self) -> SuiteList:
        """The suites of the catalog, and those that were run before."""
        team = await self.arena.boards.team(self.team)
        known = await self.arena.boards.suites(self.team)
        catalog = self.arena.catalog.current
        names = dict.fromkeys((*catalog.suite_names, *known))
        rows = [self._suite_row(name, known.get(name, []), team.default_suite) for name in names]
        return SuiteList(suites=rows, count=len(rows), ranks_reported=team.ranks_reported)

    def _suite_row(
        self, name: str, versions: list[SuiteVersionRow], default: str | None
    ) -> SuiteRow:
        catalog = self.arena.catalog.current
        now = catalog.suite(name) if name in catalog.suite_names else None
        shown = next((row for row in versions if row.is_shown), None)
        return SuiteRow(
            suite=name,
            is_default=name == default,
            tests=len(now.tests) if now else 0,
            version=now.version if now else None,
            label=now.label if now else None,
            shown_version=shown.version if shown else None,
            agents=shown.agents if shown else 0,
        )

    @get("/api/benchmarks/suites/{suite}", id="get_suite", tag="suites", errors=(404,))
    async def suite(self, suite: str) -> SuiteDetails:
        """A suite with its versions, and tests that say little about agents."""
        known = await self.arena.boards.suites(self.team)
        catalog = self.arena.catalog.current
        if suite not in known and suite not in catalog.suite_names:
            raise NotFound.among("suite", suite, {*catalog.suite_names, *known})
        team = await self.arena.boards.team(self.team)
        row = self._suite_row(suite, known.get(suite, []), team.default_suite)
        quality = None
        if row.shown_version:
            quality = await self.arena.scores.suite_quality(self.team, suite)
        tests = catalog.suite(suite).tests if suite in catalog.suite_names else ()
        return SuiteDetails(
            suite=row,
            versions=known.get(suite, []),
            test_ids=list(ids_of(tests)),
            quality=quality,
        )

    @get("/api/benchmarks/suites/{suite}/diff", tag="suites", errors=(404,))
    async def suite_diff(
        self,
        suite: str,
        before: Annotated[
            str, Field(max_length=100, description="A version: its label or its first digits.")
        ],
        after: Annotated[
            str, Field(max_length=100, description="Another; default: the files as they are now.")
        ] = CURRENT,
    ) -> SuiteDiff:
        """Which tests were added, removed or edited between two versions of a suite."""
        first, earlier = await self._manifest(suite, before)
        second, later = await self._manifest(suite, after)
        found, edited = await self.arena.boards.diff(earlier, later)
        return SuiteDiff(
            suite=suite,
            before=first,
            after=second,
            added=found.added,
            removed=found.removed,
            edited=edited,
            same=found.same,
        )

    async def _manifest(self, suite: str, version: str) -> tuple[str, dict[str, str]]:
        if version == CURRENT:
            now = self.arena.catalog.current.suite(suite)
            return now.version, now.manifest
        return await self.arena.boards.manifest(self.team, suite, version)

    @post("/api/benchmarks/suites/{suite}/default", tag="suites", errors=(404,), body="SuiteChoice")
    async def choose_default_suite(self, suite: str, *, by: By) -> Done:
        """Make a suite the default of the team: its board is shown first."""
        await self.arena.boards.choose_default(self.team, suite, by)
        return Done(message=f"{suite} is the default suite")

    @post("/api/benchmarks/suites/reported", tag="suites", body="ReportedRanking")
    async def rank_reported(
        self,
        is_ranked: Annotated[bool, Field(description="Whether reported runs are ranked.")],
        *,
        by: By,
    ) -> Done:
        """Decide whether runs that were pushed from elsewhere are ranked."""
        await self.arena.boards.rank_reported(self.team, is_ranked, by)
        return Done(message=f"reported runs are {'ranked' if is_ranked else 'not ranked'}")

    @get("/api/benchmarks/leaderboard/log", tag="scores")
    async def board_log(
        self,
        *,
        suite: Annotated[NameFilter, Field(description="Also events of no suite.")] = None,
        agent_id: NameFilter = None,
        limit: paging.Limit = 50,
        cursor: paging.Cursor = None,
    ) -> BoardLog:
        """Every change of the team's boards with its reason, newest first."""
        before = paging.decode_number(cursor) or None
        found = await self.arena.boards.events(
            self.team, suite=suite, agent_id=agent_id, before=before, limit=limit + 1
        )
        page = found[:limit]
        more = len(found) > limit
        return BoardLog(
            events=page,
            count=len(page),
            next_cursor=paging.encode(page[-1].number) if more else None,
        )

    @get("/api/benchmarks/archive", tag="scores")
    async def archive(self) -> ArchiveList:
        """What was archived or deleted, by whom, when and why; newest first."""
        marks = await self.arena.boards.marks(self.team)
        return ArchiveList(marks=marks, count=len(marks))

    @post("/api/benchmarks/runs/{run_id}/archive", tag="runs", errors=(404, 409), body="ArchiveRun")
    async def archive_run(self, run_id: UUID, *, reason: Reason, by: By) -> Done:
        """Hide a run in lists; it counts all the same."""
        await self.arena.boards.archive_run(self.team, run_id, by=by, reason=reason)
        return Done(message=f"run {run_id} is archived")

    @post("/api/benchmarks/runs/{run_id}/restore", tag="runs", errors=(404, 409), body="RestoreRun")
    async def restore_run(self, run_id: UUID, *, reason: Reason, by: By) -> Done:
        """Show an archived run again."""
        await self.arena.boards.restore_run(self.team, run_id, by=by, reason=reason)
        return Done(message=f"run {run_id} is listed again")

    @post(
        "/api/benchmarks/runs/{run_id}/delete",
        tag="runs",
        errors=(403, 404, 409),
        body="DeleteRun",
    )
    async def delete_run(self, run_id: UUID, *, reason: Reason, by: By) -> Done:
        """Delete a run and its results; only the operator may, and a mark remains."""
        self._refuse_token()
        await self.arena.boards.delete_run(self.team, run_id, by=by, reason=reason)
        return Done(message=f"run {run_id} is deleted")

    @post(
        "/api/agents/{agent_id}/{version}/archive",
        tag="agents",
        errors=(404, 409),
        body="ArchiveAgent",
    )
    async def archive_agent(
        self, agent_id: AgentId, version: Version, *, reason: Reason, by: By
    ) -> Done:
        """Hide an agent version; it counts all the same."""
        subject = self._subject_of(agent_id, version)
        await self.arena.boards.archive_agent(subject, by=by, reason=reason)
        return Done(message=f"{agent_id}@{version} is archived")

    @post(
        "/api/agents/{agent_id}/{version}/restore",
        tag="agents",
        errors=(404, 409),
        body="RestoreAgent",
    )
    async def restore_agent(
        self, agent_id: AgentId, version: Version, *, reason: Reason, by: By
    ) -> Done:
        """Show an archived agent version again."""
        subject = self._subject_of(agent_id, version)
        await self.arena.boards.restore_agent(subject, by=by, reason=reason)
        return Done(message=f"{agent_id}@{version} is listed again")

    @post(
        "/api/agents/{agent_id}/{version}/delete",
        tag="agents",
        errors=(403, 404, 409),
        body="DeleteAgent",
    )
    async def delete_agent(
        self, agent_id: AgentId, version: Version, *, reason: Reason, by: By
    ) -> Done:
        """Delete the runs, ratings and executions of an agent version; only the operator may."""
        self._refuse_token()
        subject = self._subject_of(agent_id, version)
        await self.arena.boards.delete_agent(subject, by=by, reason=reason)
        return Done(message=f"{agent_id}@{version} is deleted")

    def _subject_of(self, agent_id: str, version: str) -> Subject:
        return Subject(team_id=self.team, agent_id=agent_id, version=version)

    def _refuse_token(self) -> None:
        """A token is a team's; deleting is for whoever operates the server, on its machine."""
        if self.token_team is not None:
            raise Forbidden("only the operator may delete, on the server's machine: archive it")
