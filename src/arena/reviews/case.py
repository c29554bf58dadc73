"""From a review to a verdict: its items, and the combined answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from arena import clock
from arena.errors import InvalidInput
from arena.evaluation.evaluate import checklists
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import PartPath
from arena.evaluation.standard import Checklist
from arena.evaluation.submission import submission_document, submission_from
from arena.evaluation.verdict import ItemAnswer, Submission
from arena.fields import MAX_REVIEWERS
from arena.reviews.agreement import ReviewAgreement, agreement_of
from arena.reviews.review import (
    Review,
    ReviewAnswer,
    ReviewDetails,
    ReviewItem,
    ReviewStatus,
    ReviewSubject,
    StandingAnswer,
)

RULE = "majority, a tie fails"
"""How several answers to an item are combined; stored with the review."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReview:
    """The data of a new review."""

    team_id: str
    subject: ReviewSubject
    title: str
    prompt: str
    standard: Mapping[str, object]
    """The document that `read_standard_document` reads."""
    submission: Submission
    is_truncated: bool = False
    reviewers_needed: int = 1
    due_at: datetime | None = None
    """Answers count until then; None: no limit."""
    created_at: datetime | None = None
    """None means now."""

    @property
    def whole_submission(self) -> dict[str, Any] | None:
        """All of the submission as it is stored; None if its text is all of it."""
        return None if self.submission.is_plain else submission_document(self.submission)

    @property
    def item_count(self) -> int:
        """The number of items; an error if there are none."""
        lists = checklists(read_standard_document(self.standard))
        if not lists:
            raise InvalidInput("the standard has no checklist: there is nothing to review")
        return sum(len(checklist.items) for checklist in lists.values())


def submission_in(row: Any) -> Submission:
    """The submission in a row of the table of reviews."""
    if row.whole_submission is not None:
        return submission_from(row.whole_submission)
    return Submission(output=row.submission, language=row.language)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCase:
    """A review with everything its verdict needs, including the standard."""

    details: ReviewDetails
    document: Mapping[str, object]
    """The standard as a document."""
    submission: Submission
    """All of what is to be judged."""

    @property
    def review(self) -> Review:
        """The review itself."""
        return self.details.review

    @property
    def decided(self) -> Mapping[PartPath, Sequence[ItemAnswer]]:
        """One combined answer to each item, for judging; only for an answered review."""
        found: dict[PartPath, list[ItemAnswer]] = {}
        for item in self.details.items:
            decided = decide(item.answers)
            assert decided is not None, "every item of an answered review has an answer"
            found.setdefault(item.place, []).append(decided)
        return found


Answers = Mapping[tuple[PartPath, int], Sequence[StandingAnswer]]
"""The answers to each item, oldest first."""


def items_of(lists: Mapping[PartPath, Checklist], answers: Answers) -> list[ReviewItem]:
    """Every item of the checklists, part by part, with its answers."""
    return [
        ReviewItem(
            place=place,
            item=number,
            text=text,
            answers=(item_answers := answers.get((place, number), ())),
            passed=decided.passed if (decided := decide(item_answers)) else None,
        )
        for place, checklist in lists.items()
        for number, text in enumerate(checklist.items)
    ]


def reviewers_agree(items: Sequence[ReviewItem]) -> ReviewAgreement:
    """The agreement of the reviewers of these items."""
    return agreement_of(
        [
            {answer.reviewer: answer.passed for answer in item.answers if answer.is_standing}
            for item in items
        ]
    )


def decide(answers: Sequence[StandingAnswer]) -> ItemAnswer | None:
    """Combine several answers: the majority decides, and a tie fails."""
    standing = [answer for answer in answers if answer.is_standing]
    if not standing:
        return None
    passes = sum(answer.passed for answer in standing)
    # Of several reviewers, each note needs its author.
    notes = [
        f"{answer.reviewer}: {answer.note}" if len(standing) > 1 else answer.note
        for answer in standing
        if answer.note
    ]
    return ItemAnswer(
        passed=2 * passes > len(standing),
        note="; ".join(notes),
        reviewer=", ".join(answer.reviewer for answer in standing),
    )


def check_items(lists: Mapping[PartPath, Checklist], answers: Sequence[ReviewAnswer]) -> None:
    """Refuse an answer to an unknown item, and two answers to one item."""
    seen: set[tuple[PartPath, int]] = set()
    for answer in answers:
        where = f" in part {dotted_place(answer.place)}" if answer.place else ""
        if answer.place not in lists:
            known = ", ".join(str(list(place)) for place in lists)
            raise InvalidInput(
                f"there is no checklist at place {list(answer.place)}; there is one at: {known}"
            )
        count = len(lists[answer.place].items)
        if not 0 <= answer.item < count:
            raise InvalidInput(
                f"there is no item {answer.item}{where}: its items are 0 to {count - 1}"
            )
        if (answer.place, answer.item) in seen:
            raise InvalidInput(f"item {answer.item}{where} is answered twice: answer it once")
        seen.add((answer.place, answer.item))


def dotted_place(place: PartPath) -> str:
    """A place as text: `1.0`; empty for the whole."""
    return ".".join(map(str, place))


def place_of(dotted: str) -> PartPath:
    """The inverse of `dotted_place`."""
    return tuple(int(step) for step in dotted.split(".")) if dotted else ()


def new_row(new: NewReview) -> dict[str, object]:
    """The columns of a new review."""
    if not 1 <= new.reviewers_needed <= MAX_REVIEWERS:
        raise InvalidInput(f"{new.reviewers_needed} reviewers: a review needs 1 to {MAX_REVIEWERS}")
    return {
        "id": uuid4(),
        "team_id": new.team_id,
        "subject_kind": new.subject.kind,
        "subject_id": new.subject.id,
        "subject_part": new.subject.part,
        "title": new.title,
        "prompt": new.prompt,
        "standard": dict(new.standard),
        "submission": new.submission.output,
        "language": new.submission.language,
        "whole_submission": new.whole_submission,
        "is_truncated": new.is_truncated,
        "reviewers_needed": new.reviewers_needed,
        "rule": RULE,
        "status": ReviewStatus.OPEN,
        "item_count": new.item_count,
        "due_at": new.due_at,
        "created_at": new.created_at or clock.now(),
    }
