"""Answers to reviews that a task opened: kept, replaced, counted, agreed on; on both databases."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from uuid import uuid4

import pytest

from arena.errors import Conflict, InvalidInput
from arena.evaluation.resources import Resources
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict
from arena.fields import MAX_REVIEWERS
from arena.reviews import records
from arena.reviews.case import NewReview
from arena.reviews.review import (
    Review,
    ReviewAnswer,
    ReviewDetails,
    ReviewStatus,
    ReviewSubject,
    StandingAnswer,
    SubjectKind,
)
from arena.reviews.reviews import Reviews
from arena.store.database import Database
from reviewing import TEAM, said

ITEMS = ["a", "b", "c", "d", "e"]


class Desk:
    """Takes verdicts as the market would: once, in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.taken: list[Verdict] = []

    async def settle(self, details: ReviewDetails, verdict: Verdict) -> None:
        async with self._database.writing() as connection:
            if await records.close_review(connection, details.review):
                self.taken.append(verdict)


@pytest.fixture
def desk(database: Database) -> Desk:
    return Desk(database)


@pytest.fixture
async def reviews(database: Database, desk: Desk) -> AsyncIterator[Reviews]:
    yield Reviews(database, Resources(), {SubjectKind.TASK: desk.settle})


def new(ident: str | None = None, **changes: object) -> NewReview:
    values: dict[str, object] = {
        "team_id": TEAM,
        "subject": ReviewSubject(kind=SubjectKind.TASK, id=ident or str(uuid4())),
        "title": "A task",
        "prompt": "Write a poem",
        "standard": {"type": "checklist", "items": ITEMS},
        "submission": Submission(output="Roses", language="python"),
    }
    return NewReview(**{**values, **changes})


def given(details: ReviewDetails) -> list[StandingAnswer]:
    return [answer for item in details.items for answer in item.answers]


async def opened(reviews: Reviews, **changes: object) -> Review:
    review = new(**changes)
    await reviews.open(review)
    subject = (SubjectKind.TASK, review.subject.id)
    (found,) = await reviews.list(TEAM, subject=subject)
    return found


async def test_a_review_is_opened_once_for_its_subject(reviews: Reviews):
    for title in ("first", "second"):
        await reviews.open(new("7", title=title))
    (review,) = await reviews.list(TEAM)
    assert (review.title, review.item_count, review.status) == ("first", 5, "open")


async def test_the_last_answer_makes_the_verdict_and_only_one(reviews: Reviews, desk: Desk):
    review = await opened(reviews)
    review = await reviews.answer(review.id, TEAM, "mia", said(True, True))
    assert (review.status, review.answered_count, review.completed_at) == ("open", 2, None)
    rest = [ReviewAnswer(item=item, passed=item == 2, note="n") for item in (2, 3, 4)]
    review = await reviews.answer(review.id, TEAM, "mia", rest)
    assert (review.status, review.answered_count) == ("done", 5)
    assert review.completed_at is not None
    (verdict,) = desk.taken
    assert (verdict.score, verdict.passed) == (60, True)
    assert [answer.note for answer in verdict.answers] == ["", "", "n", "n", "n"]


async def test_a_second_answer_replaces_the_first_and_the_history_is_kept(reviews: Reviews):
    review = await opened(reviews)
    await reviews.answer(review.id, TEAM, "mia", [ReviewAnswer(item=0, passed=True)])
    await reviews.answer(review.id, TEAM, "mia", [ReviewAnswer(item=0, passed=False, note="no")])
    item = (await reviews.get(review.id, TEAM)).items[0]
    assert [one.passed for one in item.answers] == [False]
    item = (await reviews.get(review.id, TEAM, history=True)).items[0]
    assert [(one.passed, one.is_standing) for one in item.answers] == [
        (True, False),
        (False, True),
    ]
    assert item.passed is False


async def test_the_same_answer_again_changes_nothing(reviews: Reviews):
    review = await opened(reviews)
    first = await reviews.answer(review.id, TEAM, "mia", said(True))
    assert await reviews.answer(review.id, TEAM, "mia", said(True)) == first
    details = await reviews.get(review.id, TEAM, history=True)
    assert len(given(details)) == 1


async def test_a_review_that_is_done_takes_no_other_answer(reviews: Reviews, desk: Desk):
    review = await opened(reviews)
    await reviews.answer(review.id, TEAM, "mia", said(*[True] * 5))
    with pytest.raises(Conflict, match="is done, it accepts no more answers"):
        await reviews.answer(review.id, TEAM, "mia", said(False))
    with pytest.raises(Conflict):
        await reviews.answer(review.id, TEAM, "bob", said(True))
    # A request repeated because its response was lost is no mistake.
    again = await reviews.answer(review.id, TEAM, "mia", said(*[True] * 5))
    assert (again.status, len(desk.taken)) == ("done", 1)


async def test_a_refused_request_leaves_nothing_behind(reviews: Reviews):
    review = await opened(reviews)
    with pytest.raises(InvalidInput, match="no item 9"):
        await reviews.answer(
            review.id, TEAM, "mia", [*said(True), ReviewAnswer(item=9, passed=True)]
        )
    details = await reviews.get(review.id, TEAM, history=True)
    assert (given(details), details.review.revision) == ([], 0)


