"""Are the tests any good? The audit, and what the agents' runs say of a test."""

from arena import schemas
from arena.api.access import Team
from arena.api.arena import House
from arena.api.problems import responses
from arena.api.room import room_router
from arena.scoring import Share, TestStanding, discrimination, share_interval

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


@router.get("/tests/{test_id}/standing", responses=responses(404))
async def get_test_standing(house: House, team: Team, test_id: str) -> schemas.Standing:
    """How a test went with each agent in its latest full run, and whether it tells them apart."""
    digest = house.catalog.current.test(test_id).digest
    standings = await house.scores.standing(team, test_id)
    counted = [one for one in standings if one.outcome.digest == digest]
    share = Share.of_groups((one.outcome.passed, one.outcome.trials) for one in counted)
    interval = share_interval(share)
    value = discrimination(counted)
    return schemas.Standing(
        test_id=test_id,
        rows=[_shown(one, is_current=one.outcome.digest == digest) for one in standings],
        counted=len(counted),
        pass_percent=None if share.value is None else round(100 * share.value, 2),
        interval=None
        if interval is None
        else schemas.Interval(
            low=round(100 * interval.low, 2),
            high=round(100 * interval.high, 2),
            method=interval.method,
            confidence=interval.confidence,
        ),
        discrimination=None if value is None else round(value, 3),
    )


def _shown(one: TestStanding, *, is_current: bool) -> schemas.StandingRow:
    rest = one.rest_rate
    return schemas.StandingRow(
        agent_id=one.subject.agent_id,
        agent_version=one.subject.version,
        run_id=one.run_id,
        result_id=one.outcome.result_id,
        trials=one.outcome.trials,
        passed=one.outcome.passed,
        rest_percent=None if rest is None else round(100 * rest, 2),
        is_current=is_current,
    )
