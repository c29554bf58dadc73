from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.market.agents import Applicant, Reputation, ranked
from arena.market.money import EntryKind, NewEntry, Posting

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def one(name: str, judged: int, wins: int, average: int = 80, late: int = 0) -> Applicant:
    known = Reputation(attempts=judged, judged=judged, wins=wins, score_sum=average * judged)
    at = NOON + timedelta(seconds=late)
    return Applicant(agent=name, version="1.0.0", applied_at=at, reputation=known)


@pytest.mark.parametrize(
    "order",
    [
        # fifty good ones beat one lucky task
        [one("steady", 50, 48), one("lucky", 1, 1)],
        # the same record: the better average
        [one("careful", 4, 4, average=95), one("quick", 4, 4, average=70)],
        # the same in all: who came first, then the name
        [one("zoe", 2, 1, late=1), one("amy", 2, 1, late=2)],
        [one("amy", 0, 0), one("zoe", 0, 0)],
        # something is better than nothing, nothing is better than failure only by time
        [one("some", 3, 1), one("none", 0, 0)],
    ],
    ids=lambda order: f"{order[0].agent} before {order[1].agent}",
)
def test_applicants_are_ranked_by_judged_work(order: list[Applicant]):
    for given_order in (order, order[::-1]):
        assert [(x.agent, x.rank) for x in ranked(given_order)] == [
            (order[0].agent, 1),
            (order[1].agent, 2),
        ]


def test_without_judged_work_there_is_no_number():
    known = Reputation(attempts=3)
    assert (known.average_score, known.win_rate) == (None, None)


def test_the_average_is_over_all_judged_tasks_and_the_win_rate_over_those_decided():
    known = Reputation(attempts=5, judged=3, score_sum=60 + 0 + 100, wins=2, no_shows=1)
    assert known.average_score == pytest.approx(160 / 3)
    assert known.win_rate == 2 / 4


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(-9, 9)), max_size=5))
def test_an_entry_sums_to_zero_or_is_none(parts: list[tuple[str, int]]):
    postings = tuple(Posting(account=name, amount=amount) for name, amount in parts)
    if parts and sum(amount for _, amount in parts) == 0:
        assert NewEntry(kind=EntryKind.LOCK, postings=postings).postings == postings
    else:
        with pytest.raises(ValueError, match="zero"):
            NewEntry(kind=EntryKind.LOCK, postings=postings)
