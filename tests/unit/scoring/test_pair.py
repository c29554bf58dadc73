"""Two agents test by test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.pair import Contender, compare_pair
from arena.scoring.trials import TrialCounts


def contender(key: str, **tests: str) -> Contender:
    """An agent with a word like `++-` per test: a sign per trial."""
    return Contender(
        key=key,
        score=None,
        tests=tuple(
            TrialCounts(test_id=name, trials=len(signs), passed=signs.count("+"))
            for name, signs in tests.items()
        ),
    )


def row(key: str, signs: str) -> Contender:
    """An agent with single trials of the tests t00, t01, ..."""
    return contender(key, **{f"t{place:02}": sign for place, sign in enumerate(signs)})


def test_the_tests_that_differ_are_listed() -> None:
    pair = compare_pair(row("a", "++-+"), row("b", "+-++"))
    assert [difference.test_id for difference in pair.differing] == ["t01", "t02"]
    assert (pair.difference, pair.p_value, pair.ahead) == (0, 1.0, None)
    assert not pair.significant


def test_only_tests_that_both_ran_count() -> None:
    pair = compare_pair(
        contender("a", shared="+", mine="+", also="+"), contender("b", shared="+", theirs="-")
    )
    assert pair.common_tests == 1
    assert (pair.first_pass_rate, pair.second_pass_rate) == (1, 1)
    assert (pair.only_first, pair.only_second) == (("also", "mine"), ("theirs",))


def test_without_a_common_test_nothing_is_claimed() -> None:
    pair = compare_pair(contender("a", mine="+"), contender("b", theirs="-"))
    assert pair.common_tests == 0
    assert pair.first_pass_rate is pair.difference is pair.interval is pair.p_value is None
    assert not pair.significant
    assert pair.ahead is None


def test_five_tests_cannot_be_significant_and_six_can() -> None:
    assert not compare_pair(row("a", "+++++"), row("b", "-----")).significant
    assert compare_pair(row("a", "++++++"), row("b", "------")).significant


def test_trials_are_compared_by_their_rates() -> None:
    # One agent has two trials a test, the other four: 1 of 2 and 2 of 4 are the same.
    pair = compare_pair(
        contender("a", same="+-", better="++", worse="--"),
        contender("b", same="++--", better="+++-", worse="+---"),
    )
    assert [difference.test_id for difference in pair.differing] == ["better", "worse"]
    assert pair.difference == 0
    assert pair.p_value == 1.0
    assert pair.interval is not None
    assert 0 in pair.interval


def test_a_test_listed_twice_is_refused() -> None:
    once = TrialCounts(test_id="t", trials=1, passed=1)
    with pytest.raises(InvalidInput, match="a: a test is listed twice"):
        compare_pair(Contender(key="a", score=None, tests=(once, once)), row("b", "+"))


signs = st.dictionaries(
    st.sampled_from("abcdefghij"), st.text("+-", min_size=1, max_size=4), max_size=10
)


@given(signs, signs)
def test_swapping_the_two_turns_every_number_round(
    ours: dict[str, str], theirs: dict[str, str]
) -> None:
    one = compare_pair(contender("a", **ours), contender("b", **theirs))
    two = compare_pair(contender("b", **theirs), contender("a", **ours))
    assert (one.p_value, one.common_tests, one.ahead) == (two.p_value, two.common_tests, two.ahead)
    assert (one.only_first, one.only_second) == (two.only_second, two.only_first)
    assert [d.test_id for d in one.differing] == [d.test_id for d in two.differing]
    if one.difference is None or two.difference is None:
        return
    assert one.interval is not None
    assert two.interval is not None
    assert one.difference == -two.difference
    assert one.difference in one.interval
    assert one.interval.low == pytest.approx(-two.interval.high)
    assert not one.significant or one.differing


@given(signs)
def test_an_agent_does_not_differ_from_itself(tests: dict[str, str]) -> None:
    pair = compare_pair(contender("a", **tests), contender("b", **tests))
    assert pair.differing == ()
    assert not pair.significant
    assert pair.p_value in (None, 1.0)
