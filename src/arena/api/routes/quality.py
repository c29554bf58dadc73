"""Are the tests any good? The audit, and what the agents' runs say of a test."""

from arena import schemas
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router

router = room_router("/api/benchmarks", "tests")

AUDIT_SECONDS = 2.0
"""How long one request may look at tests; the rest is pending, and asked for again."""

MAX_ANSWER = 500


@router.get("/audit", responses=responses())
async def audit_tests(house: House) -> schemas.TestAudit:
    """Which active tests an agent that does nothing passes; while some are pending, ask again."""
    report = await house.audits.report(house.catalog.current, within_seconds=AUDIT_SECONDS)
    return schemas.TestAudit(
        digest=report.digest,
        findings=[
            schemas.AuditFinding(
                test_id=finding.test_id,
                agent=finding.agent,
                answer=finding.answer[:MAX_ANSWER],
                reason=finding.reason,
            )
            for finding in report.findings
        ],
        audited=report.audited,
        left_out=list(report.left_out),
        pending=report.pending,
    )
