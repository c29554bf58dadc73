"""Suites in the database: their versions, the one that is shown, what a team has decided."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, cast

from sqlalchemy import Select, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.catalog.suite import Suite, SuiteDifference, short_version
from arena.errors import InvalidInput, NotFound
from arena.scoring.board import Provenance, SuiteVersionRow
from arena.scoring.log import BoardEventKind, TeamBoard, Why
from arena.scoring.records.ranks import lock_team
from arena.scoring.records.sums import stored_weights
from arena.store.tables.boards import Suites, SuiteTests, SuiteVersions, TeamBoards
from arena.store.tables.runs import Runs

PAGE = 500
"""Tests per insert."""
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""When a version became current that never did."""
COUNTS = (Runs.status == "completed", Runs.is_full.is_(True))
"""The runs that count for a board."""


async def team_board(connection: AsyncConnection, team_id: str) -> TeamBoard:
    """What the team has decided, and the weights."""
    query = select(TeamBoards.default_suite, TeamBoards.ranks_reported)
    row = (await connection.execute(query.where(TeamBoards.team_id == team_id))).one_or_none()
    weights = await stored_weights(connection)
    if row is None:
        return TeamBoard(weights=weights)
    return TeamBoard(
        default_suite=row.default_suite, ranks_reported=row.ranks_reported, weights=weights
    )


async def store_team_board(connection: AsyncConnection, team_id: str, team: TeamBoard) -> None:
    """Store what the team has decided."""
    values = {"default_suite": team.default_suite, "ranks_reported": team.ranks_reported}
    change = update(TeamBoards).where(TeamBoards.team_id == team_id).values(**values)
    if not (await connection.execute(change)).rowcount:
        await connection.execute(insert(TeamBoards), {"team_id": team_id, **values})


async def shown_versions(connection: AsyncConnection, team_id: str) -> dict[str, str]:
    """The shown version of each suite of the team, by its name."""
    query = select(Suites.suite, Suites.shown_version).where(Suites.team_id == team_id)
    return {row.suite: row.shown_version for row in await connection.execute(query)}


async def show_version(connection: AsyncConnection, team_id: str, suite: str, version: str) -> None:
    """Show this version of the suite."""
    of_suite = (Suites.team_id == team_id, Suites.suite == suite)
    change = update(Suites).where(*of_suite).values(shown_version=version)
    if not (await connection.execute(change)).rowcount:
        row = {"team_id": team_id, "suite": suite, "shown_version": version}
        await connection.execute(insert(Suites), row)


async def is_elsewhere(connection: AsyncConnection, team_id: str, suite: Suite) -> bool:
    """Whether a suite that is called like its folder is known from other files."""
    if suite.folder is None:
        return False
    query = select(SuiteVersions.version).where(
        SuiteVersions.team_id == team_id,
        SuiteVersions.suite == suite.name,
        SuiteVersions.is_claimed.is_(False),
        # Only what was the suite at some time: a partial run of another folder was not.
        SuiteVersions.current_since > NEVER,
        SuiteVersions.folder.is_distinct_from(suite.folder),
    )
    return (await connection.execute(query.limit(1))).first() is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedVersion:
    """What a version of a suite changes."""

    edit: Why | None = None
    """That it is the current version now, in place of another one."""
    has_moved: bool = False
    """Whether its tests have other categories, tags or groups than were stored."""


async def add_version(
    connection: AsyncConnection,
    team_id: str,
    suite: Suite,
    moment: datetime,
    *,
    is_claimed: bool = False,
) -> AddedVersion:
    """Record that `suite` is the current version of the suite at `moment`.

    What is not the whole suite is stored as well, but is never the current version; nor is what
    was only pushed, unless the team ranks that or all that is known of the suite was.
    """
    team = await team_board(connection, team_id)
    known = _known_versions(team_id, suite.name, team)
    newest = (await connection.execute(known.limit(1))).first()
    now = (suite.version, suite.label, is_claimed)
    is_known = newest and (newest.version, newest.label, newest.is_claimed) == now
    if is_known and not await _has_moved(connection, team_id, suite):
        return AddedVersion()  # nearly every run
    await lock_team(connection, team_id)
    rows = (await connection.execute(known)).all()
    mine = next((row for row in rows if row.version == suite.version), None)
    edit, replaced = None, None
    # A pushed run may be of a version from before the current one.
    if not is_claimed or (rows and moment >= rows[0].current_since):
        replaced = _replaced(rows, suite, is_counted=not is_claimed or team.ranks_reported)
    if replaced is not None:
        # After a clock that was ahead, what is current now is still the newest.
        moment = max(moment, replaced.current_since)
    if mine is None:
        since = moment if suite.is_whole else NEVER
        await _insert_version(connection, team_id, suite, since, is_claimed=is_claimed)
    if replaced is not None and replaced.current_since > NEVER:
        edit = await _edit(connection, team_id, suite, replaced.version)
    if mine is None:
        return AddedVersion(edit=edit)
    values: dict[str, object] = {"current_since": moment} if replaced is not None else {}
    if mine.is_claimed if is_claimed else suite.is_whole:
        values |= {"label": suite.label or mine.label, "is_claimed": is_claimed}
    has_moved = await _has_moved(connection, team_id, suite)
    if has_moved:
        values["groups_digest"] = suite.groups_digest
        await _store_tests(connection, team_id, suite)
    if values:
        mine_only = SuiteVersions.version == suite.version
        change = update(SuiteVersions).where(*_of_suite(team_id, suite.name), mine_only)
        await connection.execute(change.values(**values))
    return AddedVersion(edit=edit, has_moved=has_moved)


