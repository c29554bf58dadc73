"""Operations over HTTP: requests, responses, and errors as the errors of `arena.errors`."""

import contextlib
import json
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, cast
from urllib.parse import quote
from urllib.request import getproxies

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError
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

Shape = TypeVar("Shape")

ERRORS: Mapping[int, type[ArenaError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: InvalidInput,
}

PAGE = 1000
BYTES = "application/octet-stream"

PROBES = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
"""A server whose machine vanished is noticed within a minute, however long an answer may take."""
SOCKET_OPTIONS = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in PROBES
        if hasattr(socket, name)  # not every system lets them be set
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
            raise InvalidInput("the token has characters that no header can carry")
        verify, mounts = (True, None) if transport else _lasting()
        self._http = httpx2.AsyncClient(
            base_url=checked_url(url),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            # In the query and not in a header: a team may be called anything.
            params={"team_id": team_id} if team_id else {},
            # A run may take hours: not the answer is waited for, but a sign that somebody is there.
            timeout=httpx2.Timeout(None, connect=10.0),
            verify=verify,
            transport=transport,
            mounts=mounts,
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

    async def call(self, operation: Operation, group: object, arguments: dict[str, Any]) -> Any:
        """Send an operation; its result, or the stream of its events."""
        request = self._request(operation, arguments)
        if operation.wire.events is not None:
            response = await self._send(request, stream=True)
            return self._read_events(operation.wire.events, request, response)
        content = (await self._send(request)).content
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
            options["json"] = sent["field"]  # also where every field is left out
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
        """Each event as it comes; an error where the stream ends while somebody still reads.

        An event of an unknown name is skipped: a newer server may have more of them.
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

    async def _get(self, path: str, shape: type[Shape], **query: Any) -> Shape:
        request = self._http.build_request("GET", path, params=_given(query))
        return read_shape(shape, (await self._send(request)).content, request)

    async def _post(
        self, path: str, shape: type[Shape], *, body: BaseModel | None = None, **query: Any
    ) -> Shape:
        try:
            content = None if body is None else body.model_dump(mode="json", exclude_none=True)
            request = self._http.build_request("POST", path, params=_given(query), json=content)
        except ValueError as wrong:  # nested too deep, not a number, half of a surrogate pair
            raise InvalidInput(f"the request cannot be written as JSON: {wrong}") from None
        return read_shape(shape, (await self._send(request)).content, request)

    async def _upload(self, path: str, shape: type[Shape], data: bytes) -> Shape:
        headers = {"Content-Type": "application/octet-stream"}
        request = self._http.build_request("POST", path, content=data, headers=headers)
        return read_shape(shape, (await self._send(request)).content, request)

    async def _watch(
        self,
        path: str,
        shape: type[Shape] | Mapping[str, type[Shape]],
        *,
        until: str,
        **query: Any,
    ) -> AsyncGenerator[tuple[str, Shape]]:
        """Name and data of each event; an error where the stream ends before its reader does.

        Where shapes go by the names of events, an event of another name is passed over.
        """
        request = self._http.build_request("GET", path, params=_given(query))
        response = await self._send(request, stream=True)
        try:
            async for name, data, _ in _events(_lines(response.aiter_bytes())):
                fitting = shape if isinstance(shape, type) else shape.get(name)
                if fitting is not None:
                    yield name, read_shape(fitting, data, request)
        except httpx2.HTTPError as wrong:
            raise InfrastructureError(f"{place(request)} has gone: {wrong}") from wrong
        finally:
            await response.aclose()
        raise InfrastructureError(f"{place(request)} has gone before {until}")

    async def _send(self, request: httpx2.Request, *, stream: bool = False) -> httpx2.Response:
        try:
            response = await self._http.send(request, stream=stream)
            if response.is_error:
                await response.aread()
        except httpx2.HTTPError as wrong:
            told = str(wrong) or type(wrong).__name__
            raise InfrastructureError(f"no answer from {place(request)}: {told}") from wrong
        if response.is_error:
            raise _error(response)
        return response


def _lasting() -> tuple[ssl.SSLContext, dict[str, httpx2.AsyncHTTPTransport]]:
    """A way for every address on which it is noticed that nobody is at the other end any more.

    As a mount, not as the transport: then the proxies that the environment names still count.
    """
    trusted = httpx2.create_ssl_context()
    direct = httpx2.AsyncHTTPTransport(verify=trusted, socket_options=SOCKET_OPTIONS)
    return trusted, {} if "all" in getproxies() else {"all://": direct}


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """The lines of a stream of events; httpx2 would also cut at characters that stand in texts."""
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
    """The error that an answer tells of, with the code it has there."""
    detail: object = response.text[:500] or response.reason_phrase
    code: object = None
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        problem = cast("dict[str, object]", json.loads(response.text))
        detail, code = problem["detail"], problem.get("code")
    kind = ERRORS.get(response.status_code, CallerError)
    error = (InfrastructureError if response.status_code >= 500 else kind)(str(detail))
    if isinstance(code, str):
        error.code = code
    return error


def checked_url(url: str) -> httpx2.URL:
    """The address of a server, if it is one."""
    try:
        checked = httpx2.URL(url)
    except httpx2.InvalidURL as wrong:
        raise InvalidInput(f"the server's address {url!r} is not one: {wrong}") from wrong
    if checked.scheme not in ("http", "https") or not checked.host:
        raise InvalidInput(f"the server's address {url!r} must be like http://localhost:5109")
    return checked


def place(request: httpx2.Request) -> str:
    """Where a request goes, for messages."""
    return f"{request.url.scheme}://{request.url.netloc.decode()}"


def asked(shape: type[Shape], **values: Any) -> Shape:
    """A request with these values; one that does not fit is the caller's error."""
    try:
        return shape(**values)
    except ValidationError as wrong:
        faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in wrong.errors())
        raise InvalidInput("; ".join(faults)) from None


def _read(adapter: TypeAdapter[Any], content: bytes | str, request: httpx2.Request) -> Any:
    """A response in the shape it must have."""
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        message = f"{place(request)} does not answer like an Arena of this version"
        raise InfrastructureError(f"{message}; is the address right?") from error


def read_shape(shape: type[Shape], content: bytes | str, request: httpx2.Request) -> Shape:
    """An answer in the shape it must have."""
    try:
        return TypeAdapter(shape).validate_json(content)
    except ValidationError as wrong:
        told = f"{place(request)} does not answer like an Arena of this version"
        raise InfrastructureError(f"{told}; is the address right?") from wrong


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def quoted(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")
