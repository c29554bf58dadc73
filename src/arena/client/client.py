"""The Python client: everything the API has, as typed methods.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        details = await client.run_and_wait("qa-web-manager")
        print(details.run.score_percent)

Errors come back as the errors of `arena.errors`: the caller's own, or the infrastructure's.
"""

import httpx2

from arena import schemas
from arena.client.connection import PAGE, Connection, quoted
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

    # Tests and agents

    async def tests(
        self,
        *,
        category: str | None = None,
        agent_id: str | None = None,
        tag: str | None = None,
        include_inactive: bool = False,
    ) -> list[schemas.Test]:
        """Every test that fits."""
        tests: list[schemas.Test] = []
        cursor: str | None = None
        while True:
            page = await self._get(
                "/api/benchmarks/tests",
                schemas.TestList,
                category=category,
                agent_id=agent_id,
                tag=tag,
                include_inactive=include_inactive,
                limit=PAGE,
                cursor=cursor,
            )
            tests += page.tests
            cursor = page.next_cursor
            if cursor is None:
                return tests

    async def test(self, test_id: str) -> schemas.Test:
        """One test."""
        return await self._get(f"/api/benchmarks/tests/{quoted(test_id)}", schemas.Test)

    async def catalog(self) -> schemas.CatalogState:
        """The files of the catalog and what is wrong with them."""
        return await self._get("/api/benchmarks/catalog", schemas.CatalogState)

    async def audit_tests(self) -> schemas.TestAudit:
        """Which tests an agent that does nothing passes; while some are pending, ask again."""
        return await self._get("/api/benchmarks/audit", schemas.TestAudit)

    async def agents(self) -> schemas.AgentList:
        """Every agent in its newest version."""
        return await self._get("/api/agents", schemas.AgentList)

    async def agent(self, agent_id: str, version: str | None = None) -> schemas.Agent:
        """One agent."""
        return await self._get(f"/api/agents/{quoted(agent_id)}", schemas.Agent, version=version)

    async def check_agent(self, agent_id: str, check: schemas.AgentCheck) -> schemas.AgentChecked:
        """Ask an agent once."""
        path = f"/api/agents/{quoted(agent_id)}/check"
        return await self._post(path, schemas.AgentChecked, body=check)
