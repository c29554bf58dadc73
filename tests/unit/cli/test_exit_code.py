"""The exit code for a run, decided or not yet."""

import itertools
from uuid import uuid4

import pytest

from arena import clock
from arena.cli.gate import Gates, exit_code, gate_of
from arena.runs.run import Run, RunStatus
from arena.scoring.components import share_score


def a_run(total: int, passed: int, awaiting: int) -> Run:
    is_done = not awaiting
    score = share_score(passed, total)
    return Run(
        id=uuid4(),
        agent_id="a",
        agent_version="1.0.0",
        team_id="t",
        status=RunStatus.COMPLETED if is_done else RunStatus.AWAITING_REVIEW,
        total_tests=total,
        completed_tests=total,
        passed_tests=passed,
        failed_tests=total - passed - awaiting,
        errored_tests=0,
        awaiting_tests=awaiting,
        score_percent=float(score) if is_done and score is not None else None,
        points_earned=0,
        points_possible=1,
        points_percent=None,
        is_full=True,
        trials=None,
        concurrency=None,
        category=None,
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
        costed_tests=0,
        duration_seconds=0,
        error_message=None,
        created_at=clock.now(),
        started_at=None,
        completed_at=None,
    )


def gated(run: Run, fail_under: float) -> int:
    return exit_code(run, gate_of(run, Gates(minimum=fail_under)))


@pytest.mark.parametrize("fail_under", [0, 33.33, 33.34, 66.66, 66.67, 66.68, 100])
def test_a_gate_is_decided_early_only_if_every_outcome_would_decide_the_same(fail_under: float):
    for total in (1, 3, 6, 7):
        for passed, awaiting in itertools.product(range(total), range(1, total + 1)):
            if passed + awaiting > total:
                continue
            ends = {
                gated(a_run(total, passed + more, 0), fail_under) for more in range(awaiting + 1)
            }
            early = gated(a_run(total, passed, awaiting), fail_under)
            assert early == (ends.pop() if len(ends) == 1 else 3)
