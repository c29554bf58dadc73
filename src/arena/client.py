"""The Python client: everything the API has, as typed methods.

    async with Client("http://localhost:5109", team_id="my-team") as client:
        run = await client.create_run("qa-web-manager")
        print(await client.execute_run(run.run_id))

Errors come back as the errors of `arena.errors`: the caller's own, or the infrastructure's.
"""

import contextlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx
from pydantic import BaseModel, ValidationError

from arena import schemas
from arena.errors import (
    ArenaError,
    CallerError,
    Conflict,
    Forbidden,
    InfrastructureError,
    InvalidInput,
    NotFound,
    Unauthorized,
)

Shape = TypeVar("Shape", bound=BaseModel)

ERRORS: Mapping[int, type[ArenaError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: InvalidInput,
}

PAGE = 1000


class Client:
    """A connection to an Arena server."""

    def __init__(
        self,
        url: str,
        *,
        team_id: str | None = None,
        token: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise InvalidInput("the token has characters that no header can carry")
        self._http = httpx.AsyncClient(
            base_url=_checked(url),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            # In the query and not in a header: a team may be called anything.
            params={"team_id": team_id} if team_id else {},
            # A run may take hours; the server sends signs of life where it matters.
            timeout=httpx.Timeout(None, connect=10.0),
            transport=transport,
        )

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
        await self._http.aclose()

    # Tests and agents

    async def tests(self, **filters: Any) -> list[schemas.Test]:
        """Every test that fits `category`, `agent_id`, `tag`, `include_inactive`."""
        tests: list[schemas.Test] = []
        cursor: str | None = None
        while True:
            query = {**filters, "limit": PAGE, "cursor": cursor}
            page = await self._get("/api/benchmarks/tests", schemas.TestList, **query)
            tests += page.tests
            cursor = page.next_cursor
            if cursor is None:
                return tests

    async def test(self, test_id: str) -> schemas.Test:
        """One test."""
        return await self._get(f"/api/benchmarks/tests/{_quoted(test_id)}", schemas.Test)

    async def catalog(self) -> schemas.CatalogState:
        """The files of the catalog and what is wrong with them."""
        return await self._get("/api/benchmarks/catalog", schemas.CatalogState)

    async def audit(self) -> schemas.Audit:
        """Which tests an agent that does nothing passes; while some are pending, ask again."""
        return await self._get("/api/benchmarks/audit", schemas.Audit)

    async def standing(self, test_id: str) -> schemas.Standing:
        """How a test went with each agent, and whether it tells them apart."""
        path = f"/api/benchmarks/tests/{_quoted(test_id)}/standing"
        return await self._get(path, schemas.Standing)

    async def agents(self) -> schemas.AgentList:
        """Every agent in its newest version."""
        return await self._get("/api/agents", schemas.AgentList)

    async def agent(self, agent_id: str, version: str | None = None) -> schemas.Agent:
        """One agent."""
        return await self._get(f"/api/agents/{_quoted(agent_id)}", schemas.Agent, version=version)

    async def check_agent(self, agent_id: str, check: schemas.AgentCheck) -> schemas.AgentChecked:
        """Ask an agent once."""
        path = f"/api/agents/{_quoted(agent_id)}/check"
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

    async def runs(self, **filters: Any) -> schemas.RunList:
        """A page of runs that fit `agent_id`, `status`; `limit` and `cursor` turn the pages."""
        return await self._get("/api/benchmarks/runs", schemas.RunList, **filters)

    async def run(self, run_id: UUID, **filters: Any) -> schemas.RunDetails:
        """A run and a page of its results."""
        return await self._get(f"/api/benchmarks/runs/{run_id}", schemas.RunDetails, **filters)

    async def results(self, run_id: UUID, **filters: Any) -> AsyncIterator[schemas.Result]:
        """Every result of a run, page by page."""
        cursor: str | None = None
        while True:
            page = await self.run(run_id, limit=PAGE, cursor=cursor, **filters)
            for result in page.results:
                yield result
            cursor = page.next_cursor
            if cursor is None:
                return

    async def result(self, run_id: UUID, result_id: UUID) -> schemas.ResultDetails:
        """One result with its test as it was asked."""
        path = f"/api/benchmarks/runs/{run_id}/results/{result_id}"
        return await self._get(path, schemas.ResultDetails)

    async def watch(self, run_id: UUID) -> AsyncIterator[schemas.Progress]:
        """The progress of a run, at each change, until it has ended."""
        path = f"/api/benchmarks/runs/{run_id}/events"
        request = self._http.build_request("GET", path, params={"results": "false"})
        response = await self._send(request, stream=True)
        try:
            async for name, data in _events(response.aiter_lines()):
                yield _read(schemas.Progress, data, request)
                if name == "end":
                    return
        except httpx.HTTPError as wrong:
            raise InfrastructureError(f"{_place(request)} has gone: {wrong}") from wrong
        finally:
            await response.aclose()
        raise InfrastructureError(f"{_place(request)} has gone before the run was done")

    # Scores

    async def submit_feedback(self, feedback: schemas.FeedbackCreate) -> schemas.FeedbackCreated:
        """Rate an agent."""
        return await self._post("/api/benchmarks/feedback", schemas.FeedbackCreated, body=feedback)

    async def feedback(self, **filters: Any) -> schemas.FeedbackList:
        """A page of ratings that fit `agent_id`, `version`, `history`."""
        return await self._get("/api/benchmarks/feedback", schemas.FeedbackList, **filters)

    async def report_executions(
        self, report: schemas.ExecutionsReport
    ) -> schemas.ExecutionsReported:
        """Report executions that happened in your own system."""
        path = "/api/benchmarks/executions"
        return await self._post(path, schemas.ExecutionsReported, body=report)

    async def leaderboard(self, **filters: Any) -> schemas.Leaderboard:
        """A page of the leaderboard, by `category`, `tag`, `min_coverage`."""
        return await self._get("/api/benchmarks/leaderboard", schemas.Leaderboard, **filters)

    async def compare(self, agents: Sequence[str]) -> schemas.Comparison:
        """Agents side by side, each as `agent:version`."""
        query = ",".join(agents)
        return await self._get("/api/benchmarks/compare", schemas.Comparison, agents=query)

    async def matrix(self, agents: Sequence[str], **filters: Any) -> schemas.Matrix:
        """A page of tests against agents (`agent:version`); `differing` leaves out equals."""
        query = {"agents": ",".join(agents), **filters}
        return await self._get("/api/benchmarks/compare/tests", schemas.Matrix, **query)

    async def pareto(self) -> schemas.Pareto:
        """Accuracy against cost."""
        return await self._get("/api/benchmarks/pareto", schemas.Pareto)

    async def recalculate(
        self, agent_id: str | None = None, version: str | None = None
    ) -> schemas.Recalculated:
        """Add scores up again from the raw rows; without an agent all of the team's."""
        path = "/api/benchmarks/scores/recalculate"
        return await self._post(path, schemas.Recalculated, agent_id=agent_id, version=version)

    # Content

    async def put_content(self, data: bytes) -> schemas.ContentKept:
        """Keep bytes; their CID."""
        return await self._upload("/api/content", schemas.ContentKept, data)

    async def content(self, cid: str) -> bytes:
        """The bytes that a CID names."""
        request = self._http.build_request("GET", f"/api/content/{_quoted(cid)}")
        return (await self._send(request)).content

    async def export_content(self, cids: Sequence[str]) -> bytes:
        """An archive of these contents."""
        request = self._http.build_request("GET", "/api/archive", params={"cid": list(cids)})
        return (await self._send(request)).content

    async def import_content(self, archive: bytes) -> schemas.ContentImported:
        """Keep all that an archive holds."""
        return await self._upload("/api/archive", schemas.ContentImported, archive)

    # Judging

    async def evaluate(self, evaluate: schemas.Evaluate) -> schemas.Verdict:
        """Judge a submission by a standard."""
        return await self._post("/api/evaluate", schemas.Verdict, body=evaluate)

    async def verify(self, cid: str) -> schemas.Verification:
        """Check a verdict record."""
        return await self._get(f"/api/verify/{_quoted(cid)}", schemas.Verification)

    async def judges(self) -> schemas.JudgeList:
        """Who judges, and how far they are known."""
        return await self._get("/api/judges", schemas.JudgeList)

    # The wire

    async def _upload(self, path: str, shape: type[Shape], data: bytes) -> Shape:
        headers = {"Content-Type": "application/octet-stream"}
        request = self._http.build_request("POST", path, content=data, headers=headers)
        return _read(shape, (await self._send(request)).content, request)

    async def _get(self, path: str, shape: type[Shape], **query: Any) -> Shape:
        request = self._http.build_request("GET", path, params=_given(query))
        return _read(shape, (await self._send(request)).content, request)

    async def _post(
        self, path: str, shape: type[Shape], *, body: BaseModel | None = None, **query: Any
    ) -> Shape:
        content = None if body is None else body.model_dump(mode="json", exclude_none=True)
        request = self._http.build_request("POST", path, params=_given(query), json=content)
        return _read(shape, (await self._send(request)).content, request)

    async def _send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        try:
            response = await self._http.send(request, stream=stream)
            if response.is_error:
                await response.aread()
        except httpx.HTTPError as wrong:
            told = str(wrong) or type(wrong).__name__
            raise InfrastructureError(f"no answer from {_place(request)}: {told}") from wrong
        if response.is_error:
            raise _error(response)
        return response


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    """Name and data of each server-sent event."""
    name, data = "", ""
    async for line in lines:
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            data = value
        elif not line and data:
            yield name, data
            name, data = "", ""


def _error(response: httpx.Response) -> ArenaError:
    """The error that an answer tells of."""
    detail = response.text[:500] or response.reason_phrase
    with contextlib.suppress(ValueError, KeyError, TypeError):
        detail = json.loads(response.text)["detail"]
    if response.status_code >= 500:
        return InfrastructureError(str(detail))
    return ERRORS.get(response.status_code, CallerError)(str(detail))


def _checked(url: str) -> httpx.URL:
    """The address of a server, if it is one."""
    try:
        checked = httpx.URL(url)
    except httpx.InvalidURL as wrong:
        raise InvalidInput(f"the server's address {url!r} is not one: {wrong}") from wrong
    if checked.scheme not in ("http", "https") or not checked.host:
        raise InvalidInput(f"the server's address {url!r} must be like http://localhost:5109")
    return checked


def _place(request: httpx.Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc.decode()}"


def _read(shape: type[Shape], content: bytes | str, request: httpx.Request) -> Shape:
    """An answer in the shape it must have."""
    try:
        return shape.model_validate_json(content)
    except ValidationError as wrong:
        told = f"{_place(request)} does not answer like an Arena of this version"
        raise InfrastructureError(f"{told}; is the address right?") from wrong


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _quoted(name: str) -> str:
    return quote(name, safe="")
