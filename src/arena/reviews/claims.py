"""Which worker makes the verdict of which answered review; on PostgreSQL only."""

from uuid import UUID

from sqlalchemy import and_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.queue.claiming import claim_end, database_now, is_free
from arena.reviews.review import ReviewStatus
from arena.store.database import Database, shielded
from arena.store.tables.reviews import Reviews


@shielded
async def claim_review(database: Database, review_id: UUID, token: str) -> bool:
    """Claim an answered review to make its verdict, or renew the claim; False if it is taken."""
    # A claim is also renewed once the verdict is there: what follows from it is still being done.
    is_ours = or_(
        Reviews.claim_token == token,
        and_(
            Reviews.status == ReviewStatus.ANSWERED,
            is_free(Reviews.claim_token, Reviews.claimed_until, token),
        ),
    )
    async with database.writing() as connection:
        taken = await connection.execute(
            update(Reviews)
            .where(Reviews.id == review_id, is_ours)
            .values(claim_token=token, claimed_until=claim_end())
        )
    return taken.rowcount == 1


@shielded
async def release_review(database: Database, review_id: UUID, token: str) -> None:
    """End a claim before it expires; nothing happens if it is no longer held."""
    async with database.writing() as connection:
        await connection.execute(
            update(Reviews)
            .where(Reviews.id == review_id, Reviews.claim_token == token)
            .values(claim_token=None, claimed_until=None)
        )


async def idle_reviews(connection: AsyncConnection) -> list[UUID]:
    """The answered reviews whose verdict nobody makes."""
    is_idle = or_(Reviews.claimed_until.is_(None), Reviews.claimed_until <= database_now())
    query = select(Reviews.id).where(Reviews.status == ReviewStatus.ANSWERED, is_idle)
    return list((await connection.execute(query.order_by(Reviews.created_at))).scalars())
