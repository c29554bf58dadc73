"""What a task's state means is told for this very moment, and what counted is what is shown."""

from datetime import timedelta
from typing import Any

import pytest

from arena import clock, schemas
from arena.cli.output import moment
from arena.cli.task_report import meaning, print_tasks
from arena.content.tree import cid_of

NOW = clock.now()
HOUR = timedelta(hours=1)


def task(**changes: Any) -> schemas.Task:
    """A task that alice posted, my-solver handed a result in for and judy judges."""
    values: dict[str, Any] = dict.fromkeys(schemas.Task.model_fields)
    known: dict[str, Any] = {
        "id": 7,
        "team_id": "red",
        "poster": "alice",
        "description": "Write add(a, b).",
        "evaluation_cid": cid_of(b"standard"),
        "reward": "100",
        "currency": "TEST",
        "deadline": NOW + HOUR,
        "judge": "judy",
        "judge_window_seconds": 3600,
        "fallback_window_seconds": 0,
        "timeout_policy": "refund",
        "agent_share_percent": 0,
        "dispute_window_seconds": 0,
        "arbiter_window_seconds": 0,
        "bond": "0",
        "max_applicants": 100,
        "is_self_judged": False,
        "assignment": "manual",
        "state": "submitted",
        "posted_at": NOW,
        "applicant_count": 1,
        "agent": "my-solver",
        "payout": "0",
        **changes,
    }
    return schemas.Task.model_validate({**values, **known})


def test_the_judge_has_its_window():
    until = NOW + HOUR
    told = meaning(task(judge_until=until, exit_at=until))
    assert told.startswith(f"judy has until {moment(until)} to judge")


def test_after_it_the_fallback_judge_is_named_with_its_own_window():
    until = NOW + HOUR
    told = meaning(task(fallback_judge="fred", judge_until=NOW - HOUR, exit_at=until))
    assert told.startswith(f"fred has until {moment(until)} to judge in place of judy")
    assert told.endswith("--as fred")


@pytest.mark.parametrize("state", ["open", "assigned", "submitted", "judged", "disputed"])
def test_when_every_window_is_shut_anyone_may_end_it(state: str):
    over = NOW - HOUR
    told = meaning(task(state=state, judge_until=over, exit_at=over))
    assert told == f"its time ran out at {moment(over)}; anyone may end it: arena task expire 7"


@pytest.mark.parametrize(
    ("reason", "payout", "told"),
    [
        (
            "no_verdict",
            "30",
            "nobody judged in time; my-solver got 30 of 100 TEST, the rest went back to alice",
        ),
        ("no_verdict", "0", "nobody judged in time; 100 TEST went back to alice"),
        (
            "no_submission",
            "0",
            "nothing was handed in before the deadline; 100 TEST went back to alice",
        ),
    ],
)
def test_an_expired_task_tells_where_the_reward_went(reason: str, payout: str, told: str):
    assert meaning(task(state="expired", expiry_reason=reason, payout=payout)) == told


def test_a_list_shows_the_score_that_counted(capsys: pytest.CaptureFixture[str]):
    overturned = task(state="paid", score=20, final_score=90, description="x")
    print_tasks(schemas.TaskList(tasks=[overturned], count=1))
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert "90" in row
    assert "20" not in row
