"""Connects a command to Arena: to a server by `--server`, or to the rooms in this process."""

import asyncio
import shlex
import signal
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import UUID

import typer

from arena.assembly import open_arena
from arena.cli.options import Options
from arena.errors import InvalidInput
from arena.operations.operation import InProcess, OperationGroup
from arena.settings import Settings, read_settings

T = TypeVar("T")
G = TypeVar("G", bound=OperationGroup)


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work from a command: the only bridge from sync to async.

    A termination signal (a CI job's timeout, a closed terminal) ends it in order, like Ctrl-C:
    otherwise the agents' processes would be left behind.
    """
    stopped_by: list[int] = []

    async def stoppable() -> T:
        task = asyncio.current_task()
        assert task is not None

        def stop(number: int) -> None:
            stopped_by.append(number)
            task.cancel()

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:  # not under `nohup`
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
        return await work

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        if not stopped_by:
            raise
        raise SystemExit(128 + stopped_by[0]) from None


def settings_of(
    context: typer.Context,
    tests: Sequence[Path] | None = None,
    agents: Sequence[Path] | None = None,
) -> Settings:
    """The current settings, with the options of the command line."""
    options: Options = context.obj or Options()
    settings = read_settings(server=options.server, team=options.team)
    for path in (*(tests or ()), *(agents or ())):
        if not path.is_dir() and not path.is_file():
            raise InvalidInput(f"there is no file or folder {path}")
    if (tests or agents) and settings.server:
        raise InvalidInput(
            "--tests and --agents name files on this machine; leave them out with --server, "
            "which has its own"
        )
    return settings.model_copy(
        update={
            "tests": (*settings.tests, *(tests or ())),
            "agents": (*settings.agents, *(agents or ())),
        }
    )


def source_of(settings: Settings) -> str:
    """Where a command reads its data, for a message that there are none."""
    if settings.server:
        return settings.server
    return str(settings.home) if settings.database_url is None else "the database"


@contextmanager
def resume_hint(
    context: typer.Context, settings: Settings, run_id: UUID, agents: Sequence[Path] | None
) -> Generator[None]:
    """Print how to continue if watching a run ends before the run does."""
    options: Options = context.obj or Options()
    try:
        yield
    except BaseException:  # above all Ctrl-C
        team = ["--team", options.team] if options.team else []
        if settings.server or settings.is_queued:
            who = "the server continues" if settings.server else "workers continue"
            message = f"no longer watching; {who} the run; see"
            server = ["--server", settings.server] if settings.server else []
            command = ["arena", *server, *team, "runs", "show", str(run_id)]
        else:
            message = "interrupted; continue with"
            folders = [word for folder in agents or () for word in ("--agents", str(folder))]
            command = ["arena", *team, "runs", "resume", str(run_id), *folders]
        print(f"{message}: {shlex.join(command)}", file=sys.stderr)
        raise


@asynccontextmanager
async def open_operations(settings: Settings, group: type[G]) -> AsyncGenerator[G]:
    """Operations of the configured server, or of the rooms in this process.

    A command names the group it uses, because importing them all takes a quarter of its start.
    """
    if settings.server:
        from arena.client.client import Client  # loads an HTTP library

        token = settings.token.get_secret_value() if settings.token else None
        # A token belongs to a team: without --team, the server uses that one.
        team = settings.team if token is None or settings.names_team else None
        async with Client(settings.server, team_id=team, token=token) as client:
            yield cast(G, client)  # which has the operations of every group
        return
    # The user of this command can open the database anyway: tokens are for network callers.
    async with open_arena(settings.model_copy(update={"tokens": ()})) as arena:
        yield group(InProcess(arena=arena, team_id=settings.team))


def call(
    context: typer.Context,
    group: type[G],
    work: Callable[[G], Awaitable[T]],
    *,
    tests: Sequence[Path] | None = None,
    agents: Sequence[Path] | None = None,
) -> T:
    """Do a command's work with the operations of a group, and wait for it.

    `tests` and `agents` are more files or folders.
    """

    async def opened() -> T:
        async with open_operations(settings_of(context, tests, agents), group) as arena:
            return await work(arena)

    return wait_for(opened())
