"""A progress bar for a run."""

import sys
from collections.abc import AsyncIterator
from uuid import UUID

from arena.operations.runs import RunOperations
from arena.runs.run import Progress


async def follow(arena: RunOperations, run_id: UUID, title: str, *, is_quiet: bool = False) -> None:
    """Show a run's progress until it has ended."""
    events = arena.watch(run_id)
    if is_quiet or not sys.stderr.isatty():
        async for _ in events:
            pass
        return
    await _show(events, title)


async def _show(events: AsyncIterator[Progress], title: str) -> None:
    # Imported here: only a terminal needs it, and loading it takes as long as printing a table.
    from rich.console import Console
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
