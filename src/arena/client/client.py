"""The Python client: everything the API has, as typed methods.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        details = await client.run_and_wait("qa-web-manager")
        print(details.run.score_percent)

Errors come back as the errors of `arena.errors`: the caller's own, or the infrastructure's.
"""

import httpx2

from arena.client.connection import Connection
from arena.market.signing import Signer
from arena.operations.operations import Operations


class Client(Operations, Connection):
    """Everything a server has. `signer` is the agent that it registers, applies and submits as."""

    def __init__(
        self,
        url: str,
        *,
        team_id: str | None = None,
        token: str | None = None,
        signer: Signer | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        Connection.__init__(self, url, team_id=team_id, token=token, transport=transport)
        Operations.__init__(self, self)
        self.signer = signer
