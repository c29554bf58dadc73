"""Agreement of reviewers: how often, and how much more often than by chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

MIN_COMMON_ITEMS = 5
"""With fewer items in common, kappa is meaningless: one more answer could reverse it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerAgreement:
    """Two reviewers on the items that both answered."""

    first: str
    second: str
    common: int
    agreed: int
    kappa: float | None
    """Cohen's kappa; null with fewer than 5 items in common, or if both gave the same answer to
    every item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAgreement:
    """The agreement of reviewers on the items that two or more have answered."""

    shared_items: int
    agreed_items: int
    """Items on which all their reviewers gave the same answer."""
    share: float | None
    """The share of shared items that all agree on; null if no item has two reviewers."""
    pairs: tuple[ReviewerAgreement, ...]


def agreement_of(items: Sequence[Mapping[str, bool]]) -> ReviewAgreement:
    """The agreement of reviewers, overall and pairwise; each item has the answers by name."""
    shared = [answers for answers in items if len(answers) > 1]
    reviewers = sorted({reviewer for answers in shared for reviewer in answers})
    pairs = (_pair(first, second, shared) for first, second in combinations(reviewers, 2))
    agreed = sum(len(set(answers.values())) == 1 for answers in shared)
    return ReviewAgreement(
        shared_items=len(shared),
        agreed_items=agreed,
        share=agreed / len(shared) if shared else None,
        pairs=tuple(pair for pair in pairs if pair.common),
    )


def _pair(first: str, second: str, items: Sequence[Mapping[str, bool]]) -> ReviewerAgreement:
    common = [
        (answers[first], answers[second])
        for answers in items
        if first in answers and second in answers
    ]
    return ReviewerAgreement(
        first=first,
        second=second,
        common=len(common),
        agreed=sum(one == other for one, other in common),
        kappa=cohens_kappa(common) if len(common) >= MIN_COMMON_ITEMS else None,
    )


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """(observed - chance) / (1 - chance); None if chance alone would always agree.

    Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960).
    """
    count = len(pairs)
    if not count:
        return None
    agreed = sum(first == second for first, second in pairs)
    first_passes = sum(first for first, _ in pairs)
    second_passes = sum(second for _, second in pairs)
    # In integers, multiplied by count squared, so that the comparison below is exact.
    chance = first_passes * second_passes + (count - first_passes) * (count - second_passes)
    whole = count * count
    if chance == whole:
        return None
    return (agreed * count - chance) / (whole - chance)
