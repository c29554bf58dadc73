"""How a command names a run: by its id, by the beginning of its id, or as `latest`."""

from typing import Annotated
from uuid import UUID

import typer

from arena.errors import InvalidInput, NotFound
from arena.operations.runs import RunOperations

LATEST = "latest"
MAX_MATCHES = 5
"""Runs that are listed if a name means several."""

RUN_HELP = "The run: its id, at least 4 digits of its beginning, or `latest`."
RunName = Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP)]


async def find_run(arena: RunOperations, name: str) -> UUID:
    """The id of the run that `name` means; an error if there is none, or more than one."""
    try:
        return UUID(name)
    except ValueError:
        pass
    if name == LATEST:
        newest = (await arena.runs(limit=1)).runs
        if not newest:
            raise NotFound("there is no run yet; start one with: arena run AGENT")
        return newest[0].id
    page = await arena.runs(id_prefix=name, limit=MAX_MATCHES + 1)
    # A server of 0.1 does not know the filter and sends every run.
    digits = name.lower().replace("-", "")
    found = [run for run in page.runs if run.id.hex.startswith(digits)]
    if not found:
        raise NotFound(f"there is no run whose id begins with {name!r}; see: arena runs list")
    if len(found) > 1:
        shown = [f"{run.id} ({run.agent_id} {run.agent_version})" for run in found[:MAX_MATCHES]]
        more = ", …" if len(found) > MAX_MATCHES else ""
        raise InvalidInput(f"{name!r} is the beginning of several runs: {', '.join(shown)}{more}")
    return found[0].id
