"""A review, its items and the answers to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from arena.errors import InvalidInput
from arena.evaluation import (
    Checklist,
    ItemAnswer,
    PartPath,
    Standard,
    Submission,
    checklists,
    read_standard_document,
)

RULE = "majority, a tie fails"
"""How several answers to an item become one; stored with the review."""
MAX_REVIEWERS = 25
"""Who answers one review; more would only make the agreement unreadable."""


class ReviewStatus(StrEnum):
    """Where a review stands."""

    OPEN = "open"
    ANSWERED = "answered"
    """Every item has its answers; the verdict is still to be made."""
    DONE = "done"
    CANCELLED = "cancelled"
    """What it was about was cancelled or its time is over: nobody needs an answer any more."""

    @property
    def takes_answers(self) -> bool:
        """Whether an answer can still change the verdict."""
        return self in (ReviewStatus.OPEN, ReviewStatus.ANSWERED)


class SubjectKind(StrEnum):
    """Whose submission a review is about."""

    RUN = "run"
    TASK = "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSubject:
    """What a review is about; there is never a second review of one subject."""

    kind: SubjectKind
    id: str
    part: str = ""
    """Which of several submissions: `test_id:trial` in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReview:
    """What a review is opened with."""

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
    """Until when an answer counts; None: at any time."""
    created_at: datetime | None = None
    """None means now."""

    @property
    def item_count(self) -> int:
        """How many items people have to answer; an error where there is none."""
        lists = checklists(read_standard_document(self.standard))
        if not lists:
            raise InvalidInput("there is no checklist in the standard: nobody has to review it")
        return sum(len(checklist.items) for checklist in lists.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A review as it stands, without its texts."""

    id: UUID
    team_id: str
    subject: ReviewSubject
    title: str
    status: ReviewStatus
    reviewers_needed: int
    rule: str
    item_count: int
    answered_count: int
    revision: int
    trouble: str | None
    """Why there is no verdict although there should be, or why the answers did not count."""
    due_at: datetime | None
    created_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reviewer says to one item."""

    item: int
    passed: bool
    place: PartPath = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswer:
    """An answer as it stands in the database."""

    answer: Answer
    reviewer: str
    is_standing: bool
    """False for one that its reviewer has replaced since."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """One item, and what was said to it."""

    place: PartPath
    number: int
    text: str
    answers: tuple[RecordedAnswer, ...]

    @property
    def standing(self) -> tuple[RecordedAnswer, ...]:
        """The answers that count: one of each reviewer."""
        return tuple(answer for answer in self.answers if answer.is_standing)

    @property
    def decided(self) -> ItemAnswer | None:
        """The answers as one; None where nobody has answered."""
        return decide(self.standing)


@dataclass(frozen=True, kw_only=True)
class ReviewDetails:
    """A review with everything a reviewer needs."""

    review: Review
    prompt: str
    document: Mapping[str, object]
    """The standard as it was given."""
    submission: Submission
    is_truncated: bool
    answers: tuple[RecordedAnswer, ...]

    @cached_property
    def standard(self) -> Standard:
        """What the submission is held to."""
        return read_standard_document(self.document)

    @cached_property
    def items(self) -> tuple[ReviewItem, ...]:
        """Every item, part by part."""
        said: dict[tuple[PartPath, int], list[RecordedAnswer]] = {}
        for recorded in self.answers:
            said.setdefault((recorded.answer.place, recorded.answer.item), []).append(recorded)
        return tuple(
            ReviewItem(
                place=place, number=number, text=text, answers=tuple(said.get((place, number), ()))
            )
            for place, checklist in checklists(self.standard).items()
            for number, text in enumerate(checklist.items)
        )

    @property
    def decided(self) -> Mapping[PartPath, Sequence[ItemAnswer]]:
        """One answer to each item, as judging wants them; only for an answered review."""
        found: dict[PartPath, list[ItemAnswer]] = {}
        for item in self.items:
            decided = item.decided
            assert decided is not None, "every item of an answered review has an answer"
            found.setdefault(item.place, []).append(decided)
        return found


def decide(answers: Sequence[RecordedAnswer]) -> ItemAnswer | None:
    """Several reviewers as one: the majority decides, and a tie fails."""
    if not answers:
        return None
    passes = sum(recorded.answer.passed for recorded in answers)
    noted = [recorded for recorded in answers if recorded.answer.note]
    notes = [
        f"{recorded.reviewer}: {recorded.answer.note}" if len(answers) > 1 else recorded.answer.note
        for recorded in noted
    ]
    return ItemAnswer(
        passed=2 * passes > len(answers),
        note="; ".join(notes),
        reviewer=", ".join(recorded.reviewer for recorded in answers),
    )


def check_items(lists: Mapping[PartPath, Checklist], answers: Sequence[Answer]) -> None:
    """Refuse an answer to an item that is not there, and two answers to one."""
    seen: set[tuple[PartPath, int]] = set()
    for answer in answers:
        where = f" in part {dotted_place(answer.place)}" if answer.place else ""
        if answer.place not in lists:
            known = ", ".join(f"[{', '.join(map(str, place))}]" for place in lists)
            told = f"[{', '.join(map(str, answer.place))}]"
            raise InvalidInput(f"there is no checklist at place {told}; there is one at: {known}")
        count = len(lists[answer.place].items)
        if not 0 <= answer.item < count:
            raise InvalidInput(
                f"there is no item {answer.item}{where}: its items are 0 to {count - 1}"
            )
        if (answer.place, answer.item) in seen:
            raise InvalidInput(f"item {answer.item}{where} is answered twice: say it once")
        seen.add((answer.place, answer.item))


def dotted_place(place: PartPath) -> str:
    """A place as text: `1.0`; nothing for the whole."""
    return ".".join(map(str, place))


def place_of(dotted: str) -> PartPath:
    """The place that `dotted_place` wrote."""
    return tuple(int(step) for step in dotted.split(".")) if dotted else ()
