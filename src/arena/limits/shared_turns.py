"""Turns at one place, whose limits hold across all machines."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from arena.limits.permit_pool import Batch, PermitPool
from arena.limits.request import Need, Outcome, Request
from arena.models.turns import LONGEST_SECONDS
from arena.team import current_team

LEASE_SECONDS = 5.0
"""How much longer a lease is than a call: calls begin while the database is away for a moment."""
RENEW_SECONDS = 1.0
IDLE_SECONDS = 0.3
"""After this time without a call, slots are given back."""
MARGIN_SECONDS = 0.5
"""A call begins only if the lease lasts this much longer than the call: clocks differ."""

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def clock_seconds() -> float:
    """A clock that also runs while the machine sleeps, unlike that of the event loop."""
    return time.clock_gettime(_CLOCK)


class SharedTurn:
    """One turn, as a context."""

    __slots__ = ("_turns", "gets", "has_slot", "permit", "seconds", "share", "until")

    def __init__(self, turns: "SharedTurns", seconds: float) -> None:
        self._turns = turns
        self.seconds = seconds
        """How long the call may take."""
        self.share: TeamShare
        self.until = 0.0
        """When the call must have ended."""
        self.permit: Batch | None = None
        self.has_slot = False
        self.gets: asyncio.Future[None] | None = None
        """While it waits."""

    async def __aenter__(self) -> "SharedTurn":
        if not self._turns.begin(self):
            await self._turns.wait(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._turns.end(self)

    async def confirm(self) -> None:
        """Wait until the call may begin, if that changed since the turn was taken.

        Whoever did something else first (waited for a throttle) calls this before the call.
        """
        if not self._turns.confirm(self):
            await self._turns.wait(self)


@dataclass(slots=True, eq=False)
class TeamShare:
    """What this process has at the place for one team."""

    team: str
    waiting: deque[SharedTurn]
    slots: int = 0
    """Held, as far as is known: never more than the tables say."""
    allowed: int = 0
    """How many of them may be used; less than `slots` if some must be given back."""
    in_use: int = 0
    peak: int = 0
    """The most calls at once, with those waiting, since the last renewal, and before it."""
    previous_peak: int = 0
    stored_wanted: int = 0
    """What the tables have as wanted."""

    @property
    def demand(self) -> int:
        """Calls that have a slot or wait for one."""
        return self.in_use + sum(not turn.has_slot for turn in self.waiting)


class SharedTurns:
    """The turns of this process at a place: its part of limits that all machines share.

    Like `models.turns.Turns`. A call begins only in a leased slot, and only if the lease covers its
    whole time limit; so a process that was stopped for a while begins nothing on an expired lease,
    and if it dies, its slots return after its calls must have ended.
    """

    def __init__(
        self,
        place: str,
        holder: str,
        wake: Callable[[], None],
        *,
        max_concurrency: int,
        per_minute: int | None = None,
        window_seconds: float = 60.0,
        poll_seconds: float = RENEW_SECONDS,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """`poll_seconds`: how often to ask while calls wait and no slot is held."""
        self.place, self.holder = place, holder
        self._wake = wake
        """Makes the owner look at `due_at` again."""
        self._capacity = max_concurrency
        self._pool = None if per_minute is None else PermitPool(per_minute, window_seconds)
        self._poll_seconds = poll_seconds
        self._spare_seconds = lease_seconds
        self._shares: dict[str, TeamShare] = {}
        self._running: set[SharedTurn] = set()
        self._lease_until = 0.0
        self._longest = self._previous_longest = 0.0
        """The longest time limit of calls since the last renewal, and before it."""
        self._paused_until = 0.0
        self._new_pause_until = 0.0
        """Of a pause that the tables do not have yet."""
        self._begun = self._begun_before = self._begun_at_tick = 0
        self._settled_at = 0.0
        self._slice_until = float("inf")
        self._idle_at = 0.0
        self._must_settle = False

    def turn(self, seconds: float = LONGEST_SECONDS) -> SharedTurn:
        """A context that waits for a turn and holds it; its call takes at most `seconds`."""
        return SharedTurn(self, seconds)

    def pause(self, seconds: float) -> None:
        """Grant no turns for some seconds, on all machines, as the endpoint requested."""
        until = clock_seconds() + seconds
        if until > self._paused_until:
            self._paused_until = self._new_pause_until = until
            self._kick()

    # What a turn does.

    def begin(self, turn: SharedTurn) -> bool:
        """Begin a call at once if nothing is in the way; else it has to wait."""
        team = current_team()
        share = self._shares.get(team)
        if share is None:
            share = self._shares[team] = TeamShare(team, deque())
        turn.share = share
        if turn.seconds > self._longest:
            self._longest = turn.seconds
        return not share.waiting and self._grant(turn, clock_seconds())

    def confirm(self, turn: SharedTurn) -> bool:
        """Whether a turn that was granted may still be used; if not, it has to wait again."""
        now = clock_seconds()
        if self._pool is not None and turn.permit is not None and now > turn.permit.until:
            self._pool.give_back(turn.permit)
            turn.permit = None
        share = turn.share
        if turn.has_slot and share.in_use > share.slots:
            # Others have the slot: the lease expired between the grant and now.
            turn.has_slot = False
            share.in_use -= 1
        return self._grant(turn, now)

    async def wait(self, turn: SharedTurn) -> None:
        """Wait until the call may begin."""
        share, loop = turn.share, asyncio.get_running_loop()
        while True:
            gets = turn.gets = loop.create_future()
            if turn.has_slot:
                share.waiting.appendleft(turn)
            else:
                share.waiting.append(turn)
            share.peak = max(share.peak, share.demand)
            self._longest = max(self._longest, turn.seconds)
            if self._needs_settling(share, turn, clock_seconds()):
                self._kick()
            else:
                self._wake()
            try:
                await gets
            except BaseException:
                if turn in share.waiting:
                    share.waiting.remove(turn)
                self.end(turn)
                raise
            # It was granted a moment ago; on a slow machine that may be too long.
            if self.confirm(turn):
                return

    def end(self, turn: SharedTurn) -> None:
        """Release a turn."""
        self._running.discard(turn)
        if not turn.has_slot:
            return
        turn.has_slot = False
        share = turn.share
        share.in_use -= 1
        if share.waiting:
            self._grant_waiting(share, clock_seconds())
            if share.waiting and self._pool is not None:
                self._wake()  # it may wait for a permit only
        if share.slots > share.allowed and share.slots > share.in_use:
            self._kick()

    def _grant(self, turn: SharedTurn, now: float) -> bool:
        """Let a call begin if it has a slot, a lease that covers it, and a permit."""
        share = turn.share
        if not turn.has_slot and share.in_use >= share.allowed:
            return False
        if now + turn.seconds + MARGIN_SECONDS > self._lease_until or now < self._paused_until:
            return False
        if self._pool is not None and turn.permit is None:
            turn.permit = self._pool.take(share.team, now)
            if turn.permit is None:
                return False
        if not turn.has_slot:
            turn.has_slot = True
            share.in_use += 1
            if share.in_use > share.peak:
                share.peak = share.in_use
        if not turn.until:
            self._begun += 1
        turn.until = now + turn.seconds
        self._running.add(turn)
        return True

    def _grant_waiting(self, share: TeamShare, now: float) -> None:
        while share.waiting and self._grant(share.waiting[0], now):
            turn = share.waiting.popleft()
            if turn.gets is not None and not turn.gets.done():
                turn.gets.set_result(None)

    def _needs_settling(self, share: TeamShare, turn: SharedTurn, now: float) -> bool:
        """Whether a statement may help a call that waits."""
        if now + turn.seconds + MARGIN_SECONDS > self._lease_until:
            return True
        if min(share.demand, self._capacity) > share.stored_wanted:
            return True
        is_free = turn.has_slot or share.in_use < share.allowed
        return self._pool is not None and is_free and now >= self._pool.ask_at

    def _kick(self) -> None:
        self._must_settle = True
        self._wake()

    # What the owner does: when something is due, it settles the request with the tables.

    def hear(self) -> None:
        """Something has changed at this place on another machine, or could not be settled."""
        self._must_settle = True

    def look(self, now: float) -> None:
        """Let calls begin whose pause has ended; notice that nobody has called for a while."""
        for share in self._shares.values():
            if share.waiting:
                self._grant_waiting(share, now)
        if self._begun != self._begun_at_tick or self._demand():
            self._begun_at_tick = self._begun
            self._idle_at = now + IDLE_SECONDS

    def due_at(self) -> float:
        """When the tables must be asked; never, while nothing is held or wanted."""
        if self._must_settle:
            return 0.0
        shares = self._shares.values()
        if not self._demand():
            if any(share.slots or share.stored_wanted for share in shares):
                # Short calls may have ended whenever somebody looks, and slots are still in use.
                return min(self._idle_at, self._settled_at + RENEW_SECONDS)
            return max(self._idle_at, self._pool.over_at) if self._pool else float("inf")
        due = min(self._settled_at + RENEW_SECONDS, self._slice_until)
        if any(share.waiting and not share.slots for share in shares):
            due = min(due, self._settled_at + self._poll_seconds)
        if self._pool is not None and any(map(_lacks_permit, shares)):
            due = min(due, max(self._pool.ask_at, self._paused_until))
        return due

    def look_at(self) -> float:
        """When `look` may change something."""
        if not any(share.slots or share.waiting for share in self._shares.values()):
            return float("inf")
        now = clock_seconds()
        waits = any(share.waiting for share in self._shares.values())
        paused = self._paused_until if waits and self._paused_until > now else float("inf")
        return min(paused, now + IDLE_SECONDS)

    def request(self, now: float, *, closes: bool = False) -> Request:
        """What to ask of the tables; slots that are given back are no longer used from here on."""
        self._must_settle = False
        is_new_window = now - self._settled_at >= IDLE_SECONDS
        is_idle = closes or (not self._demand() and now >= self._idle_at)
        ahead = self._ahead(now)
        needs: dict[str, Need] = {}
        for share in self._shares.values():
            demand = share.demand
            peak = demand if is_idle else max(share.peak, share.previous_peak, demand)
            wanted = min(peak, self._capacity)
            share.slots = max(share.in_use, min(share.slots, share.allowed, wanted))
            share.allowed = min(share.allowed, share.slots)
            holding = sum(turn.has_slot for turn in share.waiting)
            needs[share.team] = Need(
                kept=share.slots,
                wanted=max(wanted, share.in_use),
                in_use=share.in_use,
                holding=holding,
                waiting=len(share.waiting) - holding,
                ahead=ahead,
            )
            share.stored_wanted = needs[share.team].wanted
            if is_new_window:
                share.previous_peak, share.peak = share.peak, demand
        lease = self._lease_seconds(now, is_new_window=is_new_window)
        # From here on no call may begin that the new lease would not cover.
        self._lease_until = min(self._lease_until, now + lease)
        rate, used = (None, {}) if self._pool is None else self._pool.request(now, closes=closes)
        return Request(
            place=self.place,
            holder=self.holder,
            capacity=self._capacity,
            lease_seconds=lease,
            needs=needs,
            rate=rate,
            used=used,
            pause_seconds=max(self._new_pause_until - now, 0.0),
        )

    def _ahead(self, now: float) -> int:
        """How many calls will begin, at the present rate, while a permit can be used."""
        if self._pool is None:
            return 0
        elapsed = max(now - self._settled_at, 0.001)
        part = min(self._pool.usable_seconds() / elapsed, 1.0)
        return int((self._begun - self._begun_before) * part)

    def _lease_seconds(self, now: float, *, is_new_window: bool) -> float:
        """Long enough for calls that begin within the next seconds, and for those that run."""
        longest = max(self._longest, self._previous_longest)
        if is_new_window:
            self._previous_longest = self._longest
            self._longest = max((turn.seconds for turn in self._waiting()), default=0.0)
        running = max((turn.until for turn in self._running), default=0.0) - now
        return max(longest + self._spare_seconds, running + MARGIN_SECONDS)

    def take_over(self, request: Request, outcome: Outcome, asked_at: float) -> None:
        """Use what the tables have granted; `asked_at` was read before the first statement."""
        now = clock_seconds()
        self._settled_at = asked_at
        self._lease_until = asked_at + request.lease_seconds
        self._slice_until = float("inf")
        if outcome.slice_seconds is not None:
            self._slice_until = now + outcome.slice_seconds
        if request.pause_seconds >= self._new_pause_until - asked_at:
            self._new_pause_until = 0.0
        if outcome.paused_seconds:
            self._paused_until = max(self._paused_until, now + outcome.paused_seconds)
        self._begun_before = self._begun
        if self._pool is not None:
            self._pool.take_over(request, outcome, asked_at=asked_at, now=now)
        for team, slots in outcome.slots.items():
            share = self._shares[team]
            share.slots = slots
            share.allowed = min(slots, outcome.shares[team])
            if share.in_use > share.allowed:
                self._give_up_slots(share)
            if share.waiting:
                self._grant_waiting(share, now)
            if share.slots > max(share.allowed, share.in_use):
                self._kick()  # others wait for what is not used here
            if not share.slots and not share.demand and not share.stored_wanted:
                del self._shares[team]

    def _give_up_slots(self, share: TeamShare) -> None:
        """Calls that have a slot and wait for something else wait for a slot again."""
        for turn in share.waiting:
            if turn.has_slot and share.in_use > share.allowed:
                turn.has_slot = False
                share.in_use -= 1

    def _waiting(self) -> Iterable[SharedTurn]:
        for share in self._shares.values():
            yield from share.waiting

    def _demand(self) -> int:
        return sum(share.demand for share in self._shares.values())


def _lacks_permit(share: TeamShare) -> bool:
    """Whether a call has, or could have, a slot, and waits."""
    return bool(share.waiting) and (share.waiting[0].has_slot or share.in_use < share.allowed)
