"""Places on the leaderboard, with the range of places that the intervals allow.

Competition ranking: equal scores share the better place and the next place counts them all (1, 1,
3). The range tells how sure a place is: `rank_low` counts only those who are better beyond their
intervals, `rank_high` all but those who are worse beyond them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from arena.errors import InvalidInput
from arena.scoring.intervals import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One agent version to be ranked."""

    key: str
    """Identifies the entry, as `agent:version`; also decides the order between equals."""
    score: Decimal | None
    """The overall score as shown: two entries that read the same are equal."""
    interval: Interval | None = None
    """None where a score's uncertainty is not known: it then excludes no place."""
    provisional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an entry stands; the ranks are None where it has no score."""

    entry: Entry
    rank: int | None
    rank_low: int | None
    """The best place that the intervals allow."""
    rank_high: int | None
    """The worst place that they allow."""

    @property
    def is_tied_with_others(self) -> bool:
        """Whether the intervals leave more than one place open."""
        return self.rank_low != self.rank_high


def rank(entries: Iterable[Entry]) -> list[Place]:
    """The entries in order: best score first, equals by key, those without a score last."""
    listed = sorted(entries, key=lambda entry: entry.key)
    keys = [entry.key for entry in listed]
    if len(set(keys)) < len(keys):
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise InvalidInput(f"ranked twice: {', '.join(twice)}; give each entry once")
    scored = [(entry, entry.score) for entry in listed if entry.score is not None]
    scored.sort(key=lambda pair: pair[1], reverse=True)
    places = _places(scored)
    unscored = (entry for entry in listed if entry.score is None)
    return places + [Place(entry=e, rank=None, rank_low=None, rank_high=None) for e in unscored]


def _places(scored: list[tuple[Entry, Decimal]]) -> list[Place]:
    count = len(scored)
    # Sorted limits make each range two look-ups, so a board of thousands stays quick.
    scores = sorted(score for _, score in scored)
    spans = [_span(entry, score) for entry, score in scored]
    lows = sorted(low for low, _ in spans)
    highs = sorted(high for _, high in spans)
    return [
        Place(
            entry=entry,
            rank=1 + count - bisect_right(scores, score),
            rank_low=1 + count - bisect_right(lows, high),
            rank_high=count - bisect_left(highs, low),
        )
        for (entry, score), (low, high) in zip(scored, spans, strict=True)
    ]


def _span(entry: Entry, score: Decimal) -> tuple[float, float]:
    if entry.interval is None:
        return float("-inf"), float("inf")
    # An interval rounded by somebody else may miss its own score by a hair; ranks must not.
    return min(entry.interval.low, float(score)), max(entry.interval.high, float(score))
