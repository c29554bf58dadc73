"""Agents side by side: who is ahead, on which tests they differ, and whether it is more than luck.

The winner is the one with the highest overall score. Whether that means anything is asked of the
tests that two agents both ran, test by test: an exact paired test for the p-value, Newcombe's
interval for the difference of their pass rates.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from arena.errors import InvalidInput
from arena.scoring.pair import Contender, Pair, compare_pair
from arena.scoring.significance import holm


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The answer to "which of these is better?"."""

    contenders: tuple[Contender, ...]
    """In the order asked for."""
    unknown: tuple[str, ...]
    """Keys that nothing is known of; they take no part and have no score."""
    winner: str | None
    """The one with the highest overall score; None on a tie or with fewer than two scores."""
    pairs: tuple[Pair, ...]

    @property
    def significant(self) -> bool:
        """Whether the winner is significantly ahead of every other one on the tests both ran."""
        if self.winner is None:
            return False
        theirs = [pair for pair in self.pairs if self.winner in (pair.first, pair.second)]
        return all(pair.significant and pair.ahead == self.winner for pair in theirs)


def compare(keys: Sequence[str], known: Mapping[str, Contender]) -> Comparison:
    """The agents called `keys`, each with each, from what is `known` of them."""
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise InvalidInput(f"compared with itself: {', '.join(twice)}; name each agent once")
    contenders = tuple(known[key] for key in keys if key in known)
    pairs = [compare_pair(a, b) for a, b in itertools.combinations(contenders, 2)]
    return Comparison(
        contenders=contenders,
        unknown=tuple(key for key in keys if key not in known),
        winner=find_winner({contender.key: contender.score for contender in contenders}),
        pairs=_adjusted(pairs),
    )


def find_winner(scores: Mapping[str, Decimal | None]) -> str | None:
    """The key with the highest score; None on a tie, or where fewer than two have one."""
    known = {key: score for key, score in scores.items() if score is not None}
    if len(known) < 2:
        return None
    best = max(known.values())
    leaders = [key for key, score in known.items() if score == best]
    return leaders[0] if len(leaders) == 1 else None


def _adjusted(pairs: list[Pair]) -> tuple[Pair, ...]:
    """The pairs with Holm's adjustment over those that could be tested."""
    adjusted = iter(holm([pair.p_value for pair in pairs if pair.p_value is not None]))
    return tuple(
        pair if pair.p_value is None else replace(pair, adjusted_p_value=next(adjusted))
        for pair in pairs
    )
