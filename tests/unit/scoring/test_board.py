"""Places, shared places and the places that the intervals allow."""

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.board import Candidate, Ranked, rank
from arena.scoring.intervals import Interval


def _entry(key: str, score: str | None, low: float | None = None, high: float = 100) -> Candidate:
    return Candidate(
        key=key,
        score=None if score is None else Decimal(score),
        interval=None
        if low is None
        else Interval(low=low, high=high, method="wilson", confidence=0.95),
    )


def _ranks(places: list[Ranked]) -> list[tuple[str, int | None]]:
    return [(place.candidate.key, place.rank) for place in places]


def test_equal_scores_share_a_place_and_the_next_place_counts_them() -> None:
    board = rank([_entry("c", "70"), _entry("b", "85.5"), _entry("a", "85.50"), _entry("d", "90")])
    assert _ranks(board) == [("d", 1), ("a", 2), ("b", 2), ("c", 4)]


def test_entries_without_a_score_come_last_and_have_no_place() -> None:
    board = rank([_entry("z", None), _entry("a", None), _entry("m", "0")])
    assert _ranks(board) == [("m", 1), ("a", None), ("z", None)]
    assert board[1].rank_low is board[1].rank_high is None
    assert board[0].rank_high == 1  # those without a score take no place


def test_the_range_counts_only_intervals_that_do_not_touch() -> None:
    board = rank(
        [
            _entry("top", "95", 90, 99),
            _entry("middle", "85", 80, 91),  # reaches into top's interval
            _entry("low", "60", 50, 80),  # touches middle's interval at 80
            _entry("bottom", "10", 5, 20),
        ]
    )
    ranges = {p.candidate.key: (p.rank_low, p.rank, p.rank_high) for p in board}
    assert ranges == {
        "top": (1, 1, 2),
        "middle": (1, 2, 3),
        "low": (2, 3, 3),
        "bottom": (4, 4, 4),
    }


def test_a_score_without_an_interval_excludes_no_place() -> None:
    board = rank([_entry("a", "90", 89, 91), _entry("b", "10"), _entry("c", "50", 49, 51)])
    ranges = {p.candidate.key: (p.rank_low, p.rank_high) for p in board}
    assert ranges == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


def test_an_entry_given_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="ranked twice: a;"):
        rank([_entry("a", "1"), _entry("a", "2"), _entry("b", "2")])


def test_an_empty_board_is_empty() -> None:
    assert rank([]) == []


@st.composite
def boards(draw: st.DrawFn) -> list[Candidate]:
    keys = draw(st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=12))
    entries: list[Candidate] = []
    for key in keys:
        cents = draw(st.none() | st.integers(0, 20).map(lambda step: step * 500))
        interval = None
        if cents is not None and draw(st.booleans()):
            below, above = draw(st.tuples(st.integers(0, 30), st.integers(0, 30)))
            interval = Interval(
                low=cents / 100 - below, high=cents / 100 + above, method="wilson", confidence=0.95
            )
        score = None if cents is None else Decimal(cents).scaleb(-2)
        entries.append(Candidate(key=key, score=score, interval=interval))
    return entries


@given(boards(), st.randoms(use_true_random=False))
def test_places_follow_from_their_definition(entries: list[Candidate], random: Random) -> None:
    board = rank(entries)
    scored = [entry for entry in entries if entry.score is not None]
    shuffled = entries.copy()
    random.shuffle(shuffled)
    assert rank(shuffled) == board
    for place in board:
        mine = place.candidate
        if mine.score is None:
            assert place.rank is None
            continue
        assert place.rank == 1 + sum(other.score > mine.score for other in scored if other.score)
        surely_better = sum(_lies_above(other, mine) for other in scored)
        surely_worse = sum(_lies_above(mine, other) for other in scored)
        assert place.rank_low == 1 + surely_better
        assert place.rank_high == len(scored) - surely_worse
        assert place.rank_low <= place.rank <= place.rank_high
    ranks = [place.rank for place in board if place.rank is not None]
    assert ranks == sorted(ranks)


def _lies_above(one: Candidate, other: Candidate) -> bool:
    if one.interval is None or other.interval is None:
        return False
    return one.interval.low > other.interval.high
