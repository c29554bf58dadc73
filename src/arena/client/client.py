"""The Python client: everything the API has, as typed methods.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        run = await client.create_run(schemas.RunCreate(agent_id="qa-web-manager"))
        print(await client.execute_run(run.run_id))

Errors come back as the errors of `arena.errors`: the caller's own, or the infrastructure's.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Literal
from uuid import UUID

import httpx2

from arena import schemas
from arena.client.connection import PAGE, Connection, quoted
from arena.market.signing import Signer
from arena.operations.operations import Operations

Outcome = Literal["passed", "failed", "awaiting"]


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

    async def watch_team(self) -> AsyncIterator[schemas.Progress | schemas.Change]:
        """A team's runs as they go on, and what else changes; the first tell how things are."""
        shapes = {"progress": schemas.Progress, "change": schemas.Change}
        events = self._watch("/api/events", shapes, until="you had seen enough")
        async with contextlib.aclosing(events):
            async for _, event in events:
                yield event

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

    # Runs

    async def create_run(self, run: schemas.RunCreate) -> schemas.RunCreated:
        """Create a run; it waits until it is executed."""
        return await self._post("/api/benchmarks/run", schemas.RunCreated, body=run)

    async def execute_run(self, run_id: UUID, *, wait: bool = True) -> schemas.RunExecuted:
        """Execute a pending run, and wait until it is done or only set it going."""
        path = f"/api/benchmarks/run/{run_id}/execute"
        return await self._post(path, schemas.RunExecuted, wait=wait)

    async def resume_run(self, run_id: UUID, *, wait: bool = True) -> schemas.RunExecuted:
        """Go on with a run that was interrupted or failed."""
        path = f"/api/benchmarks/runs/{run_id}/resume"
        return await self._post(path, schemas.RunExecuted, wait=wait)

    async def cancel_run(self, run_id: UUID) -> schemas.Run:
        """Stop a run for good."""
        return await self._post(f"/api/benchmarks/runs/{run_id}/cancel", schemas.Run)

    async def runs(
        self,
        *,
        agent_id: str | None = None,
        status: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> schemas.RunList:
        """A page of runs, newest first."""
        query = {"agent_id": agent_id, "status": status, "limit": limit, "cursor": cursor}
        return await self._get("/api/benchmarks/runs", schemas.RunList, **query)

    async def run(
        self,
        run_id: UUID,
        *,
        outcome: Outcome | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> schemas.RunDetails:
        """A run and a page of its results."""
        path = f"/api/benchmarks/runs/{run_id}"
        query = {"outcome": outcome, "limit": limit, "cursor": cursor}
        return await self._get(path, schemas.RunDetails, **query)

    async def results(
        self, run_id: UUID, *, outcome: Outcome | None = None
    ) -> AsyncIterator[schemas.Result]:
        """Every result of a run, page by page."""
        cursor: str | None = None
        while True:
            page = await self.run(run_id, outcome=outcome, limit=PAGE, cursor=cursor)
            for result in page.results:
                yield result
            cursor = page.next_cursor
            if cursor is None:
                return

    async def result_rows(
        self,
        run_id: UUID,
        *,
        outcome: Outcome | None = None,
        category: str | None = None,
        test_id: str | None = None,
        flaky: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> schemas.ResultList:
        """A page of a run's results without the outputs, and how many fit."""
        return await self._get(
            f"/api/benchmarks/runs/{run_id}/results",
            schemas.ResultList,
            outcome=outcome,
            category=category,
            test_id=test_id,
            flaky=flaky,
            limit=limit,
            cursor=cursor,
        )

    async def result(
        self,
        run_id: UUID,
        result_id: UUID,
        *,
        outcome: Outcome | None = None,
        category: str | None = None,
        test_id: str | None = None,
        flaky: bool = False,
    ) -> schemas.ResultDetails:
        """One result with its test as it was asked, and its neighbours among those that fit."""
        path = f"/api/benchmarks/runs/{run_id}/results/{result_id}"
        query = {"outcome": outcome, "category": category, "test_id": test_id, "flaky": flaky}
        return await self._get(path, schemas.ResultDetails, **query)

    async def watch(self, run_id: UUID) -> AsyncIterator[schemas.Progress]:
        """The progress of a run, at each change, until it has ended."""
        path = f"/api/benchmarks/runs/{run_id}/events"
        events = self._watch(path, schemas.Progress, until="the run was done", results="false")
        async with contextlib.aclosing(events):
            async for name, progress in events:
                yield progress
                if name == "end":
                    return

    # Judging

    async def evaluate(self, evaluate: schemas.Evaluate) -> schemas.Verdict:
        """Judge a submission by a standard."""
        return await self._post("/api/evaluate", schemas.Verdict, body=evaluate)

    async def verify(self, cid: str) -> schemas.Verification:
        """Check a verdict record."""
        return await self._get(f"/api/verify/{quoted(cid)}", schemas.Verification)

    async def judges(self) -> schemas.JudgeList:
        """Who judges, and how far they are known."""
        return await self._get("/api/judges", schemas.JudgeList)
