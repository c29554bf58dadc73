"""Changes of the boards: new evidence, and everything that follows from it in one transaction.

`record_change` is the one way evidence about an agent version gets into the scores: its sums, its
entries on every board, its row of scores with the rank, and the event with its reason.
"""

from collections.abc import Callable, Collection, Mapping
from types import EllipsisType
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.board import BoardRun
from arena.scoring.components import share_score
from arena.scoring.history import Subject
from arena.scoring.log import (
    TEAM_KEY,
    Position,
    TeamBoard,
    Why,
    agent_key,
    agent_state,
    run_key,
    run_state,
)
from arena.scoring.records.entries import (
    WHOLE,
    chosen_runs,
    score_entries,
    score_row,
    store_entries,
    store_scores,
    whole_entry,
)
from arena.scoring.records.log import append_event
from arena.scoring.records.ranks import lock_team, move_ranks
from arena.scoring.records.rebuilding import compute_missing
from arena.scoring.records.suites import shown_versions, team_board
from arena.scoring.sums import Sums

States = Mapping[str, Mapping[str, Any] | None]


async def record_change(
    connection: AsyncConnection,
    subject: Subject,
    why: Why,
    change: Callable[[Sums], Sums] = lambda sums: sums,
    *,
    suites: Collection[str] = (),
    states: States | None = None,
    before: Position | EllipsisType | None = ...,
) -> None:
    """Change the sums of an agent version, and the boards with them.

    `suites` are those in which its run may have changed; `states` are changed by the event, too.
    `before` is where it stood, if the caller has changed the board already.
    """
    # Some callers hold the lock already; taking it twice in a transaction is harmless.
    await lock_team(connection, subject.team_id)
    await compute_missing(connection, subject.team_id)
    team = await team_board(connection, subject.team_id)
    row = await score_row(connection, subject)
    if before is ...:
        before = await position(connection, subject, why.suite, team)
    sums = change(Sums.of_row(row))
    changed: dict[str, Mapping[str, Any] | None] = dict(states or {})
    changed[agent_key(subject)] = agent_state(subject, sums)
    for suite in suites:
        await _renew_entries(connection, subject, suite, team)
    run = await score_entries(connection, subject, sums, team)
    score_id, after = await store_scores(connection, subject, sums, run, team, row)
    was = row.overall_score if row and row.is_ranked else None
    await move_ranks(connection, subject.team_id, score_id, was, after)
    if why.suite and why.suite_version:
        changed |= await _run_state(connection, subject, why.suite, why.suite_version, team)
    await append_event(
        connection,
        subject.team_id,
        why,
        changed,
        subject=subject,
        before=before,
        after=await position(connection, subject, why.suite, team),
        at_first={TEAM_KEY: team.as_json()},
    )


async def _renew_entries(
    connection: AsyncConnection, subject: Subject, suite: str, team: TeamBoard
) -> None:
    """Let its entries in a suite rest on the run that counts now."""
    version = (await shown_versions(connection, subject.team_id)).get(suite)
    if version is not None:
        runs = await chosen_runs(connection, subject, suite, version, team)
        await store_entries(connection, subject, suite, runs)


async def _run_state(
    connection: AsyncConnection, subject: Subject, suite: str, version: str, team: TeamBoard
) -> dict[str, Mapping[str, Any] | None]:
    """The state of its run on a version, which need not be the one that is shown."""
    runs = await chosen_runs(connection, subject, suite, version, team)
    key = run_key(subject, suite, version)
    return {key: run_state(subject, suite, runs[WHOLE]) if runs else None}


async def position(
    connection: AsyncConnection, subject: Subject, suite: str | None, team: TeamBoard
) -> Position | None:
    """Where an agent version stands on the board of a suite; without a suite, on the default one.

    None if it is not there.
    """
    if suite is None or suite == team.default_suite:
        row = await score_row(connection, subject)
        if row is None:
            return None
        return Position(
            rank=row.rank_overall,
            overall_score=row.overall_score,
            benchmark_score=row.benchmark_score,
        )
    entry = await whole_entry(connection, subject, suite)
    if entry is None:
        return None
    benchmark = BoardRun.from_json(entry.run).benchmark
    score = share_score(benchmark.part, benchmark.whole)
    return Position(
        rank=entry.rank,
        overall_score=entry.overall_score,
        benchmark_score=None if score is None else float(score),
    )
