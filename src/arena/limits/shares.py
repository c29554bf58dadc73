"""Who should have how many slots of a place: teams first, then the workers of each team."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

SLICE_SECONDS = 1.0
"""How long a claimant keeps its only slot while others wait that have none."""

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a worker has of a place for a team, and what it could use."""

    team: str
    holder: str
    held: int
    wanted: int
    """Including those held."""
    seconds: float
    """For how long it has had a slot, or none."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A claim, or all claims of a team."""

    held: int
    wanted: int
    seconds: float


def shares(capacity: int, claims: Sequence[Claim]) -> dict[tuple[str, str], int]:
    """How many of `capacity` slots each (team, holder) should have now.

    Nothing that somebody wants is left over. Teams differ by at most one, except that none gets
    more than it wants, and so do the holders of a team. Where there are fewer slots than claimants,
    those that have waited longest follow those that have had a slot for their slice.
    """
    teams: dict[str, list[Claim]] = {}
    for claim in claims:
        teams.setdefault(claim.team, []).append(claim)
    of_teams = _divided(capacity, {team: _together(members) for team, members in teams.items()})
    divided: dict[tuple[str, str], int] = {}
    for team, members in teams.items():
        groups = {one.holder: _Group(one.held, one.wanted, one.seconds) for one in members}
        for holder, count in _divided(of_teams[team], groups).items():
            divided[team, holder] = count
    return divided


def _together(claims: Sequence[Claim]) -> _Group:
    """The claims of a team as one; it has had a slot, or none, as long as the first of them."""
    held = sum(claim.held for claim in claims)
    waits = [claim.seconds for claim in claims if bool(claim.held) == bool(held) and claim.wanted]
    return _Group(held, sum(claim.wanted for claim in claims), max(waits, default=0.0))


def _divided(capacity: int, groups: Mapping[Key, _Group]) -> dict[Key, int]:
    """As much for each as for the others, but no more than it wants."""
    given = dict.fromkeys(groups, 0)
    hungry = sorted((key for key in groups if groups[key].wanted > 0), key=repr)
    left = max(capacity, 0)
    while hungry:
        each = left // len(hungry)
        modest = [key for key in hungry if groups[key].wanted <= each]
        if not modest:
            for key in hungry:
                given[key] = each
            order = sorted(hungry, key=_order(groups, each))
            for key in order[: left - each * len(hungry)]:
                given[key] += 1
            break
        for key in modest:
            given[key] = groups[key].wanted
            left -= groups[key].wanted
        hungry = [key for key in hungry if groups[key].wanted > each]
    return given


def _order(groups: Mapping[Key, _Group], each: int) -> Callable[[Key], tuple[int, float]]:
    """Who gets one more than `each`: whoever has it already, unless others then have none."""

    def order(key: Key) -> tuple[int, float]:
        group = groups[key]
        if group.held > each and (each or group.seconds < SLICE_SECONDS):
            return 0, group.seconds
        if group.held > each:  # its slice is over: it follows those that wait
            return 2, group.seconds
        return 1, -group.seconds

    return order
