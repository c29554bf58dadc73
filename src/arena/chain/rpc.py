"""JSON-RPC to a chain's node over HTTP.

The requests are made here, not by web3's HTTP provider: that one writes the node's address, which
may hold a key, to the log, repeats a sent transaction silently, opens a connection per request, and
checks neither the ids nor the size of an answer.
"""

import asyncio
import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from arena.chain.errors import NodeUnreachable
from arena.text import printable

if TYPE_CHECKING:
    from httpx2 import AsyncClient, ConnectError

Call = tuple[str, list[Any]]
"""A method and its parameters."""

MAX_MESSAGE = 500
"""Characters of a node's error that are kept."""
MAX_ANSWER_BYTES = 64 * 1024**2
BATCH_SIZE = 50
"""Calls in one request; hosted nodes refuse large batches."""
IDLE_SECONDS = 10
"""How long an unused connection is kept: less than any server keeps it, so that none is closed
while a request is on its way."""
STALE_CONNECTIONS = 2
"""How many connections may turn out to be closed before a request is given up."""
SETUP = "check ARENA_CHAIN_URL"
REFUSALS = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.TOO_MANY_REQUESTS,
)


class RpcError(Exception):
    """The node answered a call with an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Rpc:
    """A connection to one node. It opens with the first call."""

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self._url = url
        self._timeout_seconds = timeout_seconds
        self._client: AsyncClient | None = None
        self._last_id = 0
        self._has_batches = True
        self.name = shown_url(url)
        """The node's address as it may be shown: without its path, which may hold a key."""

    async def ask(self, method: str, *params: object) -> Any:
        """The result of one call; `RpcError` if the node answers with an error."""
        number = self._last_id = self._last_id + 1
        answer = await self._post(method, _request(number, method, params))
        return self._result(method, answer, number)

    async def ask_all(self, calls: Sequence[Call]) -> list[Any]:
        """The results of several calls in few requests; an `RpcError` in place of a result."""
        results: list[Any] = []
        for start in range(0, len(calls), BATCH_SIZE):
            results += await self._ask_batch(calls[start : start + BATCH_SIZE])
        return results

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def invalid(self, method: str, problem: str) -> NodeUnreachable:
        """The error for an answer that cannot be used."""
        return NodeUnreachable(
            f"the node {self.name} gave an invalid answer to {method}: {problem}"
        )

    async def _ask_batch(self, calls: Sequence[Call]) -> list[Any]:
        if len(calls) == 1 or not self._has_batches:
            return [await self._ask_kept(method, params) for method, params in calls]
        first = self._last_id + 1
        self._last_id += len(calls)
        requests = [
            _request(first + at, method, params) for at, (method, params) in enumerate(calls)
        ]
        what = f"a batch of {calls[0][0]} and others"
        answers = await self._post(what, requests)
        if not isinstance(answers, list):
            self._has_batches = False  # it knows none: one by one, now and from now on
            return await self._ask_batch(calls)
        responses = [
            cast(dict[str, Any], one) for one in cast(list[Any], answers) if isinstance(one, dict)
        ]
        by_id = {one.get("id"): one for one in responses}
        results: list[Any] = []
        for at, (method, _) in enumerate(calls):
            if (answer := by_id.get(first + at)) is None:
                raise self.invalid(what, f"the answer to {method} is missing")
            try:
                results.append(self._result(method, answer, first + at))
            except RpcError as error:
                results.append(error)
        return results

    async def _ask_kept(self, method: str, params: list[Any]) -> Any:
        try:
            return await self.ask(method, *params)
        except RpcError as error:
            return error

    def _result(self, method: str, answer: Any, number: int) -> Any:
        if not isinstance(answer, dict):
            raise self.invalid(method, "it is no JSON-RPC response")
        fields = cast(dict[str, Any], answer)
        error = fields.get("error")
        if isinstance(error, dict):
            parts = cast(dict[str, Any], error)
            code = parts.get("code")
            # Printable: it is shown and stored, and PostgreSQL stores no NUL.
            message = printable(str(parts.get("message", ""))[:MAX_MESSAGE])
            raise RpcError(code if isinstance(code, int) else 0, message, parts.get("data"))
        # An error that concerns the whole request may have no id.
        if fields.get("id") != number or "result" not in fields:
            raise self.invalid(method, "it is not the response to this request")
        return fields["result"]

    async def _post(self, what: str, body: object) -> Any:
        # Here to save start-up: only commands that use a chain need it.
        import httpx2

        data = json.dumps(body).encode()
        try:
            async with asyncio.timeout(self._timeout_seconds):
                for _ in range(STALE_CONNECTIONS):
                    try:
                        return await self._exchange(what, data)
                    except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError):
                        # The server had closed an idle connection. Repeating is harmless: a
                        # transaction is the same one however often it is sent.
                        continue
                return await self._exchange(what, data)
        except (TimeoutError, httpx2.TimeoutException):
            raise NodeUnreachable(
                f"the node {self.name} did not answer {what} within {self._timeout_seconds:g} s"
            ) from None
        except httpx2.ConnectError as error:
            raise NodeUnreachable(
                f"the node {self.name} cannot be reached: {_reason(error)}; {SETUP}"
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            # Only its class: the text of some of these errors has the whole address.
            raise NodeUnreachable(
                f"the connection to the node {self.name} failed ({type(error).__name__}); {SETUP}"
            ) from None

    async def _exchange(self, what: str, data: bytes) -> Any:
        client = self._client or self._open()
        body = bytearray()
        async with client.stream("POST", self._url, content=data) as answer:
            if answer.status_code in REFUSALS:
                raise self._refused(answer.status_code)
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise self.invalid(what, f"it has more than {MAX_ANSWER_BYTES} bytes")
        try:
            found: Any = json.loads(body)
        except ValueError:
            if answer.status_code != HTTPStatus.OK:
                raise self._refused(answer.status_code) from None
            raise self.invalid(what, "it is not JSON") from None
        # Some nodes send the error of a call with another status than 200.
        if answer.status_code != HTTPStatus.OK and not _has_error(found):
            raise self._refused(answer.status_code)
        return found

    def _open(self) -> "AsyncClient":
        import httpx2  # here to save start-up, as above

        self._client = httpx2.AsyncClient(
            headers={"Content-Type": "application/json"},
            follow_redirects=False,
            limits=httpx2.Limits(keepalive_expiry=IDLE_SECONDS),
            timeout=None,  # one limit for a whole request, in `_post`
        )
        return self._client

    def _refused(self, status: int) -> NodeUnreachable:
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return NodeUnreachable(f"the node {self.name} throttles: too many requests (HTTP 429)")
        if status in REFUSALS:
            return NodeUnreachable(
                f"the node {self.name} refuses requests (HTTP {status}): {SETUP} and the key in it",
                retryable=False,
            )
        return NodeUnreachable(f"the node {self.name} answered with HTTP {status}; {SETUP}")


def _reason(error: "ConnectError") -> str:
    """Why there is no connection, from the system: the library's own text may have the address."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused"
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return "no connection"


def shown_url(url: str) -> str:
    """The scheme, host and port of an address, without what may be secret."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(an invalid address)"
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


def _request(number: int, method: str, params: Sequence[object]) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}


def _has_error(answer: object) -> bool:
    return isinstance(answer, dict) and "error" in answer
