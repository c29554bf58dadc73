"""What a worker asks for at a place, and what it gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a worker has at a place for one team, and what it could use."""

    kept: int
    """Slots that it keeps; what it had beyond them is given back."""
    wanted: int
    """Slots that it could use, with those kept."""
    in_use: int
    """Slots in which a call runs, or waits for a permit."""
    holding: int = 0
    """Calls that have a slot and wait for a permit."""
    waiting: int = 0
    """Calls that wait for a slot."""
    ahead: int = 0
    """Calls that are likely to follow at once, and then need a permit too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """At most `calls` starts in any `window_seconds`."""

    calls: int
    window_seconds: float
    hold_seconds: float
    """How long a permit counts beyond the window: it may be used a little later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a worker asks for at one place."""

    place: str
    holder: str
    """The id of the process, a dot, and a number."""
    capacity: int
    lease_seconds: float
    needs: Mapping[str, Need]
    """By team."""
    rate: Rate | None = None
    used: Mapping[UUID, int] = field(default_factory=dict[UUID, int])
    """How many calls were started with permits whose time is over: the others are given back."""
    pause_seconds: float = 0.0
    """No call may start for this time, on any machine."""


@dataclass(frozen=True, slots=True)
class Permits:
    """The right of a team to start some calls."""

    id: UUID
    team: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a worker has at a place from now on."""

    slots: Mapping[str, int]
    shares: Mapping[str, int]
    """What it should have; if that is less, it gives slots back as its calls end."""
    paused_seconds: float
    permits: Sequence[Permits] = ()
    next_permit_seconds: float | None = None
    """When the next permit may be free; None if none was missing."""
    slice_seconds: float | None = None
    """When its slots may be for others that wait and have none; None if there are none."""
