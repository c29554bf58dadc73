"""The Python client: every operation of Arena, over HTTP.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        details = await client.run_and_wait("qa-web-manager")
        print(details.run.score_percent)

Its methods are the operations (`arena.operations`). It raises the errors of `arena.errors`: those
of the caller, and those of the infrastructure.
"""

from types import TracebackType
from typing import Self

import httpx2

from arena.client.connection import Connection
from arena.market.signing import Prover
from arena.operations.operations import Operations


class Client(Operations):
    """A client of one server, for one team."""

    def __init__(
        self,
        url: str,
        *,
        team_id: str | None = None,
        token: str | None = None,
        signer: Prover | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """`signer` is the agent that registers, applies and submits through this client."""
        self._connection = Connection(url, team_id=team_id, token=token, transport=transport)
        super().__init__(self._connection)
        self.signer = signer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()
