from hypothesis import given
from hypothesis import strategies as st

from arena.queue.job import MAX_QUEUE_LENGTH
from arena.runs.shard import MAX_ITEMS, Cutter, Shard, lanes, queue_of, shard_size

tests = st.lists(st.tuples(st.integers(1, 600), st.booleans()), min_size=1, max_size=60)


def cut(listed: list[tuple[int, bool]], size: int) -> list[Shard]:
    cutter = Cutter(size)
    shards = [
        shard
        for position, (trials, needs) in enumerate(listed)
        for shard in cutter.add(position, trials, needs_sandbox=needs)
    ]
    return [*shards, *cutter.rest()]


def items(shard: Shard, listed: list[tuple[int, bool]]) -> list[tuple[int, int]]:
    return [
        (position, trial)
        for position in range(shard.first_position, shard.last_position + 1)
        if listed[position][1] == shard.needs_sandbox
        for trial in shard.trials_of(listed[position][0])
    ]


@given(tests, st.integers(1, MAX_ITEMS))
def test_every_item_is_in_exactly_one_shard(listed: list[tuple[int, bool]], size: int):
    found = [item for shard in cut(listed, size) for item in items(shard, listed)]
    every = [(at, trial) for at, (count, _) in enumerate(listed) for trial in range(1, count + 1)]
    assert sorted(found) == every


@given(tests, st.integers(1, MAX_ITEMS))
def test_no_shard_is_larger_than_it_may_be(listed: list[tuple[int, bool]], size: int):
    for shard in cut(listed, size):
        assert 1 <= len(items(shard, listed)) <= size


@given(st.integers(1, 1000))
def test_the_lanes_of_a_run_ask_as_many_questions_as_it_may(concurrency: int):
    questions = lanes(concurrency)
    assert sum(questions) == concurrency
    assert min(questions) >= 1 and max(questions) <= 5


@given(st.integers(1, 1_000_000), st.integers(1, 1000))
def test_a_shard_keeps_its_lane_busy_and_does_not_last_for_ever(items: int, concurrency: int):
    size = shard_size(items, concurrency)
    assert max(lanes(concurrency)) <= size <= MAX_ITEMS


def test_a_small_run_is_spread_over_its_lanes():
    assert shard_size(100, 80) == 10  # 16 lanes of five questions
    assert shard_size(10, 4) == 12  # one lane
    assert shard_size(4000, 80) == 65


def test_queues_are_named_after_label_and_need():
    assert queue_of(None, needs_sandbox=False) == "shards"
    assert queue_of("gpu", needs_sandbox=True) == "code.gpu"
    long = queue_of("a" * 63, needs_sandbox=False)
    assert len(long) <= MAX_QUEUE_LENGTH and long != queue_of("b" * 63, needs_sandbox=False)
