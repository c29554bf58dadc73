"""Verdict records: whether they hold."""

from arena import schemas
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.evaluation.verify import Verification, verify

router = room_router("/api", "verdicts")


@router.get("/verify/{cid}", responses=responses(404))
async def verify_record(house: House, cid: str) -> schemas.Verification:
    """Check a verdict record: replay what can be, compute anew what was made of the rest."""
    return shown(await verify(house.content, cid, house.resources.sandbox))


def shown(found: Verification) -> schemas.Verification:
    """A verification by the names of the API."""
    record = found.record
    return schemas.Verification(
        cid=found.cid,
        outcome=found.outcome,
        differences=[schemas.Difference.model_validate(one) for one in found.differences],
        obstacles=list(found.obstacles),
        taken=list(found.taken),
        notes=list(found.notes),
        standard_cid=record.standard_cid,
        submission_cid=record.submission_cid,
        score=record.verdict.score,
        passed=record.verdict.passed,
        made_at=record.made_at,
        made_with=schemas.MadeWith.model_validate(record.made_with),
    )
