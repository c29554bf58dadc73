"""The Python client: everything the API has, as typed methods, and the loop of an agent that earns.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        run = await client.create_run(RunCreate(agent_id="qa-web-manager"))

`SyncClient` is the same for programs without `asyncio`. Errors come back as the errors of
`arena.errors`: the caller's own, or the infrastructure's. Needs httpx2 and pydantic, and
cryptography for whoever signs.
"""

from arena.client.client import Client
from arena.client.executing import Result, read_output
from arena.client.journal import Journal
from arena.client.loop import AgentLoop
from arena.client.loop_options import LoopEvent, LoopOptions
from arena.client.sync import SyncClient
from arena.market.signing import Signer

__all__ = [
    "AgentLoop",
    "Client",
    "Journal",
    "LoopEvent",
    "LoopOptions",
    "Result",
    "Signer",
    "SyncClient",
    "read_output",
]
