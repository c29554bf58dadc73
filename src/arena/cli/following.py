"""Follows a run on the terminal until it has ended."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, cast
from uuid import UUID

from rich.console import Console

from arena.errors import CallerError, InfrastructureError
from arena.operations.runs import RunOperations
from arena.runs.run import Progress
from arena.settings import Settings

if TYPE_CHECKING:
    from arena.operations.workers import WorkerOperations
    from arena.queue.overview import QueueOverview

AWAY_SECONDS = 300.0
"""How long a server or a database may be away while workers execute the run."""
LOOK_AGAIN_SECONDS = 1.0


async def follow(
    arena: RunOperations, settings: Settings, run_id: UUID, title: str, *, is_quiet: bool = False
) -> None:
    """Show a run's progress until it has ended."""
    is_queued = await _is_queued(arena, settings, run_id)
    events = _keep_watching(arena, run_id) if is_queued else arena.watch(run_id)
    if is_quiet or not sys.stderr.isatty():
        async for _ in events:
            pass
        return
    await _show_bar(events, title)


async def _is_queued(arena: RunOperations, settings: Settings, run_id: UUID) -> bool:
    """Whether workers execute the run. Says why it would wait: nobody who watches it would know."""
    if not (settings.server or settings.is_queued):
        return False
    found = await _overview(arena, settings)
    if found is None or found.dispatch == "embedded":
        return False
    for one in found.stuck:
        if one.run_id == run_id:
            print(f"waits: {one.reason}; see: arena workers", file=sys.stderr)
    return True


async def _overview(arena: RunOperations, settings: Settings) -> "QueueOverview | None":
    if not settings.server:
        return await arena.arena.queue_reader.overview()
    try:
        return await cast("WorkerOperations", arena).workers()
    except CallerError:
        return None  # a server of an older release has no queue


async def _keep_watching(arena: RunOperations, run_id: UUID) -> AsyncGenerator[Progress]:
    """The progress of a run that goes on while the server or the database is away."""
    away_since: float | None = None
    while True:
        try:
            async for progress in arena.watch(run_id):
                away_since = None
                yield progress
            return
        except InfrastructureError as error:
            now = time.monotonic()
            if away_since is None:
                away_since = now
                print(f"workers go on, waiting to see the run: {error.message}", file=sys.stderr)
            if not error.retryable or now - away_since > AWAY_SECONDS:
                raise
        await asyncio.sleep(LOOK_AGAIN_SECONDS)


async def _show_bar(events: AsyncIterator[Progress], title: str) -> None:
    # Imported here: only a terminal needs it, and loading it takes as long as printing a table.
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[failed]} failed[/]"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None, passed=0, failed=0)
        async for now in events:
            bar.update(
                task,
                total=now.total,
                completed=now.completed,
                passed=now.passed,
                failed=now.failed,
            )
