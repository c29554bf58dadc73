"""`arena task commit` and `arena task reveal`: a result that is fixed now and shown later."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.connection import call, settings_of
from arena.cli.files import read_file
from arena.cli.options import Json
from arena.cli.parties import AsAgent, TaskNumber, signer_of
from arena.cli.task_report import print_outcome
from arena.errors import InvalidInput
from arena.market.call import TaskStory
from arena.market.task import MAX_RESULT_BYTES
from arena.operations.tasks import TaskOperations


def commit(
    context: typer.Context,
    task: TaskNumber,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The result; - reads standard input.")
    ] = None,
    result_hash: Annotated[
        str | None, typer.Option(metavar="CID", help="The CID of a stored result.")
    ] = None,
    agent: AsAgent = None,
    as_json: Json = False,
) -> None:
    """Commit to a result without showing it. Reveal it after the commit deadline."""
    if (file is None) == (result_hash is None):
        raise InvalidInput("give either the file with the result or its --result-hash")
    data = None if file is None else read_file(file, max_bytes=MAX_RESULT_BYTES)
    if data == b"":
        raise InvalidInput("the result is empty")

    async def work(arena: TaskOperations, folder: Path) -> None:
        from arena.client.committing import Commitments, commit_result  # loads an HTTP library

        await commit_result(arena, Commitments(folder), task, data, result_hash=result_hash)

    _in_folder(context, task, agent, work, as_json=as_json)


def reveal(
    context: typer.Context, task: TaskNumber, agent: AsAgent = None, as_json: Json = False
) -> None:
    """Submit the result that was committed to on this machine."""

    async def work(arena: TaskOperations, folder: Path) -> None:
        from arena.client.committing import Commitments, reveal_result  # loads an HTTP library

        await reveal_result(arena, Commitments(folder), task)

    _in_folder(context, task, agent, work, as_json=as_json)


def _in_folder(
    context: typer.Context,
    task: int,
    agent: str | None,
    work: Callable[[TaskOperations, Path], Awaitable[None]],
    *,
    as_json: bool,
) -> None:
    settings = settings_of(context)
    signer = signer_of(settings, agent)

    async def move(arena: TaskOperations) -> TaskStory:
        arena.signer = signer
        market = (await arena.market()).market
        # Beside the agent's journal.
        await work(arena, settings.home / "work" / market / signer.agent / "commitments")
        return await arena.task(task)

    print_outcome(call(context, TaskOperations, move), as_json=as_json)
