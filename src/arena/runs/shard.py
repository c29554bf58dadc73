"""How a queued run is cut into shards, and how many of them are in the queue at once."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from arena.queue.job import queue_name

LANE_QUESTIONS = 5
"""Questions that one shard asks at once, at most."""
LANE_SHARDS = 4
"""Shards that follow each other in a lane, at least, if the run is long enough."""
LANE_ROUNDS = 4
"""Questions per shard and place in its lane: with fewer, most places would wait for the last."""
MAX_ITEMS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Some items of a run: those of the tests between two positions, all or some of their trials.

    All of them need a sandbox, or none does; the other tests between the positions are not its own.
    """

    first_position: int
    last_position: int
    first_trial: int = 1
    last_trial: int | None = None
    """None: every trial."""
    needs_sandbox: bool = False

    def trials_of(self, trials: int) -> range:
        """Its trials of a test that has so many."""
        last = trials if self.last_trial is None else min(trials, self.last_trial)
        return range(self.first_trial, last + 1)


def lanes(concurrency: int) -> list[int]:
    """How many shards of a run may be in the queue at once, and how many questions each asks.

    Few: a run with thousands of shards must not keep others waiting. A lane goes on with the next
    shard when its own is done, at the end of the queue.
    """
    count = math.ceil(concurrency / LANE_QUESTIONS)
    share, rest = divmod(concurrency, count)
    return [share + (lane < rest) for lane in range(count)]


def shard_size(items: int, concurrency: int) -> int:
    """How many items a shard has, at most."""
    questions = lanes(concurrency)
    per_lane = math.ceil(items / len(questions))
    most = max(questions)
    size = max(most, min(LANE_ROUNDS * most, per_lane), math.ceil(per_lane / LANE_SHARDS))
    # Whole rounds: in the last one, no place of the lane waits for the others.
    return min(most * math.ceil(size / most), MAX_ITEMS)


@dataclass(slots=True)
class _Open:
    first: int
    last: int
    items: int


@dataclass(slots=True)
class Cutter:
    """Cuts the tests of a run into shards, test by test in the order of their positions."""

    size: int
    _open: dict[bool, _Open] = field(default_factory=dict[bool, _Open])

    def add(self, position: int, trials: int, *, needs_sandbox: bool) -> Iterator[Shard]:
        """Add a test; yields the shards that are full."""
        if trials > self.size:
            # Between the positions of a shard are only its own tests of this kind.
            if needs_sandbox in self._open:
                yield self._closed(needs_sandbox)
            yield from _by_trials(position, trials, self.size, needs_sandbox=needs_sandbox)
            return
        part = self._open.get(needs_sandbox)
        if part is not None and part.items + trials > self.size:
            yield self._closed(needs_sandbox)
            part = None
        if part is None:
            part = self._open[needs_sandbox] = _Open(position, position, 0)
        part.last = position
        part.items += trials

    def rest(self) -> Sequence[Shard]:
        """The last shards."""
        return [self._closed(needs_sandbox) for needs_sandbox in list(self._open)]

    def _closed(self, needs_sandbox: bool) -> Shard:
        part = self._open.pop(needs_sandbox)
        return Shard(
            first_position=part.first, last_position=part.last, needs_sandbox=needs_sandbox
        )


def _by_trials(position: int, trials: int, size: int, *, needs_sandbox: bool) -> Iterator[Shard]:
    """The shards of one test with many trials."""
    for first in range(1, trials + 1, size):
        yield Shard(
            first_position=position,
            last_position=position,
            first_trial=first,
            last_trial=min(first + size - 1, trials),
            needs_sandbox=needs_sandbox,
        )


def queue_of(label: str | None, *, needs_sandbox: bool) -> str:
    """The queue of shards for workers with this label (None: any), with a sandbox if needed."""
    return queue_name("code" if needs_sandbox else "shards", *([label] if label else []))
