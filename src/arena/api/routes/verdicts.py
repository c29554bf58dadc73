"""Verdict records: whether they hold."""

from arena import schemas
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.evaluation.verify import verify

router = room_router("/api", "verdicts")


@router.get("/verify/{cid}", responses=responses(404))
async def verify_record(house: House, cid: str) -> schemas.Verification:
    """Check a verdict record: replay what can be, compute anew what was made of the rest."""
    found = await verify(house.content, cid, house.resources.sandbox)
    return schemas.Verification.model_validate(found)
