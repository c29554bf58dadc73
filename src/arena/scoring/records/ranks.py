"""The stored ranks of a team on its default board, updated by changing only those that move.

A rank is one more than the number of better scores. When a score changes, only the entries between
its old and its new place move, by one.
"""

from uuid import UUID

from sqlalchemy import and_, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.store.tables.scores import Scores

# Only for PostgreSQL: SQLite has one writing transaction at a time anyway. A change of scores
# takes the lock of the weights (5109002) shared and then that of the team; the SQL function
# recalculate_agent_score takes both in the same order, or the two could deadlock.


async def lock_team(connection: AsyncConnection, team_id: str) -> None:
    """Serialise changes of a team's scores: each may move the ranks of all others."""
    if connection.dialect.name == "postgresql":
        shared = "pg_advisory_xact_lock_shared(5109002)"
        lock = text(f"SELECT {shared}, pg_advisory_xact_lock(5109, hashtext(:team))")
        await connection.execute(lock, {"team": team_id})


async def lock_weights(connection: AsyncConnection) -> None:
    """Block every change of scores: new weights change them all."""
    if connection.dialect.name == "postgresql":
        await connection.execute(text("SELECT pg_advisory_xact_lock(5109002)"))


async def move_ranks(
    connection: AsyncConnection,
    team_id: str,
    score_id: UUID,
    before: float | None,
    after: float | None,
) -> None:
    """Update the ranks after one entry's score has changed; None: it is not ranked."""
    if before == after:
        return
    others = and_(Scores.team_id == team_id, Scores.id != score_id, Scores.is_ranked.is_(True))
    low, high = before, after
    step = 1
    if before is not None and (after is None or after < before):
        low, high, step = after, before, -1
    passed = and_(others, Scores.overall_score < high)
    if low is not None:
        passed = and_(passed, Scores.overall_score >= low)
    await connection.execute(
        update(Scores).where(passed).values(rank_overall=Scores.rank_overall + step)
    )
    new_rank = None
    if after is not None:
        better = select(func.count()).where(others, Scores.overall_score > after)
        new_rank = 1 + (await connection.execute(better)).scalar_one()
    moved = update(Scores).where(Scores.id == score_id)
    await connection.execute(moved.values(rank_overall=new_rank))


async def rank_all(connection: AsyncConnection, team_id: str) -> None:
    """Recompute all ranks of the team, whatever is stored."""
    is_ranked = and_(Scores.team_id == team_id, Scores.is_ranked.is_(True))
    place = func.rank().over(order_by=Scores.overall_score.desc()).label("place")
    ranked = select(Scores.id, place).where(is_ranked).subquery()
    await connection.execute(
        update(Scores).where(Scores.id == ranked.c.id).values(rank_overall=ranked.c.place)
    )
    unranked = and_(Scores.team_id == team_id, Scores.is_ranked.is_(False))
    await connection.execute(update(Scores).where(unranked).values(rank_overall=None))
