"""Reviewers see until when an answer counts, and whether one came too late."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from arena import clock
from arena.cli.output import time_cell
from arena.cli.review import _print_answered, _print_list
from arena.operations.reviews import ReviewList
from arena.reviews.agreement import ReviewAgreement
from arena.reviews.review import Review, ReviewDetails, ReviewStatus, ReviewSubject, SubjectKind


def review(**changes: Any) -> Review:
    values: dict[str, Any] = {
        "id": uuid4(),
        "team_id": "red",
        "subject": ReviewSubject(kind=SubjectKind.TASK, id="7"),
        "title": "task 7",
        "status": ReviewStatus.OPEN,
        "reviewers_needed": 1,
        "rule": "majority, a tie fails",
        "item_count": 1,
        "answered_count": 0,
        "revision": 0,
        "trouble": None,
        "created_at": clock.now(),
        "completed_at": None,
        **changes,
    }
    return Review(**values)


def test_a_list_shows_until_when_an_answer_counts(capsys: pytest.CaptureFixture[str]):
    due_at = clock.now() + timedelta(hours=1)
    _print_list(ReviewList(reviews=[review(due_at=due_at)], count=1))
    shown = capsys.readouterr().out
    assert "until (UTC)" in shown and time_cell(due_at) in shown


@pytest.mark.parametrize(
    ("status", "prefix"), [("answered", "no verdict yet: "), ("cancelled", "no verdict: ")]
)
def test_a_reviewer_sees_why_there_is_no_verdict(
    capsys: pytest.CaptureFixture[str], status: str, prefix: str
):
    details = ReviewDetails(
        review=review(status=ReviewStatus(status), trouble="it was too late"),
        prompt="",
        submission="",
        language=None,
        truncated=False,
        items=[],
        agreement=ReviewAgreement(shared_items=0, agreed_items=0, share=None, pairs=()),
    )
    _print_answered(details)
    assert f"{prefix}it was too late" in capsys.readouterr().out
