"""A bar for a run that goes on."""

import sys
from collections.abc import AsyncIterator
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from arena import schemas
from arena.client import Client


async def follow(client: Client, run_id: UUID, title: str, *, is_quiet: bool = False) -> None:
    """Show a run's progress until it has ended."""
    events = client.watch(run_id)
    if is_quiet or not sys.stderr.isatty():
        async for _ in events:
            pass
        return
    await _show(events, title)


async def _show(events: AsyncIterator[schemas.Progress], title: str) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[failed]} failed[/]"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None, passed=0, failed=0)
        async for now in events:
            bar.update(
                task,
                total=now.total,
                completed=now.completed,
                passed=now.passed,
                failed=now.failed,
            )
