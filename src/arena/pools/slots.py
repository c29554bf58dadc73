"""Slots of an event loop: how much of something runs at once, shared by the teams."""

import asyncio
from collections import Counter

from arena.pools.rounds import Rounds
from arena.team import current_team


class Slots:
    """`count` slots for every team, and `spare` more that one team alone cannot take.

    With spare slots a team finds one free even if another team holds all it may. It belongs to the
    event loop of its first use.
    """

    def __init__(self, count: int, *, spare: int = 0) -> None:
        self._per_team = count
        self._free = count + spare
        self._held: Counter[str] = Counter()
        self._rounds: Rounds[asyncio.Future[None]] = Rounds()

    def slot(self) -> "Slot":
        """A context that waits for a slot and holds it until the block ends."""
        return Slot(self)

    async def take(self) -> str:
        """Wait for a slot; the caller must give it back, for the team that is returned."""
        team = current_team()
        if self._free and not self._rounds and self._is_below(team):
            self._free -= 1
            self._held[team] += 1
            return team
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rounds.add(team, turn)
        # Those who wait may all be at the limit of their team, and this team below its own.
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # granted, but nobody is there to use it
                self.give_back(team)
            else:
                self._rounds.remove(team, turn)
            raise
        return team

    def give_back(self, team: str) -> None:
        """Release a slot of the team; the next in turn gets it."""
        self._free += 1
        self._held[team] -= 1
        if not self._held[team]:
            del self._held[team]
        self._grant()

    def _grant(self) -> None:
        while self._free and (taken := self._rounds.take(self._is_below)):
            team, turn = taken
            self._free -= 1
            self._held[team] += 1
            turn.set_result(None)

    def _is_below(self, team: str) -> bool:
        return self._held[team] < self._per_team


class Slot:
    """One slot, as a context; a class, because a generator costs three times as much."""

    __slots__ = ("_slots", "_team")

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._team = ""

    async def __aenter__(self) -> None:
        self._team = await self._slots.take()

    async def __aexit__(self, *_: object) -> None:
        self._slots.give_back(self._team)
