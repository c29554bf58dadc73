"""A bar that shows the progress of a command which takes long."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

OnProgress = Callable[[int], None]
"""Called with how much is done."""


@contextmanager
def progress(title: str, total: int, *, is_quiet: bool = False) -> Generator[OnProgress]:
    """A progress bar on a terminal; nothing elsewhere."""
    if is_quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    # Imported here: most commands end at once, and need no bar.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)
