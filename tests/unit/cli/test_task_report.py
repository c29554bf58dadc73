"""A task's state is explained for the current time, and the score shown is the one that counted."""

from datetime import timedelta
from typing import Any

import pytest

from arena import clock
from arena.amounts import Amount
from arena.cli.output import moment
from arena.cli.task_report import meaning, print_tasks
from arena.content.tree import cid_of
from arena.market.task import ExpiryReason, Task, TaskState
from arena.operations.tasks import TaskList

NOW = clock.now()
HOUR = timedelta(hours=1)


def task(**changes: Any) -> Task:
    """A task that alice posted, my-solver submitted a result for and judy judges."""
    known: dict[str, Any] = {
        "id": 7,
        "team_id": "red",
        "poster": "alice",
        "description": "Write add(a, b).",
        "evaluation_cid": cid_of(b"standard"),
        "reward": Amount.parse("100"),
        "deadline": NOW + HOUR,
        "judge": "judy",
        "judge_window_seconds": 3600,
        "state": TaskState.SUBMITTED,
        "posted_at": NOW,
        "applicant_count": 1,
        "agent": "my-solver",
        **changes,
    }
    return Task(**known)


def test_the_judge_has_its_window():
    text = meaning(task(submitted_at=NOW))
    assert text.startswith(f"judy has until {moment(NOW + HOUR)} to judge")


def test_after_the_judge_the_fallback_judge_has_its_own_window():
    late = task(submitted_at=NOW - 2 * HOUR, fallback_judge="fred", fallback_window_seconds=7200)
    text = meaning(late)
    assert text.startswith(f"fred has until {moment(NOW + HOUR)} to judge in place of judy")
    assert text.endswith("--as fred")


@pytest.mark.parametrize("state", ["open", "assigned", "submitted", "judged", "disputed"])
def test_when_every_window_is_shut_anyone_may_end_it(state: str):
    over = NOW - HOUR
    times = {"submitted_at": over - HOUR, "judged_at": over, "disputed_at": over}
    text = meaning(task(state=TaskState(state), deadline=over, **times))
    assert text == f"its time ran out at {moment(over)}; anyone may end it: arena task expire 7"


@pytest.mark.parametrize(
    ("reason", "payout", "expected"),
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
            "nothing was submitted before the deadline; 100 TEST went back to alice",
        ),
    ],
)
def test_an_expired_task_shows_where_the_reward_went(reason: str, payout: str, expected: str):
    why, paid = ExpiryReason(reason), Amount.parse(payout)
    assert meaning(task(state=TaskState.EXPIRED, expiry_reason=why, payout=paid)) == expected


def test_a_list_shows_the_score_that_counted(capsys: pytest.CaptureFixture[str]):
    overturned = task(state=TaskState.PAID, score=20, final_score=90, description="x")
    print_tasks(TaskList(tasks=[overturned], count=1))
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert "90" in row
    assert "20" not in row
