"""Watching a run: its progress and its results, as they are recorded."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput
from arena.feed import OncePerState
from arena.operations.operation import Event, Events, OperationGroup, get
from arena.runs.run import Progress, ResultEvent, Run, RunEvent


class RunWatchOperations(OperationGroup):
    """Watching a run."""

    @get(
        "/api/benchmarks/runs/{run_id}/events",
        tag="runs",
        errors=(404,),
        headers=("last_event_id",),
        events={"progress": Progress, "result": ResultEvent, "end": Progress},
        description="Server-sent events: `progress`, `result` and, last, `end`.",
    )
    async def watch_run(
        self,
        run_id: UUID,
        *,
        results: Annotated[bool, Field(description="Send each result too.")] = True,
        last_event_id: Annotated[str | None, Field(max_length=20)] = None,
    ) -> Events:
        """Watch a run as server-sent events until it has ended or waits for people."""
        # Before the stream starts, while an error can still be a status code.
        await self.arena.runs.get(run_id, self.named_team)
        after = int(last_event_id) if last_event_id and last_event_id.isdecimal() else 0
        # Sequence numbers are 32-bit columns.
        if after >= 2**31:
            raise InvalidInput(f"Last-Event-ID {last_event_id} is not a valid event id")
        return _events(
            self.arena.watcher.watch(run_id, self.named_team, after=after, with_results=results)
        )

    async def watch(self, run_id: UUID) -> AsyncIterator[Progress]:
        """The progress of a run, at each change, until it has ended or waits for people."""
        async with aclosing(await self.watch_run(run_id, results=False)) as events:
            async for event in events:
                yield event.data
                if event.name == "end":
                    return


_progress = OncePerState(Progress.of)
"""The same value for all watchers of a run, so that it is serialised once."""


async def _events(watched: AsyncGenerator[RunEvent]) -> Events:
    run: Run | None = None
    async with aclosing(watched):
        async for seen in watched:
            run = seen.run
            for result in seen.results:
                yield Event(name="result", data=result, id=result.sequence)
            yield Event(name="progress", data=_progress(run))
    if run is not None:
        yield Event(name="end", data=_progress(run))
