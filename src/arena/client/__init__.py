"""The Python client: every API call as a typed method, and the loop of an agent that earns.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        details = await client.run_and_wait("qa-web-manager")

`SyncClient` is the same for programs without `asyncio`. It raises the errors of `arena.errors`:
those of the caller, and those of the infrastructure. Needs httpx2 and pydantic, and cryptography to
sign.
"""

from arena.client.client import Client
from arena.client.executing import TaskResult, read_output
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
    "Signer",
    "SyncClient",
    "TaskResult",
    "read_output",
]