def newest_first(team: TeamBoard) -> list[Any]:
    """The order of versions.

    What the tests here were goes before what others have pushed, unless the team ranks that.
    """
    newest = [SuiteVersions.current_since.desc(), SuiteVersions.version]
    return newest if team.ranks_reported else [SuiteVersions.is_claimed, *newest]


def _known_versions(team_id: str, suite: str, team: TeamBoard) -> Select[Any]:
    columns = (
        SuiteVersions.version,
        SuiteVersions.label,
        SuiteVersions.current_since,
        SuiteVersions.is_claimed,
    )
    query = select(*columns).where(*_of_suite(team_id, suite)).order_by(*newest_first(team))
    return cast("Select[Any]", query)


def _of_suite(team_id: str, suite: str) -> list[Any]:
    return [SuiteVersions.team_id == team_id, SuiteVersions.suite == suite]


def _replaced(rows: Sequence[Any], suite: Suite, *, is_counted: bool) -> Any:
    """The version that was current until now; None if it still is.

    What does not count replaces only what does not count either.
    """
    if not rows or rows[0].version == suite.version or not suite.is_whole:
        return None
    return rows[0] if is_counted or rows[0].is_claimed else None


async def _has_moved(connection: AsyncConnection, team_id: str, suite: Suite) -> bool:
    """Whether tests of a stored version have other categories, tags or groups than are stored."""
    query = select(SuiteVersions.groups_digest).where(
        SuiteVersions.team_id == team_id,
        SuiteVersions.suite == suite.name,
        SuiteVersions.version == suite.version,
    )
    stored = (await connection.execute(query)).scalar_one_or_none()
    return suite.groups_digest not in (None, stored)


async def _insert_version(
    connection: AsyncConnection, team_id: str, suite: Suite, moment: datetime, *, is_claimed: bool
) -> None:
    row = {
        "team_id": team_id,
        "suite": suite.name,
        "version": suite.version,
        "label": suite.label,
        "tests": suite.size,
        "groups_digest": suite.groups_digest,
        "folder": suite.folder,
        "is_claimed": is_claimed,
        "created_at": clock.now(),
        "current_since": moment,
    }
    await connection.execute(insert(SuiteVersions), row)
    await _store_tests(connection, team_id, suite)


async def _store_tests(connection: AsyncConnection, team_id: str, suite: Suite) -> None:
    """Store the tests of a version, in place of what was known of them."""
    await connection.execute(
        delete(SuiteTests).where(*_of_version(team_id, suite.name, suite.version))
    )
    key = {"team_id": team_id, "suite": suite.name, "version": suite.version}
    entries = suite.entries()
    while page := [{**key, **one._asdict()} for one in islice(entries, PAGE)]:
        await connection.execute(insert(SuiteTests), page)


def _of_version(team_id: str, suite: str, version: str) -> list[Any]:
    return [
        SuiteTests.team_id == team_id,
        SuiteTests.suite == suite,
        SuiteTests.version == version,
    ]


async def _edit(connection: AsyncConnection, team_id: str, suite: Suite, previous: str) -> Why:
    """That the tests of a suite are others than before."""
    found = await _difference(connection, team_id, suite.name, previous, suite.version)
    reason = (
        f"{suite.name} changed from {short_version(previous)} to "
        f"{short_version(suite.version)}: {found}"
    )
    return Why(
        kind=BoardEventKind.TESTS_EDITED,
        reason=reason,
        suite=suite.name,
        suite_version=suite.version,
    )


async def _difference(
    connection: AsyncConnection, team_id: str, suite: str, before: str, after: str
) -> SuiteDifference:
    """How the tests of one stored version differ from those of another."""
    one, other = (
        select(SuiteTests.test_id, SuiteTests.fingerprint)
        .where(*_of_version(team_id, suite, version))
        .subquery()
        for version in (before, after)
    )
    both = one.join(other, one.c.test_id == other.c.test_id)
    is_same = one.c.fingerprint == other.c.fingerprint
    edited = select(one.c.test_id).select_from(both).where(~is_same)
    same = select(func.count()).select_from(both).where(is_same)
    removed = select(one.c.test_id).where(one.c.test_id.not_in(select(other.c.test_id)))
    added = select(other.c.test_id).where(other.c.test_id.not_in(select(one.c.test_id)))
    ids = [sorted((await connection.execute(q)).scalars()) for q in (added, removed, edited)]
    count = (await connection.execute(same)).scalar_one()
    return SuiteDifference(added=ids[0], removed=ids[1], edited=ids[2], same=count)


