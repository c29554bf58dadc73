"""Watches runs: one run to its end, or the runs of a team."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from uuid import UUID
from weakref import WeakValueDictionary

from arena.feed import Feed
from arena.runs.records.reader import RunReader
from arena.runs.run import ResultEvent, Run, RunEvent, RunStatus

POLL_SECONDS = 0.5
"""How often a watched run is polled: another process may execute it."""
RUNS_WATCHED = 50
"""How many of a team's newest runs, and how many of its running ones."""
EVENT_RESULTS = 500
"""Results in one event."""
KEPT_PAGES = 4
"""Pages of results that the watchers of a run share."""


class _Pages:
    """The results of one run that its watchers read last: each page is read once for all."""

    def __init__(self, reader: RunReader, run_id: UUID) -> None:
        self._reader = reader
        self._run_id = run_id
        self._lock = asyncio.Lock()
        self._run: Run | None = None
        self._pages: dict[int, Sequence[ResultEvent]] = {}

    async def behind(self, after: int, run: Run) -> Sequence[ResultEvent]:
        """The next results after a number, as they were when the run had this state."""
        async with self._lock:
            if run is not self._run:  # a verdict of people may have changed an earlier result
                self._run, self._pages = run, {}
            if after not in self._pages:
                while len(self._pages) >= KEPT_PAGES:
                    del self._pages[next(iter(self._pages))]
                self._pages[after] = await self._reader.events(
                    self._run_id, after=after, limit=EVENT_RESULTS
                )
            return self._pages[after]


class RunWatcher:
    """Follows runs as they are executed, here or elsewhere."""

    def __init__(self, reader: RunReader, feed: Feed) -> None:
        self._reader = reader
        self._feed = feed
        # Weak: the pages of a run are dropped with its last watcher.
        self._pages: WeakValueDictionary[UUID, _Pages] = WeakValueDictionary()

    async def watch(
        self, run_id: UUID, team_id: str | None, *, after: int = 0, with_results: bool = True
    ) -> AsyncGenerator[RunEvent]:
        """The run now, and after every change, until it has ended or waits for people."""

        async def read(_: Run | None) -> Run:
            return await self._reader.get(run_id, team_id)

        pages = self._pages.setdefault(run_id, _Pages(self._reader, run_id))
        states = self._feed.watch(("run", run_id), read, poll_seconds=POLL_SECONDS)
        async with aclosing(states):
            async for run in states:
                results: Sequence[ResultEvent] = ()
                # Sequence numbers have no gaps, so `completed_tests` is also the last number.
                while with_results and after < run.completed_tests:
                    results = await pages.behind(after, run)
                    after = results[-1].sequence
                    if after < run.completed_tests:
                        yield RunEvent(run=run, results=results)
                yield RunEvent(run=run, results=results)
                if run.status.is_final:
                    return

    async def present(self, team_id: str) -> Mapping[UUID, Run]:
        """The team's newest runs, and its running ones."""
        newest = await self._reader.list(team_id, limit=RUNS_WATCHED)
        running = await self._reader.list(team_id, status=RunStatus.RUNNING, limit=RUNS_WATCHED)
        return {run.id: run for run in (*newest, *running)}
