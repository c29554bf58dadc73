"""From votes to one score: pure arithmetic, which anybody can do again from the stored votes."""

import math
from collections.abc import Mapping, Sequence

from arena.evaluation.judgement import Vote

RULE = "lower median"
"""Of an even number of votes the lower of the two in the middle: a tie is never generous."""


def lower_median(scores: Sequence[int]) -> int:
    """The middle score; of two in the middle the lower one."""
    return sorted(scores)[(len(scores) - 1) // 2]


def medians(criteria: Sequence[str], votes: Sequence[Vote]) -> dict[str, int]:
    """The score of each criterion."""
    return {name: lower_median([vote.scores[name] for vote in votes]) for name in criteria}


def spreads(criteria: Sequence[str], votes: Sequence[Vote]) -> dict[str, int]:
    """How far apart the votes on each criterion are."""
    given = {name: [vote.scores[name] for vote in votes] for name in criteria}
    return {name: max(scores) - min(scores) for name, scores in given.items()}


def weighted_total(
    criteria: Sequence[str], weights: Sequence[float], scores: Mapping[str, int]
) -> float:
    """The weighted mean of the scores, without the dust of binary fractions."""
    pairs = zip(criteria, weights, strict=True)
    total = math.fsum(scores[name] * weight for name, weight in pairs)
    return round(total / math.fsum(weights), 6)
