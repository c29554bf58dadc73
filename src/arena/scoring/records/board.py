"""Reads the leaderboard of a suite: the stored entries of its shown version, or the log.

The entries of a shown version are stored with their scores, so a page costs about the same for ten
agents as for thousands: ranks and their ranges are counted with an index. Another version, or a
past moment, is put together from the states of the log.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Select, collate, exists, func, null, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.errors import InvalidInput, NotFound
from arena.scoring.board import BoardEntry, BoardFilter, BoardRun, Leaderboard, unranked_because
from arena.scoring.history import Subject
from arena.scoring.log import Contestant, States, TeamBoard, board_entry
from arena.scoring.records.entries import WHOLE
from arena.scoring.records.log import states_at
from arena.scoring.records.suites import find_version, shown_versions, team_board, version_rows
from arena.scoring.records.sums import is_about
from arena.scoring.sums import Sums
from arena.store.tables.boards import Archive, BoardEntries, BoardEvents
from arena.store.tables.scores import Scores

OTHER = BoardEntries.__table__.alias("other")
SUMS = [Scores.__table__.c[name] for name in Sums.__dataclass_fields__]


async def read_board(
    connection: AsyncConnection, team_id: str, selection: BoardFilter, limit: int, offset: int = 0
) -> Leaderboard:
    """A page of the board of a suite, as it is now."""
    team = await team_board(connection, team_id)
    shown = await shown_versions(connection, team_id)
    suite = selection.suite or team.default_suite
    version = await _version(connection, team_id, selection, suite, shown)
    if suite and version != shown.get(suite):
        states = await states_at(connection, team_id)
        board = _from_states(states, replace(selection, suite=suite), version, limit, offset)
    else:
        stored = _StoredBoard(connection, team_id, team, suite, selection)
        entries = await stored.entries(limit, offset)
        board = Leaderboard(
            leaderboard=entries,
            count=len(entries),
            total=await stored.count(),
            weights=team.weights,
            suite=suite,
            ranked=await stored.count_ranked(),
            archived=await stored.count_archived(),
        )
    rows = await version_rows(connection, team_id, suite, with_agents=False) if suite else []
    mine = next((row for row in rows if row.version == version), None)
    return replace(
        board,
        suite_version=version,
        suite_label=mine.label if mine else None,
        suite_tests=mine.tests if mine else None,
        is_default_suite=suite == team.default_suite,
        newer=[row for row in rows if row.is_newer],
        suites=sorted(shown),
    )


async def past_board(
    connection: AsyncConnection,
    team_id: str,
    selection: BoardFilter,
    at: datetime,
    limit: int,
    offset: int = 0,
) -> Leaderboard:
    """A page of the board as it was at a moment."""
    states = await states_at(connection, team_id, at)
    if selection.suite and selection.suite not in states.suites:
        raise NotFound.among("suite with a board at that moment", selection.suite, states.suites)
    suite, version = selection.suite or states.team.default_suite, None
    if suite:
        version = states.shown_version(suite)
        if selection.version:
            version = await find_version(connection, team_id, suite, selection.version)
    rows = await version_rows(connection, team_id, suite, with_agents=False) if suite else []
    mine = next((row for row in rows if row.version == version), None)
    board = _from_states(states, replace(selection, suite=suite), version, limit, offset)
    return replace(
        board,
        at=at,
        suite_label=mine.label if mine else None,
        suite_tests=mine.tests if mine else None,
        suites=states.suites,
    )


async def board_entry_of(
    connection: AsyncConnection, subject: Subject, suite: str | None = None
) -> BoardEntry | None:
    """The entry of one agent version, by default on the default board; None if it has none."""
    team = await team_board(connection, subject.team_id)
    selection = BoardFilter(suite=suite, agent_id=subject.agent_id, with_archived=True)
    suite = suite or team.default_suite
    stored = _StoredBoard(connection, subject.team_id, team, suite, selection, unscored=True)
    found = await stored.entries(1, 0, version=subject.version)
    if not found:
        return None
    entry = found[0]
    has_evidence = entry.benchmark_run_id or entry.feedback_count or entry.execution_count
    return entry if has_evidence else None


async def compared_suites(
    connection: AsyncConnection, subjects: Sequence[Subject]
) -> dict[Subject, str | None]:
    """The suite on which each agent is compared: one that most of them have a run on.

    The default goes before others. An agent without a run on it is compared by its run on another:
    tests are paired by their content, whatever suite they are in.
    """
    default = (await team_board(connection, subjects[0].team_id)).default_suite
    own: dict[Subject, list[str]] = {}
    for subject in subjects:
        query = select(BoardEntries.suite).where(
            *is_about(BoardEntries, subject), BoardEntries.kind == WHOLE[0]
        )
        own[subject] = sorted((await connection.execute(query)).scalars())
    counts = Counter(name for names in own.values() for name in names)
    order = sorted(counts, key=lambda name: (-counts[name], name != default, name))
    return {
        subject: next((name for name in order if name in names), default)
        for subject, names in own.items()
    }


async def known_versions(connection: AsyncConnection, team_id: str, agent_id: str) -> Sequence[str]:
    """Every version of the agent that has a row of scores."""
    query = select(Scores.agent_version).where(
        Scores.team_id == team_id, Scores.agent_id == agent_id
    )
    return (await connection.execute(query)).scalars().all()


async def last_change(connection: AsyncConnection, team_id: str) -> datetime | None:
    """When a board of the team last changed; None if it has none."""
    query = select(func.max(BoardEvents.at)).where(BoardEvents.team_id == team_id)
    return (await connection.execute(query)).scalar_one()


async def _version(
    connection: AsyncConnection,
    team_id: str,
    selection: BoardFilter,
    suite: str | None,
    shown: dict[str, str],
) -> str | None:
    """The version whose board is meant; an error if there is no such suite or version."""
    if selection.suite and selection.suite not in shown:
        raise NotFound.among("suite with a complete run", selection.suite, shown)
    if selection.version and suite:
        return await find_version(connection, team_id, suite, selection.version)
    return shown.get(suite) if suite else None


def _from_states(
    states: States, selection: BoardFilter, version: str | None, limit: int, offset: int
) -> Leaderboard:
    """A page of a board that is not stored."""
    if selection.group or selection.min_coverage:
        raise InvalidInput(
            "category, tag and min_coverage are only for the version of a suite that is shown now"
        )
    entries = states.board(selection.suite, version)
    ranked = sum(entry.rank is not None for entry in entries)
    if selection.agent_id is not None:
        entries = [entry for entry in entries if entry.agent_id == selection.agent_id]
    listed = [entry for entry in entries if selection.with_archived or not entry.is_archived]
    page = listed[offset : offset + limit]
    return Leaderboard(
        leaderboard=page,
        count=len(page),
        total=len(listed),
        weights=states.team.weights,
        suite=selection.suite,
        suite_version=version,
        is_default_suite=selection.suite == states.team.default_suite,
        ranked=ranked,
        archived=len(entries) - len(listed),
    )


@dataclass(frozen=True, slots=True)
class _StoredBoard:
    """The board of a suite's shown version, or of a category or tag of it.

    First the entries that rest on a run; on the default board then the agents without one.
    """

    connection: AsyncConnection
    team_id: str
    team: TeamBoard
    suite: str | None
    selection: BoardFilter
    unscored: bool = False
    """Whether agents whose evidence has no weight are listed, too."""

    async def entries(
        self, limit: int, offset: int, version: str | None = None
    ) -> list[BoardEntry]:
        """A page of entries; `version` is that of the agent, None for all."""
        query = self._measured().order_by(
            BoardEntries.is_ranked.desc(),
            BoardEntries.overall_score.desc(),
            *self._names(BoardEntries),
        )
        if version is not None:
            query = query.where(BoardEntries.agent_version == version)
        rows = (await self.connection.execute(query.limit(limit).offset(offset))).all()
        page = [self._entry(row) for row in rows]
        if len(page) == limit or not self._has_rest:
            return page
        skipped = max(0, offset - await self._count_measured())
        rest = self._unmeasured().order_by(Scores.overall_score.desc(), *self._names(Scores))
        if version is not None:
            rest = rest.where(Scores.agent_version == version)
        rows = await self.connection.execute(rest.limit(limit - len(page)).offset(skipped))
        return page + [self._entry(row) for row in rows]

    async def count(self) -> int:
        """How many entries match the selection."""
        if not self._has_rest:
            return await self._count_measured()
        # On the default board every agent is listed, and its row of scores has the same numbers.
        conditions = (Scores.team_id == self.team_id, *self._selected(Scores))
        counting = select(func.count()).select_from(Scores).where(*conditions)
        return (await self.connection.execute(counting)).scalar_one()

    async def count_ranked(self) -> int:
        """How many entries of the board have a rank."""
        return (await self.connection.execute(select(self._ranked()))).scalar_one()

    async def count_archived(self) -> int:
        """How many entries are not listed because they are archived."""
        mine = (Archive.team_id == self.team_id, Archive.run_id.is_(None))
        archived = select(Archive.id).where(*mine, Archive.is_deleted.is_(False)).limit(1)
        has_none = (await self.connection.execute(archived)).first() is None
        if has_none or self.selection.with_archived:
            return 0
        whole = replace(self, selection=replace(self.selection, with_archived=True))
        return await whole.count() - await self.count()

    @property
    def _group(self) -> tuple[str, str]:
        return self.selection.group or WHOLE

    @property
    def _has_rest(self) -> bool:
        """Whether agents without a run are listed, too."""
        return self.suite == self.team.default_suite and self._group == WHOLE

    def _measured(self) -> Select[Any]:
        """The entries that rest on a run, each with its rank and the range of ranks."""
        above, below = (
            OTHER.c.overall_low > BoardEntries.overall_high,
            OTHER.c.overall_high < BoardEntries.overall_low,
        )
        is_archived = self._is_archived(BoardEntries)
        query = (
            select(
                BoardEntries.agent_id,
                BoardEntries.agent_version,
                BoardEntries.is_ranked,
                BoardEntries.run,
                is_archived.label("is_archived"),
                *SUMS,
                self._ranked().label("ranked"),
                self._ranked(OTHER.c.overall_score > BoardEntries.overall_score).label("better"),
                self._ranked(above).label("above"),
                self._ranked(below).label("below"),
            )
            .join(
                Scores,
                (Scores.team_id == BoardEntries.team_id)
                & (Scores.agent_id == BoardEntries.agent_id)
                & (Scores.agent_version == BoardEntries.agent_version),
            )
            .where(*self._is_board(BoardEntries), *self._selected(BoardEntries))
        )
        return cast(Select[Any], query)

    def _unmeasured(self) -> Select[Any]:
        """The agents of the team that have no run on the default board."""
        columns = (
            Scores.agent_id,
            Scores.agent_version,
            null().label("run"),
            self._is_archived(Scores).label("is_archived"),
        )
        return cast(Select[Any], select(*columns, *SUMS).where(*self._has_no_run()))

    def _has_no_run(self) -> list[Any]:
        has_run = exists().where(
            *self._is_board(BoardEntries),
            BoardEntries.agent_id == Scores.agent_id,
            BoardEntries.agent_version == Scores.agent_version,
        )
        return [Scores.team_id == self.team_id, *self._selected(Scores), ~has_run]

    def _selected(self, table: Any) -> list[Any]:
        """The conditions for rows of the table to be listed."""
        conditions: list[Any] = []
        if not self.unscored:
            conditions.append(table.overall_score.is_not(None))
        if self.selection.min_coverage > 0:
            conditions.append(table.coverage >= self.selection.min_coverage)
        if self.selection.agent_id is not None:
            conditions.append(table.agent_id == self.selection.agent_id)
        if not self.selection.with_archived:
            conditions.append(~self._is_archived(table))
        return conditions

    def _is_board(self, table: Any) -> list[Any]:
        kind, name = self._group
        return [
            table.team_id == self.team_id,
            table.suite == (self.suite or ""),
            table.kind == kind,
            table.name == name,
        ]

    def _ranked(self, *conditions: Any) -> Any:
        """How many ranked entries of the board match; archived ones count, too."""
        query = select(func.count()).select_from(OTHER)
        query = query.where(*self._is_board(OTHER.c), OTHER.c.is_ranked.is_(True), *conditions)
        if self.selection.min_coverage > 0:
            query = query.where(OTHER.c.coverage >= self.selection.min_coverage)
        return query.scalar_subquery()

    def _is_archived(self, table: Any) -> Any:
        return exists().where(
            Archive.team_id == self.team_id,
            Archive.agent_id == table.agent_id,
            Archive.agent_version == table.agent_version,
            Archive.run_id.is_(None),
            Archive.is_deleted.is_(False),
        )

    def _names(self, table: Any) -> list[Any]:
        names = [table.agent_id, table.agent_version]
        if self.connection.dialect.name != "postgresql":
            return names
        # By code point, like SQLite and Python, not by the database collation.
        return [collate(name, "C") for name in names]

    async def _count_measured(self) -> int:
        conditions = *self._is_board(BoardEntries), *self._selected(BoardEntries)
        counting = select(func.count()).select_from(BoardEntries).where(*conditions)
        return (await self.connection.execute(counting)).scalar_one()

    def _entry(self, row: Any) -> BoardEntry:
        run = BoardRun.from_json(row.run) if row.run else None
        one = Contestant(
            subject=Subject(team_id=self.team_id, agent_id=row.agent_id, version=row.agent_version),
            sums=Sums.of_row(row),
            run=run,
            is_archived=bool(row.is_archived),
        )
        card = one.sums.scorecard(run, self.team.weights)
        reason = unranked_because(run, ranks_reported=self.team.ranks_reported)
        entry = board_entry(one, card, reason)
        if run is None or not row.is_ranked:
            return entry
        return replace(
            entry,
            rank=1 + row.better,
            rank_low=1 + row.above,
            rank_high=row.ranked - row.below,
        )