async def test_as_many_reviewers_as_are_needed_answer_every_item(reviews: Reviews, desk: Desk):
    review = await opened(reviews, reviewers_needed=2)
    left = await reviews.answer(review.id, TEAM, "mia", said(*[True] * 5))
    assert (left.status, left.answered_count) == ("open", 0)
    left = await reviews.answer(review.id, TEAM, "bob", said(True, True, True, False))
    assert (left.status, left.answered_count) == ("open", 4)
    rest = [ReviewAnswer(item=4, passed=False)]
    assert (await reviews.answer(review.id, TEAM, "bob", rest)).status == "done"
    (verdict,) = desk.taken
    assert verdict.score == 60  # two ties, and a tie fails
    agreement = (await reviews.get(review.id, TEAM)).agreement
    assert (agreement.shared_items, agreement.agreed_items) == (5, 3)
    assert agreement.pairs[0].kappa == 0.0


async def test_many_at_once_lose_no_answer_and_settle_once(reviews: Reviews, desk: Desk):
    review = await opened(reviews, reviewers_needed=3)
    await asyncio.gather(
        *(
            reviews.answer(review.id, TEAM, f"r{who}", [ReviewAnswer(item=item, passed=True)])
            for who in range(3)
            for item in range(5)
        )
    )
    details = await reviews.get(review.id, TEAM)
    assert (details.review.status, len(given(details))) == ("done", 15)
    assert [verdict.score for verdict in desk.taken] == [100]


async def test_the_number_of_reviewers_is_limited(reviews: Reviews):
    review = await opened(reviews)
    for who in range(MAX_REVIEWERS):
        await reviews.answer(review.id, TEAM, f"r{who}", said(True))
    with pytest.raises(Conflict, match="already has 25 reviewers"):
        await reviews.answer(review.id, TEAM, "late", said(True))
    await reviews.answer(review.id, TEAM, "r0", said(False))


async def test_a_review_without_a_handler_stays_answered_and_says_so(reviews: Reviews):
    subject = ReviewSubject(kind=SubjectKind.RUN, id="x", part="t:1")
    await reviews.open(new(subject=subject))
    (review,) = await reviews.list(TEAM)
    left = await reviews.answer(review.id, TEAM, "mia", said(*[True] * 5))
    assert left.status is ReviewStatus.ANSWERED
    assert "no handler for verdicts" in (left.trouble or "")


BOTH = {
    "type": "all_of",
    "all_of": [
        {"type": "checklist", "items": ITEMS},
        {"type": "judge_prompt", "prompt": "Is it a poem?"},
    ],
}


async def test_an_internal_error_keeps_the_answers_and_blocks_no_other_review(
    database: Database, desk: Desk
):
    async def broken(
        _standard: JudgePrompt, submission: Submission, _purpose: str | None
    ) -> Verdict:
        raise OverflowError("nobody thought of that")

    reviews = Reviews(database, Resources(judge=broken), {SubjectKind.TASK: desk.settle})
    poisoned = await opened(reviews, standard=BOTH)
    left = await reviews.answer(poisoned.id, TEAM, "mia", said(*[True] * 5, place=(0,)))
    assert left.status is ReviewStatus.ANSWERED
    assert "internal error" in (left.trouble or "")
    sound = await opened(reviews)
    await records.add_answers(database, sound.id, TEAM, "mia", said(*[True] * 5))
    settlement = await reviews.settle_answered()
    assert [one.id for one in settlement.waiting] == [poisoned.id]
    assert list(settlement.settled) == [sound.id]


async def test_two_concurrent_settlements_pay_for_one_verdict(database: Database, desk: Desk):
    calls = 0

    async def slow(
        _standard: JudgePrompt, _submission: Submission, _purpose: str | None
    ) -> Verdict:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.2)
        return Verdict(score=90, passed=True, reasoning="good", findings=())

    reviews = Reviews(database, Resources(judge=slow), {SubjectKind.TASK: desk.settle})
    review = await opened(reviews, standard=BOTH)
    await records.add_answers(database, review.id, TEAM, "mia", said(*[True] * 5, place=(0,)))
    one, other = await asyncio.gather(reviews.settle(review), reviews.settle_answered())
    assert one.status is ReviewStatus.DONE
    assert list(other.settled) == [review.id]
    assert (calls, len(desk.taken)) == (1, 1)


async def test_pages_list_the_longest_waiting_first(reviews: Reviews):
    for ident in range(5):
        await reviews.open(new(str(ident)))
    seen: list[str] = []
    after = None
    while page := await reviews.list(TEAM, limit=2, after=after):
        seen += [review.subject.id for review in page]
        after = page[-1].created_at, page[-1].id
    assert seen == ["0", "1", "2", "3", "4"]
    assert await reviews.list(TEAM, status=ReviewStatus.DONE) == []


async def test_cancelled_reviews_are_closed_and_others_are_not(
    reviews: Reviews, database: Database
):
    one, other = await opened(reviews), await opened(reviews)
    async with database.writing() as connection:
        await records.cancel_reviews(connection, SubjectKind.TASK, one.subject.id)
    counts, _ = await records.count_reviews(database, TEAM)
    assert counts == {"cancelled": 1, "open": 1}
    with pytest.raises(Conflict, match="cancelled"):
        await reviews.answer(one.id, TEAM, "mia", said(True))
    assert (await reviews.answer(other.id, TEAM, "mia", said(True))).answered_count == 1


async def test_a_watcher_gets_every_change(reviews: Reviews):
    async with aclosing(reviews.watch(TEAM)) as updates:
        assert (await anext(updates)).open == 0
        review = await opened(reviews)
        assert (await anext(updates)).open == 1
        await reviews.answer(review.id, TEAM, "mia", said(True))
        assert (await anext(updates)).open == 1
        rest = [ReviewAnswer(item=item, passed=True) for item in range(1, 5)]
        await reviews.answer(review.id, TEAM, "mia", rest)
        counts = await anext(updates)
        assert (counts.done, counts.open) == (1, 0)
