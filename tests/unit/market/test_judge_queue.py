"""The order in which a judge takes tasks: fair between parties, then by the end of the window."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from arena.amounts import Amount
from arena.market.judge_queue import JudgeQueue, newcomers, parties, to_give_up
from arena.market.task import Task, TaskState

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def submitted(number: int, agent: str = "solver", poster: str = "ann", window: int = 600) -> Task:
    return Task(
        id=number,
        team_id="red",
        poster=poster,
        description="x",
        evaluation_cid="bafy",
        reward=Amount(1),
        deadline=START,
        judge="jim",
        judge_window_seconds=window,
        state=TaskState.SUBMITTED,
        posted_at=START,
        agent=agent,
        submitted_at=START,
    )


def test_the_earliest_end_of_a_window_is_first():
    late, early = submitted(1, "a", "p", window=900), submitted(2, "b", "q", window=60)
    assert JudgeQueue("jim").choose([late, early], []) == early


def test_the_fallback_judge_goes_by_its_own_window():
    terms = {"fallback_judge": "fay", "judge_window_seconds": 60}
    late = replace(submitted(1, "a", "p"), **terms, fallback_window_seconds=900)
    early = replace(submitted(2, "b", "q"), **terms, fallback_window_seconds=60)
    assert JudgeQueue("fay").choose([late, early], []) == early


def test_one_who_holds_a_place_waits_for_those_who_hold_none():
    in_work = [submitted(1, "greedy", "ann")]
    again = submitted(2, "greedy", "bob", window=60)
    of_the_same_poster = submitted(3, "other", "ann", window=60)
    honest = submitted(4, "honest", "carl", window=900)
    queue = JudgeQueue("jim")
    assert queue.choose([again, of_the_same_poster, honest], in_work) == honest
    assert queue.choose([again], in_work) == again  # nobody else waits


def test_with_one_place_parties_take_turns():
    queue = JudgeQueue("jim")
    flood = [submitted(n, "greedy", "ann", window=60) for n in range(1, 6)]
    honest = submitted(9, "honest", "carl", window=900)
    queue.begin(flood[0])
    assert queue.choose([*flood[1:], honest], []) == honest


TASKS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(60, 900)), max_size=12
).map(lambda rows: [submitted(n, a, p, w) for n, (a, p, w) in enumerate(rows, start=1)])


@given(TASKS, st.integers(1, 4))
def test_nobody_holds_two_places_while_somebody_without_one_waits(tasks: list[Task], places: int):
    queue, in_work, waiting = JudgeQueue("jim"), [], list(tasks)
    while waiting:
        # Everything in work ends sooner or later; the longest in work first.
        if len(in_work) == places:
            in_work.pop(0)
        while newcomers(waiting, in_work) and (extra := to_give_up(in_work)):
            in_work.remove(extra)
            waiting.append(extra)
        chosen = queue.choose(waiting, in_work)
        assert chosen is not None
        had_newcomers = newcomers(waiting, in_work)
        assert not had_newcomers or chosen in had_newcomers
        queue.begin(chosen)
        waiting.remove(chosen)
        in_work.append(chosen)
        holders = [party for task in in_work for party in parties(task)]
        if newcomers(waiting, in_work) and len(in_work) == places and had_newcomers:
            assert len(holders) == len(set(holders))
    assert queue.choose([], in_work) is None
