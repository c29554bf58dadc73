"""Several agents side by side."""

from decimal import Decimal

import pytest

from arena.errors import InvalidInput
from arena.scoring.comparison import compare, find_winner
from arena.scoring.pair import Contender
from arena.scoring.trials import TrialCounts


def _contender(key: str, score: str | None, signs: str = "") -> Contender:
    return Contender(
        key=key,
        score=None if score is None else Decimal(score),
        tests=tuple(
            TrialCounts(test_id=f"t{place:02}", trials=1, passed=int(sign == "+"))
            for place, sign in enumerate(signs)
        ),
    )


def _known(*contenders: Contender) -> dict[str, Contender]:
    return {contender.key: contender for contender in contenders}


def test_a_clear_winner_is_significant() -> None:
    known = _known(_contender("a:1", "90", "+" * 10), _contender("b:1", "40", "++" + "-" * 8))
    comparison = compare(["b:1", "a:1"], known)
    assert comparison.winner == "a:1"
    assert comparison.significant
    assert [contender.key for contender in comparison.contenders] == ["b:1", "a:1"]
    (pair,) = comparison.pairs
    assert pair.difference == pytest.approx(-0.8)
    assert pair.adjusted_p_value == pair.p_value == 2 / 2**8


def test_a_winner_by_luck_is_not_significant() -> None:
    known = _known(_contender("a:1", "90", "+++-"), _contender("b:1", "80", "++--"))
    comparison = compare(["a:1", "b:1"], known)
    assert comparison.winner == "a:1"
    assert not comparison.significant


def test_a_winner_that_is_behind_on_the_common_tests_is_not_significant() -> None:
    # Ahead by its ratings, say, while the other passes clearly more tests.
    known = _known(_contender("a:1", "90", "-" * 8), _contender("b:1", "80", "+" * 8))
    comparison = compare(["a:1", "b:1"], known)
    assert comparison.winner == "a:1"
    assert comparison.pairs[0].significant
    assert not comparison.significant


def test_nobody_wins_a_tie() -> None:
    known = _known(_contender("a:1", "85.5", "+"), _contender("b:1", "85.50", "+"))
    comparison = compare(["a:1", "b:1"], known)
    assert comparison.winner is None
    assert not comparison.significant


def test_an_unknown_agent_is_named_and_takes_no_part() -> None:
    known = _known(_contender("a:1", "10", "+"), _contender("b:1", "5", "+"))
    comparison = compare(["ghost:2", "a:1", "b:1"], known)
    assert comparison.unknown == ("ghost:2",)
    assert comparison.winner == "a:1"
    assert len(comparison.pairs) == 1


def test_with_one_known_agent_nobody_wins() -> None:
    comparison = compare(["a:1", "ghost:2"], _known(_contender("a:1", "10", "+")))
    assert comparison.winner is None
    assert comparison.pairs == ()


def test_without_common_tests_the_winner_is_not_significant() -> None:
    known = _known(_contender("a:1", "90", "+++++++"), _contender("b:1", "10"))
    comparison = compare(["a:1", "b:1"], known)
    assert comparison.winner == "a:1"
    assert not comparison.significant
    assert comparison.pairs[0].p_value is None


def test_several_pairs_are_adjusted_for_their_number() -> None:
    known = _known(
        _contender("a:1", "90", "+" * 7 + "+"),
        _contender("b:1", "50", "-" * 7 + "+"),
        _contender("c:1", "40", "-" * 7 + "-"),
        _contender("d:1", "30"),  # ran nothing: not tested, so not counted either
    )
    comparison = compare(["a:1", "b:1", "c:1", "d:1"], known)
    values = {(p.first, p.second): (p.p_value, p.adjusted_p_value) for p in comparison.pairs}
    assert values["a:1", "b:1"] == (2 / 2**7, 2 * (2 / 2**7))
    assert values["a:1", "c:1"] == (2 / 2**8, 3 * (2 / 2**8))
    assert values["b:1", "c:1"] == (1.0, 1.0)
    assert values["a:1", "d:1"] == (None, None)
    assert not comparison.significant  # nothing is known of a:1 against d:1
    assert compare(["a:1", "b:1", "c:1"], known).significant


def test_an_agent_named_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="compared with itself: a:1"):
        compare(["a:1", "a:1"], {})


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ({"a": "2", "b": "1"}, "a"),
        ({"a": "1", "b": "2", "c": None}, "b"),
        ({"a": "2", "b": "2", "c": "1"}, None),
        ({"a": "2", "b": "1", "c": "1"}, "a"),  # a tie behind the winner takes nothing from it
        ({"a": "2", "b": None}, None),
        ({}, None),
    ],
)
def test_the_winner_has_the_one_highest_score(
    scores: dict[str, str | None], winner: str | None
) -> None:
    assert find_winner({k: v if v is None else Decimal(v) for k, v in scores.items()}) == winner
