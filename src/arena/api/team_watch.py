"""What goes on in a team, for all who watch it: one of them looks, and the others take what it saw.

Other processes write too, so the database must be asked; a hundred dashboards ask as often as one.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID
from weakref import WeakValueDictionary

from arena.assembly import Arena
from arena.runs import Run, RunStatus, rung

LOOK_SECONDS = 1.0
"""How often a watcher wants to know, although nothing has happened in this process."""
FRESH_SECONDS = 0.5
"""What was seen so recently is as good as a look, where nothing has happened in this process."""
GAP_SECONDS = 0.1
"""Between two looks at one team: a run that makes news without end has a few told at once."""

Part = Literal["scores", "reviews", "market", "catalog"]


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What is new to one who watches."""

    runs: Sequence[Run]
    changed: Sequence[Part]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sight:
    """A team as it was seen."""

    runs: Mapping[UUID, Run]
    marks: Mapping[Part, object]
    """Of each part, something that differs after every change of it."""


class TeamWatch:
    """The teams that somebody watches."""

    def __init__(self, house: Arena) -> None:
        self._house = house
        # Weak: a view is gone with the last one who watches.
        self._views: WeakValueDictionary[str, _View] = WeakValueDictionary()

    async def watch(self, team: str) -> AsyncGenerator[News]:
        """What is new since the last time, now and then nothing; the first tells how things are."""
        view = self._views.setdefault(team, _View(self._house, team))
        told = _Sight(runs={}, marks={})
        while True:
            sight, bell = await view.now()
            runs = {**sight.runs, **await self._ended(team, told.runs, sight.runs)}
            yield News(
                runs=[run for run in runs.values() if run != told.runs.get(run.id)],
                changed=[
                    part
                    for part, mark in sight.marks.items()
                    if part not in told.marks or told.marks[part] != mark
                ],
            )
            told = _Sight(runs=runs, marks=sight.marks)
            await rung(bell, LOOK_SECONDS)

    async def _ended(
        self, team: str, told: Mapping[UUID, Run], seen: Mapping[UUID, Run]
    ) -> dict[UUID, Run]:
        """Those that ran, and are now neither running nor among the newest."""
        return {
            run.id: await self._house.runs.get(run.id, team)
            for run in told.values()
            if run.status is RunStatus.RUNNING and run.id not in seen
        }


class _View:
    """The last look at a team."""

    def __init__(self, house: Arena, team: str) -> None:
        self._house = house
        self._team = team
        self._lock = asyncio.Lock()
        self._last: tuple[_Sight, asyncio.Event] | None = None
        self._looked_at = 0.0

    async def now(self) -> tuple[_Sight, asyncio.Event]:
        """How things are, and the bell of what happens next in this process."""
        async with self._lock:
            age = time.monotonic() - self._looked_at
            if self._last and age < FRESH_SECONDS and not self._last[1].is_set():
                return self._last
            await asyncio.sleep(GAP_SECONDS - age)
            bell = self._house.runs.bell()  # before the look, or what happens during it is missed
            looked_at = time.monotonic()
            self._last = (await self._look(), bell)
            self._looked_at = looked_at
            return self._last

    async def _look(self) -> _Sight:
        house, team = self._house, self._team
        return _Sight(
            runs=await house.runs.present(team),
            marks={
                "scores": await house.scores.last_change(team),
                "reviews": await house.reviews.state(team),
                "market": await house.market.last_event(team),
                "catalog": house.catalog.current.loaded_at,
            },
        )
