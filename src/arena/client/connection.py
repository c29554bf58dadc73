"""Operations over HTTP: requests, responses, and errors as the errors of `arena.errors`."""

import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast
from urllib.parse import quote
from urllib.request import getproxies

import httpx2
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

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
from arena.operations.operation import Event, Events, Operation

ERRORS: Mapping[int, type[ArenaError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: InvalidInput,
}

BYTES = "application/octet-stream"
JSON = "application/json"

PROBES = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""Detect a dead server machine within a minute (30 s + 3 x 10 s), however long a response takes."""
SOCKET_OPTIONS = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in PROBES
        if hasattr(socket, name)  # not every system has all of them
    ),
]


class Connection:
    """A connection to an Arena server: a target that sends operations to it."""

    def __init__(
        self,
        url: str,
        *,
        team_id: str | None = None,
        token: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        if token and not (token.isascii() and token.isprintable()):
            raise InvalidInput("the token has characters that an HTTP header cannot hold")
        verify, mounts = (True, None) if transport else _keep_alive()
        self._http = httpx2.AsyncClient(
            base_url=checked_url(url),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            # In the query, not in a header: a team's name may have any characters.
            params={"team_id": team_id} if team_id else {},
            # No read timeout: a run may take hours. TCP keep-alive detects a dead server.
            timeout=httpx2.Timeout(None, connect=10.0),
            verify=verify,
            transport=transport,
            mounts=mounts,
        )

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def call(self, operation: Operation, group: object, arguments: dict[str, Any]) -> Any:
        """Send an operation; its result, or the stream of its events."""
        operation.checked(arguments)  # fail here rather than at the server
        request = self._request(operation, arguments)
        if operation.wire.events is not None:
            response = await self._send(request, stream=True)
            return self._read_events(operation.wire.events, request, response)
        is_report = operation.wire.unavailable_unless is not None
        content = (await self._send(request, is_report=is_report)).content
        if operation.wire.media_type is not None:
            return content
        return _read(operation.adapter, content, request)

    def _request(self, operation: Operation, arguments: dict[str, Any]) -> httpx2.Request:
        sent: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}, "field": {}}
        options: dict[str, Any] = {}
        for one in operation.parameters:
            value = arguments.get(one.name)
            if value is None:
                continue
            if one.place == "bytes":
                options = {"content": value, "headers": {"Content-Type": BYTES}}
            elif one.place == "body":
                options["json"] = operation.body_document(value)
            else:
                sent[one.place][one.alias] = to_jsonable_python(value)
        path = operation.wire.path.format_map(
            {name: quote(str(value), safe="") for name, value in sent["path"].items()}
        )
        if any(one.place == "field" for one in operation.parameters):
            options["json"] = sent["field"]  # also if every field is left out
        if sent["header"]:
            names = {name.replace("_", "-"): value for name, value in sent["header"].items()}
            options["headers"] = names
        try:
            return self._http.build_request(
                operation.wire.method, path, params=sent["query"], **options
            )
        except ValueError as error:  # nested too deep, not a number, half of a surrogate pair
            raise InvalidInput(f"the request cannot be written as JSON: {error}") from None

    async def _read_events(
        self, kinds: Mapping[str, type], request: httpx2.Request, response: httpx2.Response
    ) -> Events:
        """Each event as it arrives; an error if the server ends the stream.

        Events with unknown names are skipped: a newer server may send more kinds.
        """
        adapters = {name: TypeAdapter(kind) for name, kind in kinds.items()}
        try:
            async for event, data, ident in _events(_lines(response.aiter_bytes())):
                if event in adapters:
                    value = _read(adapters[event], data, request)
                    yield Event(name=event, data=value, id=ident)
        except httpx2.HTTPError as error:
            raise InfrastructureError(f"{place(request)} closed the stream: {error}") from error
        finally:
            await response.aclose()
        raise InfrastructureError(f"{place(request)} closed the stream before its end")

    async def _send(
        self, request: httpx2.Request, *, stream: bool = False, is_report: bool = False
    ) -> httpx2.Response:
        try:
            response = await self._http.send(request, stream=stream)
            if response.is_error:
                await response.aread()
        except httpx2.HTTPError as error:
            message = str(error) or type(error).__name__
            raise InfrastructureError(f"no response from {place(request)}: {message}") from error
        # A report that something is unavailable is a result, unlike a problem document.
        is_result = is_report and response.headers.get("content-type") == JSON
        if response.is_error and not is_result:
            raise _error(response)
        return response


def _keep_alive() -> tuple[ssl.SSLContext, dict[str, httpx2.AsyncHTTPTransport]]:
    """A transport for every address that detects a dead peer by TCP keep-alive.

    As a mount, not as the transport: httpx2 ignores the environment's proxies with a transport.
    """
    trusted = httpx2.create_ssl_context()
    direct = httpx2.AsyncHTTPTransport(verify=trusted, socket_options=SOCKET_OPTIONS)
    return trusted, {} if "all" in getproxies() else {"all://": direct}


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of an event stream; `aiter_lines` would also split at U+2028 and the like."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, str, int | None]]:
    """Name, data and id of each server-sent event."""
    name, data, ident = "", "", None
    async for line in lines:
        key, _, value = line.partition(": ")
        if key == "event":
            name = value
        elif key == "data":
            data = value
        elif key == "id" and value.isdecimal():
            ident = int(value)
        elif not line and data:
            yield name, data, ident
            name, data, ident = "", "", None


def _error(response: httpx2.Response) -> ArenaError:
    """The error that a response describes, with its code."""
    detail: object = response.text[:500] or response.reason_phrase
    code: object = None
    # A proxy in between may answer with HTML, or with JSON that is no problem document.
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        problem = cast("dict[str, object]", json.loads(response.text))
        detail, code = problem["detail"], problem.get("code")
    kind = ERRORS.get(response.status_code, CallerError)
    error = (InfrastructureError if response.status_code >= 500 else kind)(str(detail))
    if isinstance(code, str):
        error.code = code
    return error


def checked_url(url: str) -> httpx2.URL:
    """The URL of a server; an error if it is not a valid one."""
    try:
        checked = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise InvalidInput(f"the server's address {url!r} is not a valid URL: {error}") from error
    if checked.scheme not in ("http", "https") or not checked.host:
        raise InvalidInput(f"the server's address {url!r} must be like http://localhost:5109")
    return checked


def place(request: httpx2.Request) -> str:
    """The server a request goes to, for messages."""
    return f"{request.url.scheme}://{request.url.netloc.decode()}"


def _read(adapter: TypeAdapter[Any], content: bytes | str, request: httpx2.Request) -> Any:
    """A response, validated as the type it must have."""
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        message = f"{place(request)} did not respond like an Arena server of this version"
        raise InfrastructureError(f"{message}; is the address right?", retryable=False) from error
