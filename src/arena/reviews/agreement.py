"""Do reviewers agree: how often, and how much more often than by chance."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from arena.reviews.review import ReviewItem

MIN_COMMON_ITEMS = 5
"""With fewer items in common kappa says nothing: one answer more would turn it over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """Two reviewers on the items that both answered."""

    first: str
    second: str
    common: int
    agreed: int
    kappa: float | None
    """Cohen's kappa; None with too few items, or where both gave one answer throughout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The items with two reviewers or more."""

    shared_items: int
    agreed_items: int
    """Those on which all of their reviewers said the same."""
    pairs: tuple[PairAgreement, ...]

    @property
    def share(self) -> float | None:
        """The share of items agreed on; None where no item has two reviewers."""
        return self.agreed_items / self.shared_items if self.shared_items else None


def agreement_of(items: Iterable[ReviewItem]) -> Agreement:
    """How far the reviewers of these items agree, together and two by two."""
    said = [
        {recorded.reviewer: recorded.answer.passed for recorded in item.standing} for item in items
    ]
    shared = [answers for answers in said if len(answers) > 1]
    reviewers = sorted({reviewer for answers in shared for reviewer in answers})
    pairs = (_pair(first, second, shared) for first, second in combinations(reviewers, 2))
    return Agreement(
        shared_items=len(shared),
        agreed_items=sum(len(set(answers.values())) == 1 for answers in shared),
        pairs=tuple(pair for pair in pairs if pair.common),
    )


def _pair(first: str, second: str, said: Sequence[dict[str, bool]]) -> PairAgreement:
    common = [
        (answers[first], answers[second])
        for answers in said
        if first in answers and second in answers
    ]
    return PairAgreement(
        first=first,
        second=second,
        common=len(common),
        agreed=sum(one == other for one, other in common),
        kappa=cohens_kappa(common) if len(common) >= MIN_COMMON_ITEMS else None,
    )


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """(observed - chance) / (1 - chance); None where chance alone would always agree.

    Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960).
    """
    count = len(pairs)
    if not count:
        return None
    agreed = sum(first == second for first, second in pairs)
    first_passes = sum(first for first, _ in pairs)
    second_passes = sum(second for _, second in pairs)
    # In whole numbers, times count squared, so that "always" is exactly that.
    chance = first_passes * second_passes + (count - first_passes) * (count - second_passes)
    whole = count * count
    if chance == whole:
        return None
    return (agreed * count - chance) / (whole - chance)
