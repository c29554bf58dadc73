"""`arena worker`: take work from the queue."""

import asyncio
import logging
import re
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from arena.assembly import check_queue_installed, open_arena
from arena.cli import output
from arena.cli.connection import settings_of, wait_for
from arena.cli.options import commands
from arena.errors import InvalidInput
from arena.fields import LABEL_PATTERN, LABEL_WORDS, MAX_LABEL_LENGTH
from arena.settings import Settings

if TYPE_CHECKING:
    from arena.worker import WorkerOptions

app = commands()


@app.command()
def worker(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its name (default: of the machine).")
    ] = None,
    shards: Annotated[
        int, typer.Option(min=1, max=256, metavar="N", help="Shards of runs at once.")
    ] = 4,
    questions: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Questions to agents at once.")
    ] = 20,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="LABEL", help="Also agents placed at this label (repeatable)."),
    ] = None,
    sandbox: Annotated[
        bool | None,
        typer.Option("--sandbox/--no-sandbox", help="Tests that run code (default: if it can)."),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Judge paid tasks as this judge (repeatable)."),
    ] = None,
    drain: Annotated[bool, typer.Option("--drain", help="End when nothing waits.")] = False,
) -> None:
    """Take work from the queue until interrupted: shards of runs, judging, chores.

    Needs ARENA_DATABASE_URL (PostgreSQL) and the secrets of the agents; it opens no port. A worker
    can read the data of every team.
    """
    settings = _settings(settings_of(context), label or ())
    _set_up_logs(settings)
    check_queue_installed()
    from arena.worker import WorkerOptions  # imports the queue

    options = WorkerOptions(
        name=name,
        shards=shards,
        questions=questions,
        labels=tuple(label or ()),
        has_sandbox=sandbox,
        judges=tuple(judge or ()),
        is_draining=drain,
    )
    wait_for(_work(settings, options))


def _settings(settings: Settings, labels: Sequence[str]) -> Settings:
    """The settings of a worker; an error if it cannot work with them."""
    if settings.server:
        raise InvalidInput("a worker uses the database itself: leave --server out")
    if settings.database_url is None:
        raise InvalidInput("a worker needs a PostgreSQL database: set ARENA_DATABASE_URL")
    for one in labels:
        if not re.fullmatch(LABEL_PATTERN, one) or len(one) > MAX_LABEL_LENGTH:
            raise InvalidInput(f"the label {one!r} must be {LABEL_WORDS}")
    try:
        return Settings.model_validate(dict(settings) | {"dispatch": "queued"})
    except ValidationError:
        raise InvalidInput("a worker needs a PostgreSQL database, not SQLite") from None


def _set_up_logs(settings: Settings) -> None:
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    # It logs each job; the worker has lines of its own.
    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    # It repeats every failed attempt while the database is away.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)


async def _work(settings: Settings, options: "WorkerOptions") -> None:
    from arena.worker import Worker

    def line(text: str) -> None:
        output.line(text, at_once=True)

    async with open_arena(settings) as arena:
        await arena.database.open()
        worker = Worker(arena, options, line)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, worker.stop)
        await worker.run(lambda ready: line(f"{ready}; stop with Ctrl-C"))
        line(f"worker {worker.name} has ended")