async def version_to_show(
    connection: AsyncConnection, team_id: str, suite: str, team: TeamBoard
) -> str | None:
    """The newest version of a suite with a complete run.

    Reported runs are claims: they count here only if the team ranks them, or if there are no
    others.
    """
    counted = select(Runs.suite_version, Runs.provenance == Provenance.REPORTED).where(
        Runs.team_id == team_id, Runs.suite == suite, *COUNTS
    )
    found = {
        (version, is_claim) for version, is_claim in await connection.execute(counted.distinct())
    }
    proved = {version for version, is_claim in found if team.ranks_reported or not is_claim}
    measured = proved or {version for version, _ in found}
    query = (
        select(SuiteVersions.version)
        .where(SuiteVersions.team_id == team_id, SuiteVersions.suite == suite)
        .order_by(*newest_first(team))
    )
    versions = (await connection.execute(query)).scalars()
    return next((version for version in versions if version in measured), None)


async def group_sizes(
    connection: AsyncConnection, team_id: str, suite: str, version: str
) -> Counter[tuple[str, str]]:
    """How many tests of a version are in each category and tag; empty if that is not known."""
    place = (SuiteTests.category, SuiteTests.tags)
    query = (
        select(*place, func.count().label("tests"))
        .where(*_of_version(team_id, suite, version), SuiteTests.category.is_not(None))
        .group_by(*place)
    )
    sizes: Counter[tuple[str, str]] = Counter()
    for row in await connection.execute(query):
        names = [("category", row.category), *(("tag", tag) for tag in set(json.loads(row.tags)))]
        sizes.update(dict.fromkeys(names, row.tests))
    return sizes


async def manifest_of(
    connection: AsyncConnection, team_id: str, suite: str, version: str
) -> dict[str, str]:
    """The fingerprint of each test of a version, by id."""
    query = select(SuiteTests.test_id, SuiteTests.fingerprint)
    rows = await connection.execute(query.where(*_of_version(team_id, suite, version)))
    return {row.test_id: row.fingerprint for row in rows}


async def version_rows(
    connection: AsyncConnection, team_id: str, suite: str, *, with_agents: bool = True
) -> list[SuiteVersionRow]:
    """The versions of a suite, newest first; counting their agents takes longer as runs add up."""
    agents = await _agents_by_version(connection, team_id, suite) if with_agents else {}
    columns = (
        SuiteVersions.version,
        SuiteVersions.label,
        SuiteVersions.tests,
        SuiteVersions.current_since,
    )
    query = (
        select(*columns)
        .where(SuiteVersions.team_id == team_id, SuiteVersions.suite == suite)
        .order_by(*newest_first(await team_board(connection, team_id)))
    )
    shown = (await shown_versions(connection, team_id)).get(suite)
    rows: list[SuiteVersionRow] = []
    is_newer = shown is not None
    for row in await connection.execute(query):
        is_shown = row.version == shown
        is_newer = is_newer and not is_shown
        rows.append(
            SuiteVersionRow(
                version=row.version,
                label=row.label,
                tests=row.tests,
                agents=agents.get(row.version, 0),
                current_since=row.current_since,
                is_shown=is_shown,
                is_newer=is_newer,
            )
        )
    return rows


async def _agents_by_version(
    connection: AsyncConnection, team_id: str, suite: str
) -> dict[str, int]:
    """How many agent versions have a complete run of each version of the suite."""
    counted = (
        select(Runs.suite_version, Runs.agent_id, Runs.agent_version)
        .where(Runs.team_id == team_id, Runs.suite == suite, *COUNTS)
        .distinct()
        .subquery()
    )
    query = select(counted.c.suite_version, func.count()).group_by(counted.c.suite_version)
    return {version: count for version, count in (await connection.execute(query)).all()}


async def find_version(connection: AsyncConnection, team_id: str, suite: str, name: str) -> str:
    """The version of a suite that `name` means: its label, or the beginning of its digest."""
    rows = await version_rows(connection, team_id, suite, with_agents=False)
    if not rows:
        known = await suite_names(connection, team_id)
        raise NotFound.among("suite", suite, known)
    labelled = [row.version for row in rows if row.label == name]
    # The newest, if a label was given to several versions.
    if labelled:
        return labelled[0]
    found = [row.version for row in rows if name and row.version.startswith(name.lower())]
    if len(found) > 1:
        raise InvalidInput(f"version {name!r} of {suite} is ambiguous; give more of its digits")
    if not found:
        names = [row.label or short_version(row.version) for row in rows]
        raise NotFound.among(f"version of {suite}", name, names)
    return found[0]


async def suite_names(connection: AsyncConnection, team_id: str) -> list[str]:
    """Every suite of the team that was ever run, by name."""
    query = select(SuiteVersions.suite).where(SuiteVersions.team_id == team_id).distinct()
    return sorted((await connection.execute(query)).scalars())
