"""What a provider that throttles allows: shared pauses, one probe after each, and a learnt pace."""

import asyncio
import logging
from dataclasses import dataclass

from arena.backoff import backoff_seconds

log = logging.getLogger(__name__)

MAX_BACK_OFF_SECONDS = 60.0
"""The longest pause that Arena chooses itself; a provider may ask for a longer one."""
PROBE_SECONDS = 5.0
"""A refusal comes quickly: a probe without one after this time was accepted."""
MARGIN = 1.1
"""How much slower than the learnt rate: clocks and networks are not exact."""
MAX_INTERVAL_SECONDS = 60.0
MIN_INTERVAL_SECONDS = 0.001
"""A shorter interval limits nothing."""
IDLE_SECONDS = 10.0
"""After a gap of this length between two requests, the rate is measured from the second one."""
FAST, SLOW = 0.5, 0.9
"""How the interval shrinks while nothing is refused: `SLOW` once a shorter one was refused."""
MIN_ACCEPTED = 10
"""Requests accepted before a `SLOW` step: each step too far costs a refusal."""


class WaitTooLong(Exception):
    """The pause would be longer than the limit."""

    def __init__(self, pause_seconds: float, waited_seconds: float) -> None:
        super().__init__(pause_seconds, waited_seconds)
        self.pause_seconds = pause_seconds
        """The pause that would be needed now."""
        self.waited_seconds = waited_seconds
        """The pauses before it, after which the next request was refused again."""


@dataclass(slots=True, eq=False)
class Entry:
    """One request, from its start to its end."""

    burst: int
    """The burst that it belongs to: the requests between two pauses."""
    is_probe: bool = False
    was_refused: bool = False


