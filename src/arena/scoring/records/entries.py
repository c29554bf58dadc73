"""The entries of an agent version: the run that each rests on, and the scores that follow."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import bindparam, case, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena import clock
from arena.scoring.board import BoardRun, Provenance, unranked_because
from arena.scoring.components import Share
from arena.scoring.history import Subject
from arena.scoring.log import TeamBoard
from arena.scoring.records import outcomes
from arena.scoring.records.suites import COUNTS, group_sizes
from arena.scoring.records.sums import is_about
from arena.scoring.sums import Sums
from arena.store.tables.boards import BoardEntries
from arena.store.tables.runs import RunGroups, Runs
from arena.store.tables.scores import Scores

WHOLE = ("whole", "")
"""The board of all tests of a suite; others are ("category", name) and ("tag", name)."""
ENTRY_KEY = ("team_id", "suite", "kind", "name", "agent_id", "agent_version")
Group = tuple[str, str]


async def chosen_runs(
    connection: AsyncConnection, subject: Subject, suite: str, version: str, team: TeamBoard
) -> dict[Group, BoardRun]:
    """The run that counts for it on a version of a suite, for each board; empty if there is none.

    It is the latest, never the best. A reported run counts only if there is no other, unless the
    team ranks reported runs.
    """
    of_version = (
        *is_about(Runs, subject),
        Runs.suite == suite,
        Runs.suite_version == version,
        *COUNTS,
    )
    is_claim = Runs.provenance == Provenance.REPORTED
    latest = Runs.completed_at.desc()
    # A copy of a run that was executed here never takes its place.
    order = (latest, is_claim) if team.ranks_reported else (is_claim, latest)
    query = select(Runs.__table__).where(*of_version).order_by(*order, Runs.id.desc())
    row = (await connection.execute(query.limit(1))).one_or_none()
    if row is None:
        return {}
    whole = await _board_run(connection, subject, row, of_version, team)
    groups = await _groups_of(connection, row.id)
    sizes = await group_sizes(connection, subject.team_id, suite, version)
    return {
        key: replace(
            whole,
            benchmark=group.benchmark,
            cost=group.cost,
            # Of a category or tag, its own tests; of a version from before they were stored, all.
            tests=group.tests if key in sizes else whole.tests,
            suite_tests=sizes.get(key, whole.suite_tests),
        )
        for key, group in groups.items()
    }


async def _board_run(
    connection: AsyncConnection,
    subject: Subject,
    row: Any,
    of_version: Sequence[Any],
    team: TeamBoard,
) -> BoardRun:
    """The run in a row, with what all runs of that suite version say about it."""
    if not team.ranks_reported and row.provenance != Provenance.REPORTED:
        # Claims say nothing about what was run here.
        of_version = (*of_version, Runs.provenance != Provenance.REPORTED)
    counting = select(
        func.count().label("runs"),
        func.min(Runs.score_percent).label("lowest"),
        func.max(Runs.score_percent).label("highest"),
    ).where(*of_version)
    counted = (await connection.execute(counting)).one()
    # Up to this run: what happens later, on another suite, must not change what was shown.
    files = select(func.count(Runs.agent_digest.distinct())).where(
        *is_about(Runs, subject), Runs.completed_at <= row.completed_at
    )
    if row.provenance != Provenance.REPORTED:
        files = files.where(Runs.provenance != Provenance.REPORTED)
    return BoardRun(
        run_id=row.id,
        suite_version=row.suite_version,
        tests=row.test_count,
        suite_tests=row.suite_tests,
        completed_at=row.completed_at,
        provenance=Provenance(row.provenance),
        results=row.completed_tests,
        repeated_attempts=row.repeated_attempts,
        judge_family=row.judge_family,
        is_other_file=(await connection.execute(files)).scalar_one() > 1
        or "other_agent_file" in (row.environment or {}),
        runs=counted.runs,
        lowest=counted.lowest,
        highest=counted.highest,
    )


async def _groups_of(
    connection: AsyncConnection, run_id: UUID
) -> dict[tuple[str, str], outcomes.Group]:
    """The sums of a run, in total and for each category and tag."""
    query = select(RunGroups.__table__).where(RunGroups.run_id == run_id)
    rows = (await connection.execute(query)).all()
    if not any((row.kind, row.name) == WHOLE for row in rows):
        # A run of an earlier release, or one whose tests have other categories or tags now.
        groups = await outcomes.outcomes_of_run(connection, run_id)
        await outcomes.store_groups(connection, run_id, groups)
        return groups
    return {
        (row.kind, row.name): outcomes.Group(
            tests=row.tests,
            benchmark=Share.from_list(row.benchmark_share),
            cost=Share.from_list(row.cost_share),
        )
        for row in rows
    }


async def store_entries(
    connection: AsyncConnection,
    subject: Subject,
    suite: str,
    runs: Mapping[Group, BoardRun],
) -> None:
    """Replace its entries in a suite by those that rest on these runs; they are not scored yet."""
    mine = (*is_about(BoardEntries, subject), BoardEntries.suite == suite)
    await connection.execute(delete(BoardEntries).where(*mine))
    rows = [
        {
            **subject.columns,
            "suite": suite,
            "kind": kind,
            "name": name,
            "run_id": run.run_id,
            "is_ranked": False,
            "coverage": 0.0,
            "run": run.as_json(),
        }
        for (kind, name), run in runs.items()
    ]
    if rows:
        await connection.execute(insert(BoardEntries), rows)


async def score_row(connection: AsyncConnection, subject: Subject) -> Any:
    """The row of scores of an agent version; None if it has none."""
    query = select(Scores.__table__).where(*is_about(Scores, subject))
    return (await connection.execute(query)).one_or_none()


async def whole_entry(connection: AsyncConnection, subject: Subject, suite: str) -> Any:
    """Its entry on the board of a suite, with its `rank`; None if it has none."""
    board = (BoardEntries.team_id == subject.team_id, BoardEntries.suite == suite)
    whole = (BoardEntries.kind == WHOLE[0], BoardEntries.name == WHOLE[1])
    other = BoardEntries.__table__.alias("other")
    better = (
        select(func.count() + 1)
        .select_from(other)
        .where(
            *(other.c[name] == BoardEntries.__table__.c[name] for name in ENTRY_KEY[:4]),
            other.c.is_ranked.is_(True),
            other.c.overall_score > BoardEntries.overall_score,
        )
        .scalar_subquery()
    )
    rank = case((BoardEntries.is_ranked, better)).label("rank")
    query = select(BoardEntries.overall_score, BoardEntries.run, rank)
    query = query.where(*is_about(BoardEntries, subject), *board, *whole)
    return (await connection.execute(query)).one_or_none()


async def score_entries(
    connection: AsyncConnection, subject: Subject, sums: Sums, team: TeamBoard
) -> BoardRun | None:
    """Compute its scores on every board again; returns its run on the default board."""
    query = select(BoardEntries.__table__).where(*is_about(BoardEntries, subject))
    rows = (await connection.execute(query)).all()
    default: BoardRun | None = None
    changes: list[dict[str, Any]] = []
    for row in rows:
        run = BoardRun.from_json(row.run)
        if row.suite == team.default_suite and (row.kind, row.name) == WHOLE:
            default = run
        key = {f"key_{name}": getattr(row, name) for name in ENTRY_KEY}
        changes.append(key | _score_columns(sums, run, team))
    if changes:
        is_row = [getattr(BoardEntries, name) == bindparam(f"key_{name}") for name in ENTRY_KEY]
        values: dict[str, Any] = {
            name: bindparam(name) for name in changes[0] if not name.startswith("key_")
        }
        await connection.execute(update(BoardEntries).where(*is_row).values(**values), changes)
    return default


async def store_scores(
    connection: AsyncConnection,
    subject: Subject,
    sums: Sums,
    run: BoardRun | None,
    team: TeamBoard,
    row: Any,
) -> tuple[UUID, float | None]:
    """Write the row of scores, as on the default board; the score it is ranked by, None if not.

    The caller updates ranks: one change moves a few, a recalculation sets them all.
    """
    card = sums.scorecard(run, team.weights)
    scored = _score_columns(sums, run, team)
    columns: dict[str, Any] = {
        **asdict(sums),
        **card.scores(),
        **scored,
        "benchmark_run_id": run.run_id if run else None,
        "benchmark_share": (run.benchmark if run else Share()).to_list(),
        "cost_share": (run.cost if run else Share()).to_list(),
        "updated_at": clock.now(),
    }
    score_id: UUID = row.id if row else uuid4()
    if row:
        await connection.execute(update(Scores).where(Scores.id == score_id).values(**columns))
    else:
        await connection.execute(insert(Scores), {"id": score_id, **subject.columns, **columns})
    return score_id, columns["overall_score"] if scored["is_ranked"] else None


def _score_columns(sums: Sums, run: BoardRun | None, team: TeamBoard) -> dict[str, Any]:
    """The columns that rows of scores and entries have in common."""
    card = sums.scorecard(run, team.weights)
    score, interval = card.overall.score, card.overall_interval
    reason = unranked_because(run, ranks_reported=team.ranks_reported)
    return {
        "is_ranked": reason is None and score is not None,
        "overall_score": None if score is None else float(score),
        "overall_low": interval.low if interval else None,
        "overall_high": interval.high if interval else None,
        "coverage": float(card.overall.coverage),
    }
