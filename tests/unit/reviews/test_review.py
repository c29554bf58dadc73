from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.evaluation.standard import Checklist
from arena.evaluation.verdict import Submission
from arena.reviews.case import NewReview, check_items, decide, dotted_place, place_of
from arena.reviews.review import ReviewAnswer, ReviewSubject, StandingAnswer, SubjectKind

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LISTS = {(1, 0): Checklist(items=("a", "b")), (2,): Checklist(items=("c",))}


def recorded(passed: bool, reviewer: str = "mia", note: str = "") -> StandingAnswer:
    return StandingAnswer(
        reviewer=reviewer, passed=passed, note=note, is_standing=True, created_at=NOW
    )


@pytest.mark.parametrize(
    ("answers", "passed"),
    [
        ([True], True),
        ([False], False),
        ([True, True, False], True),
        ([True, False], False),  # a tie fails
        ([True, True, False, False], False),
        ([True, False, False], False),
    ],
)
def test_the_majority_decides_and_a_tie_fails(answers: list[bool], passed: bool):
    decided = decide([recorded(one, f"r{n}") for n, one in enumerate(answers)])
    assert decided is not None and decided.passed is passed


def test_one_note_stands_alone_and_several_name_their_reviewers():
    alone = decide([recorded(False, note="too long")])
    assert alone is not None and (alone.note, alone.reviewer) == ("too long", "mia")
    both = decide([recorded(False, note="too long"), recorded(False, "bob", note="dull")])
    assert both is not None
    assert (both.note, both.reviewer) == ("mia: too long; bob: dull", "mia, bob")


def test_without_answers_there_is_no_decision():
    assert decide([]) is None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            ReviewAnswer(item=2, passed=True, place=(1, 0)),
            r"no item 2 in part 1\.0: its items are 0 to 1",
        ),
        (ReviewAnswer(item=-1, passed=True, place=(2,)), "no item -1 in part 2"),
        (
            ReviewAnswer(item=0, passed=True),
            r"no checklist at place \[\]; there is one at: \[1, 0\], \[2",
        ),
        (ReviewAnswer(item=0, passed=True, place=(1,)), r"no checklist at place \[1\]"),
    ],
)
def test_an_unknown_item_is_refused(answer: ReviewAnswer, message: str):
    with pytest.raises(InvalidInput, match=message):
        check_items(LISTS, [answer])


def test_an_item_is_answered_once_in_a_request():
    twice = [ReviewAnswer(item=0, passed=one, place=(2,)) for one in (True, False)]
    with pytest.raises(InvalidInput, match="item 0 in part 2 is answered twice"):
        check_items(LISTS, twice)
    check_items(LISTS, twice[:1])


@given(st.lists(st.integers(0, 10**6), max_size=8).map(tuple))
def test_a_place_survives_being_written_down(place: tuple[int, ...]):
    assert place_of(dotted_place(place)) == place


def new(standard: dict[str, object]) -> NewReview:
    return NewReview(
        team_id="t",
        subject=ReviewSubject(kind=SubjectKind.TASK, id="1"),
        title="",
        prompt="",
        standard=standard,
        submission=Submission(output="x"),
    )


def test_the_items_of_every_part_are_counted():
    lists = [{"type": "checklist", "items": ["a", "b"]}, {"type": "checklist", "items": ["c"]}]
    assert new({"type": "all_of", "all_of": lists}).item_count == 3


def test_a_standard_without_a_checklist_needs_no_people():
    with pytest.raises(InvalidInput, match="no checklist"):
        _ = new({"type": "contains", "contains": ["a"]}).item_count