class Throttle:
    """The back-off from one provider, shared by all its callers in this process.

    A refusal pauses all requests. After the pause one request goes out as a probe; if it is
    accepted, the others follow at the rate that the provider accepted before the refusal. The rate
    rises again while nothing is refused. A provider that never refuses is never slowed.
    """

    def __init__(self, *, first_seconds: float, max_wait_seconds: float) -> None:
        self._first_seconds = first_seconds
        self._max_wait_seconds = max_wait_seconds
        self._queue = asyncio.Lock()
        self._burst = 0
        self._burst_started = 0.0
        self._accepted = 0
        """Requests of this burst that were not refused so far."""
        self._paused_until: float | None = None
        """None from the first request after a pause on."""
        self._probe: asyncio.Future[None] | None = None
        self._refusals = 0
        """Pauses in a row without an accepted request."""
        self._waited_seconds = 0.0
        """The length of these pauses."""
        self._waited_before = 0.0
        """Without the current pause."""
        self._interval: float | None = None
        """Seconds between the starts of two requests; None: no limit was learnt."""
        self._previous_interval: float | None = None
        """Before the refusals of this burst."""
        self._window = 0.0
        """The length of the burst that the interval was learnt from."""
        self._is_known = False
        """Whether a shorter interval was tried and refused."""
        self._last_start = 0.0
        self._next_start = 0.0
        self._faster_after = 0.0
        self._accepted_at_step = 0

    @property
    def pause_seconds(self) -> float:
        """How long no request may start."""
        return max(0.0, (self._paused_until or 0.0) - asyncio.get_running_loop().time())

    async def enter(self) -> Entry:
        """Wait until a request may start; the caller ends it with `leave`."""
        if self._paused_until is None and self._interval is None and self._probe is None:
            self._count(asyncio.get_running_loop().time())
            return Entry(self._burst)
        async with self._queue:  # first come, first served
            await self._wait()
            return self._start()

    def refused(self, entry: Entry, retry_after_seconds: float | None) -> float:
        """Pause all requests because this one was refused; returns the seconds to wait.

        Raises `WaitTooLong` if that is longer than the limit.
        """
        now = asyncio.get_running_loop().time()
        entry.was_refused = True
        is_first = entry.burst == self._burst and self._paused_until is None
        if is_first:
            self._refusals += 1
            self._waited_before = self._waited_seconds
        wait = self._pause_seconds(retry_after_seconds) if is_first else retry_after_seconds or 0.0
        # Refusals of one burst ask for the same pause, so they count once.
        waited = self._waited_before
        if waited + wait > self._max_wait_seconds:
            self._forget_refusals()
            raise WaitTooLong(wait, waited)
        self._waited_seconds = max(self._waited_seconds, waited + wait)
        if is_first:
            log.info("a provider throttles: no requests to it for %.1f s", wait)
        self._paused_until = max(self._paused_until or 0.0, now + wait)
        if entry.burst == self._burst:
            self._accepted -= 1
            if not entry.is_probe:  # a refused probe says something about the pause, not the rate
                self._learn(self._paused_until, is_first=is_first)
        return wait

    def leave(self, entry: Entry) -> None:
        """The request has ended: answered, refused, failed or cancelled."""
        if not entry.was_refused and entry.burst == self._burst:
            self._forget_refusals()
        if entry.is_probe and self._probe is not None and not self._probe.done():
            self._probe.set_result(None)

    def _forget_refusals(self) -> None:
        self._refusals, self._waited_seconds = 0, 0.0

    def _pause_seconds(self, retry_after_seconds: float | None) -> float:
        """What the provider asked for; if that does not help, or is missing, a growing pause."""
        own = 0.0
        failures = self._refusals - 1 if retry_after_seconds else self._refusals
        if failures > 0:
            first, most = self._first_seconds, MAX_BACK_OFF_SECONDS
            own = backoff_seconds(first, failures, most_seconds=most, jitter=True)
        return max(retry_after_seconds or 0.0, own)

    def _learn(self, paused_until: float, *, is_first: bool) -> None:
        """The rate that was accepted, over the burst and the pause after it."""
        if is_first:
            self._previous_interval = self._interval
        self._is_known = self._previous_interval is not None
        self._window = paused_until - self._burst_started
        self._interval = self._previous_interval
        if self._accepted > 0:  # if nothing was accepted, the rate is unknown
            interval = MARGIN * self._window / self._accepted
            self._interval = min(interval, MAX_INTERVAL_SECONDS)

    async def _wait(self) -> None:
        """Wait for the end of the pause, for the probe and for the interval."""
        time = asyncio.get_running_loop().time
        while True:
            if (pause := self.pause_seconds) > 0:
                await asyncio.sleep(pause)
            elif self._probe is not None:
                await asyncio.wait([self._probe], timeout=PROBE_SECONDS)
                self._probe = None
            elif (pause := self._next_start - time()) > 0:
                await asyncio.sleep(pause)
            else:
                return

    def _start(self) -> Entry:
        loop = asyncio.get_running_loop()
        now = loop.time()
        is_probe = self._paused_until is not None
        if self._paused_until is not None:
            if now - self._paused_until > MAX_BACK_OFF_SECONDS:
                self._forget_refusals()  # nobody asked for a while
            self._paused_until = None
            self._probe = loop.create_future()
            self._burst += 1
            self._burst_started, self._accepted, self._last_start = now, 0, now
            self._slow_down_from(now)
        elif self._is_clean(now):
            self._interval = (self._interval or 0.0) * (SLOW if self._is_known else FAST)
            if self._interval < MIN_INTERVAL_SECONDS:
                self._interval, self._is_known = None, False
            self._slow_down_from(now)
        self._count(now)
        self._next_start = now + (self._interval or 0.0)
        return Entry(self._burst, is_probe=is_probe)

    def _count(self, now: float) -> None:
        """Count a request that starts now."""
        if now - self._last_start > IDLE_SECONDS + (self._interval or 0.0):
            # The time in which nobody asked says nothing about the rate.
            self._burst_started, self._accepted, self._accepted_at_step = now, 0, 0
        self._last_start = now
        self._accepted += 1

    def _slow_down_from(self, now: float) -> None:
        """Keep the interval until enough requests were accepted after `now`."""
        self._faster_after = now + min(self._window, MAX_INTERVAL_SECONDS)
        self._accepted_at_step = self._accepted

    def _is_clean(self, now: float) -> bool:
        """Whether enough was accepted at this interval to try a shorter one."""
        accepted = self._accepted - self._accepted_at_step
        return now >= self._faster_after and accepted >= (MIN_ACCEPTED if self._is_known else 1)
