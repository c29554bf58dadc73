"""Rebuilds boards from the runs and sums: of a suite whose version changed, or of a whole team."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.catalog.suite import Suite
from arena.scoring.history import Subject
from arena.scoring.log import (
    TEAM_KEY,
    BoardEventKind,
    TeamBoard,
    Why,
    agent_key,
    agent_state,
    run_key,
    run_state,
    suite_key,
)
from arena.scoring.records.entries import (
    WHOLE,
    chosen_runs,
    score_entries,
    score_row,
    store_entries,
    store_scores,
)
from arena.scoring.records.log import append_event, last_event, states_at
from arena.scoring.records.ranks import lock_team, rank_all
from arena.scoring.records.suites import (
    COUNTS,
    add_version,
    show_version,
    shown_versions,
    store_team_board,
    team_board,
    version_to_show,
)
from arena.scoring.sums import Sums
from arena.store.tables.boards import BoardEntries, Suites
from arena.store.tables.runs import RunGroups, Runs
from arena.store.tables.scores import Scores

States = dict[str, Mapping[str, Any] | None]


async def has_missing(connection: AsyncConnection, team_id: str) -> bool:
    """Whether boards must be computed: after an upgrade, or after the SQL function."""
    query = select(Scores.id).where(
        Scores.team_id == team_id,
        Scores.overall_low.is_(None),
        Scores.overall_score.is_not(None),
    )
    return (await connection.execute(query.limit(1))).first() is not None


async def compute_missing(connection: AsyncConnection, team_id: str) -> None:
    """Compute the boards of a team if some of them are missing."""
    if not await has_missing(connection, team_id):
        return
    await lock_team(connection, team_id)
    kind, reason = BoardEventKind.RECALCULATED, "scores were recalculated in SQL"
    if await last_event(connection, team_id) is None:
        kind, reason = BoardEventKind.UPGRADED, "the boards were computed from an earlier release"
    await rebuild_team(connection, team_id, Why(kind=kind, reason=reason))


async def rebuild_team(connection: AsyncConnection, team_id: str, why: Why) -> None:
    """Compute every board of a team from its runs and sums; the log gets what has changed."""
    team = await team_board(connection, team_id)
    subjects = set(await _scored(connection, team_id))
    await connection.execute(delete(BoardEntries).where(BoardEntries.team_id == team_id))
    for suite in await shown_versions(connection, team_id):
        subjects |= await rebuild_suite(connection, team_id, suite, team)
    await rescore(connection, subjects, team_id, team)
    known = (await states_at(connection, team_id)).values
    now = await _states_now(connection, team_id, team)
    gone = {key: None for key in known if key not in now and not key.startswith("archive ")}
    changed = {key: value for key, value in now.items() if known.get(key) != value} | gone
    if changed:
        await append_event(connection, team_id, why, changed)


async def rebuild_suite(
    connection: AsyncConnection, team_id: str, suite: str, team: TeamBoard
) -> set[Subject]:
    """Let the entries of a suite rest on the runs of its shown version; whom this may affect.

    They are not scored yet.
    """
    version = (await shown_versions(connection, team_id))[suite]
    columns = BoardEntries.agent_id, BoardEntries.agent_version
    listed = select(*columns).where(BoardEntries.team_id == team_id, BoardEntries.suite == suite)
    before = {_subject(team_id, row) for row in await connection.execute(listed.distinct())}
    after = await _measured(connection, team_id, suite, version)
    for subject in before | after:
        runs = await chosen_runs(connection, subject, suite, version, team)
        await store_entries(connection, subject, suite, runs)
    return before | after


async def show_newest(
    connection: AsyncConnection, team_id: str, suite: str, team: TeamBoard
) -> States:
    """Show the version of a suite that is to be shown now; the states that this changes."""
    shown = (await shown_versions(connection, team_id)).get(suite)
    newest = await version_to_show(connection, team_id, suite, team)
    if newest == shown:
        return {}
    if newest is not None:
        await show_version(connection, team_id, suite, newest)
    if shown is not None:
        affected = await rebuild_suite(connection, team_id, suite, team)
        await rescore(connection, affected, team_id, team)
    if newest is None:
        mine = (Suites.team_id == team_id, Suites.suite == suite)
        await connection.execute(delete(Suites).where(*mine))
    return {suite_key(suite): None if newest is None else {"shown": newest}}


async def adopt_version(
    connection: AsyncConnection,
    team_id: str,
    suite: Suite,
    moment: datetime,
    *,
    is_claimed: bool = False,
) -> None:
    """Record which version a suite is now, and show what that changes on its board."""
    added = await add_version(connection, team_id, suite, moment, is_claimed=is_claimed)
    if added.edit is not None:
        await compute_missing(connection, team_id)
        team = await team_board(connection, team_id)
        # Tests that are again what they were have a board already.
        states = await show_newest(connection, team_id, suite.name, team)
        first = {TEAM_KEY: team.as_json()}
        await append_event(connection, team_id, added.edit, states, at_first=first)
    if added.has_moved:
        await _regroup(connection, team_id, suite)


async def _regroup(connection: AsyncConnection, team_id: str, suite: Suite) -> None:
    """Sum the runs of a version again: its tests have other categories, tags or groups now."""
    runs = select(Runs.id).where(
        Runs.team_id == team_id,
        Runs.suite == suite.name,
        Runs.suite_version == suite.version,
        *COUNTS,
    )
    await connection.execute(delete(RunGroups).where(RunGroups.run_id.in_(runs)))
    team, states = await team_board(connection, team_id), States()
    for subject in await _measured(connection, team_id, suite.name, suite.version):
        chosen = await chosen_runs(connection, subject, suite.name, suite.version, team)
        key = run_key(subject, suite.name, suite.version)
        states[key] = run_state(subject, suite.name, chosen[WHOLE])
    if not states:
        return
    if (await shown_versions(connection, team_id)).get(suite.name) == suite.version:
        affected = await rebuild_suite(connection, team_id, suite.name, team)
        await rescore(connection, affected, team_id, team)
    why = Why(
        kind=BoardEventKind.TESTS_EDITED,
        reason=f"categories, tags or groups of {suite.name} changed; its scores are as they were",
        suite=suite.name,
        suite_version=suite.version,
    )
    await append_event(connection, team_id, why, states, at_first={TEAM_KEY: team.as_json()})


async def rescore(
    connection: AsyncConnection, subjects: Collection[Subject], team_id: str, team: TeamBoard
) -> None:
    """Compute the scores of these agent versions on every board, and all ranks of the team."""
    for subject in subjects:
        row = await score_row(connection, subject)
        sums = Sums.of_row(row)
        run = await score_entries(connection, subject, sums, team)
        await store_scores(connection, subject, sums, run, team, row)
    await rank_all(connection, team_id)


async def choose_default(
    connection: AsyncConnection, team_id: str, suite: str, by: str | None
) -> None:
    """Make a suite the default of the team: its board is the one that is shown first."""
    await lock_team(connection, team_id)
    await compute_missing(connection, team_id)
    team = await team_board(connection, team_id)
    if team.default_suite == suite:
        return
    chosen = replace(team, default_suite=suite)
    await store_team_board(connection, team_id, chosen)
    await rescore(connection, await _scored(connection, team_id), team_id, chosen)
    reason = f"the default suite was {team.default_suite or 'none'} and is now {suite}"
    why = Why(kind=BoardEventKind.DEFAULT_CHANGED, reason=reason, by=by, suite=suite)
    await append_event(connection, team_id, why, {TEAM_KEY: chosen.as_json()})


async def rank_reported(
    connection: AsyncConnection, team_id: str, *, is_allowed: bool, by: str | None
) -> None:
    """Decide whether reported runs are ranked."""
    await lock_team(connection, team_id)
    await compute_missing(connection, team_id)
    team = await team_board(connection, team_id)
    if team.ranks_reported == is_allowed:
        return
    team = replace(team, ranks_reported=is_allowed)
    await store_team_board(connection, team_id, team)
    for suite in await shown_versions(connection, team_id):
        await show_newest(connection, team_id, suite, team)
    reason = f"reported runs are {'now' if is_allowed else 'no longer'} ranked"
    why = Why(kind=BoardEventKind.REPORTED_RANKED, reason=reason, by=by)
    await rebuild_team(connection, team_id, why)


async def _states_now(connection: AsyncConnection, team_id: str, team: TeamBoard) -> States:
    """Every state of a team, from the tables."""
    states: States = {TEAM_KEY: team.as_json()}
    for suite, version in (await shown_versions(connection, team_id)).items():
        states[suite_key(suite)] = {"shown": version}
    rows = await connection.execute(select(Scores.__table__).where(Scores.team_id == team_id))
    for row in rows.all():
        subject = _subject(team_id, row)
        states[agent_key(subject)] = agent_state(subject, Sums.of_row(row))
    columns = Runs.suite, Runs.suite_version, Runs.agent_id, Runs.agent_version
    runs = select(*columns).where(Runs.team_id == team_id, *COUNTS).distinct()
    for row in (await connection.execute(runs)).all():
        subject, suite, version = _subject(team_id, row), row.suite, row.suite_version
        chosen = await chosen_runs(connection, subject, suite, version, team)
        key = run_key(subject, suite, version)
        states[key] = run_state(subject, suite, chosen[WHOLE])
    return states


async def _scored(connection: AsyncConnection, team_id: str) -> list[Subject]:
    query = select(Scores.agent_id, Scores.agent_version).where(Scores.team_id == team_id)
    return [_subject(team_id, row) for row in await connection.execute(query)]


async def _measured(
    connection: AsyncConnection, team_id: str, suite: str, version: str
) -> set[Subject]:
    """The agent versions with a run that counts on this version of the suite."""
    query = select(Runs.agent_id, Runs.agent_version).where(
        Runs.team_id == team_id, Runs.suite == suite, Runs.suite_version == version, *COUNTS
    )
    return {_subject(team_id, row) for row in await connection.execute(query.distinct())}


def _subject(team_id: str, row: Any) -> Subject:
    return Subject(team_id=team_id, agent_id=row.agent_id, version=row.agent_version)
