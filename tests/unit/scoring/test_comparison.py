"""Several agents side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import InvalidInput
from arena.scoring.board import BoardEntry, Intervals
from arena.scoring.comparison import Contender, compare, compare_pair, find_winner
from arena.scoring.scorecard import Evidence, scorecard
from arena.scoring.significance import sign_flip_p_value
from arena.scoring.trials import TrialCounts


def _entry(name: str, score: float | None) -> BoardEntry:
    agent_id, _, version = name.partition(":")
    return BoardEntry(
        rank=None,
        rank_low=None,
        rank_high=None,
        agent_id=agent_id,
        agent_version=version,
        overall_score=score,
        benchmark_score=None,
        user_rating_score=None,
        success_rate_score=None,
        cost_efficiency_score=None,
        avg_user_rating=None,
        coverage=0.0,
        provisional=True,
        feedback_count=0,
        execution_count=0,
        benchmark_run_id=None,
        intervals=Intervals.of_card(scorecard(Evidence())),
    )


def _contender(
    name: str, score: str | None, signs: str = ""
) -> tuple[BoardEntry, list[TrialCounts]]:
    return _entry(name, None if score is None else float(score)), [
        TrialCounts(test_id=f"t{place:02}", trials=1, passed=int(sign == "+"))
        for place, sign in enumerate(signs)
    ]


def _known(
    *contenders: tuple[BoardEntry, list[TrialCounts]],
) -> dict[str, tuple[BoardEntry, list[TrialCounts]]]:
    return {entry.name: (entry, tests) for entry, tests in contenders}


def test_a_clear_winner_is_significant() -> None:
    known = _known(_contender("a:1", "90", "+" * 10), _contender("b:1", "40", "++" + "-" * 8))
    comparison = compare(["b:1", "a:1"], known)
    assert (comparison.winner, comparison.winner_version) == ("a", "1")
    assert comparison.significant
    assert [entry.name for entry in comparison.comparison] == ["b:1", "a:1"]
    (pair,) = comparison.pairs
    assert pair.difference == pytest.approx(-0.8)
    assert pair.adjusted_p_value == pair.p_value == 2 / 2**8


def test_a_winner_on_too_few_differing_tests_is_not_significant() -> None:
    known = _known(_contender("a:1", "90", "+++-"), _contender("b:1", "80", "++--"))
    comparison = compare(["a:1", "b:1"], known)
    assert (comparison.winner, comparison.winner_version) == ("a", "1")
    assert not comparison.significant


def test_a_winner_that_is_behind_on_the_common_tests_is_not_significant() -> None:
    # Ahead by its ratings, say, while the other passes clearly more tests.
    known = _known(_contender("a:1", "90", "-" * 8), _contender("b:1", "80", "+" * 8))
    comparison = compare(["a:1", "b:1"], known)
    assert (comparison.winner, comparison.winner_version) == ("a", "1")
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
    assert comparison.unknown == ["ghost:2"]
    assert (comparison.winner, comparison.winner_version) == ("a", "1")
    assert len(comparison.pairs) == 1


def test_with_one_known_agent_nobody_wins() -> None:
    comparison = compare(["a:1", "ghost:2"], _known(_contender("a:1", "10", "+")))
    assert comparison.winner is None
    assert comparison.pairs == []


def test_without_common_tests_the_winner_is_not_significant() -> None:
    known = _known(_contender("a:1", "90", "+++++++"), _contender("b:1", "10"))
    comparison = compare(["a:1", "b:1"], known)
    assert (comparison.winner, comparison.winner_version) == ("a", "1")
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
    entries = [_entry(f"{name}:1", score and float(score)) for name, score in scores.items()]
    found = find_winner(entries)
    assert (found and found.agent_id) == winner


def contender(key: str, **tests: str) -> Contender:
    """An agent with a word like `++-` per test: a sign per trial."""
    return Contender(
        name=key,
        tests=tuple(
            TrialCounts(
                test_id=name,
                trials=len(signs),
                passed=signs.count("+"),
                passed_trials=frozenset(n for n, sign in enumerate(signs, start=1) if sign == "+"),
            )
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
    assert (pair.only_first, pair.only_second) == (["also", "mine"], ["theirs"])


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
    # Of the first two trials of each: +- ++ -- against ++ ++ +-.
    assert pair.p_value == sign_flip_p_value([-1, 0, -1])
    assert pair.interval is not None
    assert 0 in pair.interval


def test_a_test_listed_twice_is_refused() -> None:
    once = TrialCounts(test_id="t", trials=1, passed=1)
    with pytest.raises(InvalidInput, match="a: a test is listed twice"):
        compare_pair(Contender(name="a", tests=(once, once)), row("b", "+"))


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
    # The interval is in per cent, to two decimals.
    assert one.interval.low - 0.005 <= 100 * one.difference <= one.interval.high + 0.005
    assert one.interval.low == -two.interval.high
    assert not one.significant or one.differing


@given(signs)
def test_an_agent_does_not_differ_from_itself(tests: dict[str, str]) -> None:
    pair = compare_pair(contender("a", **tests), contender("b", **tests))
    assert pair.differing == []
    assert not pair.significant
    assert pair.p_value in (None, 1.0)


def test_an_edited_test_is_another_test() -> None:
    old = TrialCounts(test_id="t", digest="1", trials=1, passed=1)
    new = TrialCounts(test_id="t", digest="2", trials=1, passed=0)
    pair = compare_pair(Contender(name="a", tests=[old]), Contender(name="b", tests=[new]))
    assert (pair.common_tests, pair.only_first, pair.only_second) == (0, ["t"], ["t"])


def clustered(key: str, signs: str, clusters: str) -> Contender:
    """An agent with single trials of tests whose cluster is a letter; a dot: its own."""
    return Contender(
        name=key,
        tests=[
            TrialCounts(
                test_id=f"t{place:02}", trials=1, passed=int(sign == "+"), cluster=name.strip(".")
            )
            for place, (sign, name) in enumerate(zip(signs, clusters, strict=True))
        ],
    )


def test_tests_of_one_cluster_count_once() -> None:
    ours, theirs = "+" * 10, "-" * 8 + "++"
    assert compare_pair(
        clustered("a", ours, "." * 10), clustered("b", theirs, "." * 10)
    ).significant
    pair = compare_pair(clustered("a", ours, "aaaabbbb.."), clustered("b", theirs, "aaaabbbb.."))
    assert (pair.common_tests, pair.clusters) == (10, 4)
    assert pair.difference == 0.8
    assert pair.p_value == 0.5
    assert not pair.significant


def test_a_cluster_that_only_one_side_names_joins_its_tests_too() -> None:
    pair = compare_pair(clustered("a", "++++++", "aaa..."), clustered("b", "------", "..bb.."))
    assert pair.clusters == 3


many = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("abcdefgh")),
    min_size=1,
    max_size=12,
)
"""Passes of three trials by both, and a cluster."""


def copied(tests: list[tuple[int, int, str]], times: int = 1) -> tuple[Contender, Contender]:
    one, two = (
        Contender(
            name=name,
            tests=[
                TrialCounts(test_id=f"{place} {copy}", trials=3, passed=row[side], cluster=row[2])
                for place, row in enumerate(tests)
                for copy in range(times)
            ],
        )
        for side, name in enumerate("ab")
    )
    return one, two


@given(many, st.integers(2, 10))
def test_copies_of_every_test_change_neither_interval_nor_p_value(
    tests: list[tuple[int, int, str]], times: int
) -> None:
    plain, more = compare_pair(*copied(tests)), compare_pair(*copied(tests, times))
    assert (more.p_value, more.interval) == (plain.p_value, plain.interval)
    assert (more.difference, more.clusters) == (plain.difference, plain.clusters)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1), st.integers(2, 20))
def test_copies_of_one_test_never_narrow_the_interval(
    rates: list[tuple[int, int]], times: int
) -> None:
    tests = [(one, two, str(place)) for place, (one, two) in enumerate(rates)]
    plain = compare_pair(*copied(tests)).interval
    more = compare_pair(*copied([*tests, *[tests[0]] * (times - 1)])).interval
    assert plain is not None
    assert more is not None
    assert more.width >= plain.width - 0.02  # both limits are rounded to two decimals


@given(many)
def test_swapping_clustered_agents_turns_every_number_round(
    tests: list[tuple[int, int, str]],
) -> None:
    ours, theirs = copied(tests)
    one, two = compare_pair(ours, theirs), compare_pair(theirs, ours)
    assert one.p_value == two.p_value
    assert one.p_value is not None
    assert 0 <= one.p_value <= 1
    assert (one.power, one.clusters) == (two.power, two.clusters)
    assert one.interval is not None
    assert two.interval is not None
    assert one.difference is not None
    assert one.interval.low == -two.interval.high
    assert one.interval.low - 0.005 <= 100 * one.difference <= one.interval.high + 0.005


def test_clustered_tests_with_many_numbers_of_trials_are_compared_too() -> None:
    # The common denominator of these rates has hundreds of digits.
    ours, theirs = (
        Contender(
            name=name,
            tests=[
                TrialCounts(
                    test_id=str(trials),
                    trials=trials,
                    passed=trials * share // 100,
                    cluster=str(int(trials**0.5)),
                )
                for trials in range(2, 500)
            ],
        )
        for name, share in (("a", 60), ("b", 40))
    )
    pair = compare_pair(ours, theirs)
    assert (pair.clusters, pair.significant) == (22, True)
    assert pair.interval is not None
    assert 0 < pair.interval.low < 20 < pair.interval.high
    assert pair.power is not None
    assert pair.power.detectable_difference is not None
