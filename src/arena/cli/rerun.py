"""`arena run --rerun`: which run's failures are run again."""

from typing import Annotated
from uuid import UUID

import typer

from arena.cli.run_name import find_run
from arena.errors import InvalidInput
from arena.operations.agents import AgentOperations
from arena.operations.runs import RunOperations
from arena.runs.run import Run, RunStatus

FAILED = "failed"
PAGE = 100

Rerun = Annotated[
    str | None,
    typer.Option(
        metavar="failed|RUN",
        help="Only tests that failed in the agent version's latest run, or in this run.",
    ),
]


class RerunOperations(AgentOperations, RunOperations):
    """Operations that find a run to repeat."""


async def find_rerun(
    arena: RerunOperations,
    which: str | None,
    agent_id: str,
    version: str | None,
    suite: str | None = None,
) -> UUID | None:
    """The run whose failures are run again, of this suite; None without `--rerun`."""
    if which is None:
        return None
    if which != FAILED:
        return await find_run(arena, which)
    newest = version or (await arena.agent(agent_id)).version
    latest = await _latest_ended(arena, agent_id, newest, suite)
    if latest is None:
        scope = f" of the suite {suite!r}" if suite else ""
        raise InvalidInput(
            f"{agent_id}@{newest} has no run{scope} that has ended; name a run of another version "
            "with: --rerun RUN"
        )
    return latest.id


async def _latest_ended(
    arena: RunOperations, agent_id: str, version: str, suite: str | None
) -> Run | None:
    """The newest run of an agent version that was not cancelled and has ended."""
    cursor: str | None = None
    while True:
        page = await arena.runs(agent_id=agent_id, limit=PAGE, cursor=cursor)
        for run in page.runs:
            is_ended = run.status.is_final and run.status is not RunStatus.CANCELLED
            if is_ended and run.agent_version == version and suite in (None, run.suite):
                return run
        cursor = page.next_cursor
        if cursor is None:
            return None
