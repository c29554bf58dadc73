"""The receiver of spans: OTLP over HTTP on loopback, in the event loop of the asking process."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from arena.traces.inbox import Grant, Mailbox, Session, deliver
from arena.traces.otlp import (
    JSON,
    MAX_BODY_BYTES,
    PROTOBUF,
    BadRequest,
    failure,
    read_request,
    response,
)

HOST = "127.0.0.1"
MAX_CONNECTIONS = 64
"""A connection beyond these is closed at once."""
MAX_HEAD_BYTES = 16 * 1024
LATE_SECONDS = 10.0
"""How long a client may take for the head of a request, and again for its body."""

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Receiver:
    """Takes the spans of the questions to one agent."""

    def __init__(self) -> None:
        self._mailbox = Mailbox()
        self._state = ServerState()
        self._decoding = asyncio.Lock()
        """One body at a time: as messages, it may take a hundred times its size in memory."""
        self._server: asyncio.Server | None = None
        self.endpoint = ""

    async def start(self, port: int) -> None:
        """Listen on loopback; on a free port if `port` is 0."""
        config = Config(
            self._app,
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        config.load()
        loop = asyncio.get_running_loop()
        listener = socket.create_server((HOST, port), backlog=MAX_CONNECTIONS)
        self.endpoint = f"http://{HOST}:{listener.getsockname()[1]}"
        self._server = await loop.create_server(
            lambda: Connection(config, self._state, {}), sock=listener
        )

    def session(self, token: str) -> Session:
        """A session for the questions to one agent, with the token of its long-lived processes."""
        return Session(self.endpoint, token, self._mailbox)

    async def stop(self) -> None:
        """Close the port and all connections."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._state.connections):
            cast(Connection, connection).transport.abort()
        for task in list(self._state.tasks):
            task.cancel()
        await asyncio.gather(*self._state.tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        answered_type = media_type if media_type in (JSON, PROTOBUF) else PROTOBUF
        try:
            status, body = 200, await self._export(scope, headers, media_type, receive)
        except BadRequest as error:
            status, body = error.status, failure(answered_type, str(error))
        except ConnectionResetError:
            return  # the client is gone
        fields = [
            (b"content-type", answered_type.encode()),
            (b"content-length", str(len(body)).encode()),
        ]
        if status == 401:
            fields.append((b"www-authenticate", b"Bearer"))
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": body})

    async def _export(
        self, scope: Scope, headers: dict[str, str], media_type: str, receive: Receive
    ) -> bytes:
        """Take the spans of a request; the body of the response, or a `BadRequest`."""
        if scope["path"] not in ("/v1/traces", "/v1/metrics", "/v1/logs"):
            raise BadRequest(404, "traces are sent to /v1/traces")
        if scope["method"] != "POST":
            raise BadRequest(405, "traces are sent by POST")
        grant = self._grant(headers.get("authorization", ""))
        if scope["path"] != "/v1/traces":
            # Accepted, so that no SDK complains, and thrown away.
            await _read(receive, headers.get("content-length", "0"))
            return response(media_type)
        try:
            return await self._take(grant, headers, media_type, receive)
        except BadRequest as error:
            grant.note(f"spans were refused: {error}")
            raise

    async def _take(
        self, grant: Grant, headers: dict[str, str], media_type: str, receive: Receive
    ) -> bytes:
        """Take the spans of a request with a valid token."""
        if media_type not in (JSON, PROTOBUF):
            raise BadRequest(415, f"the content type must be {PROTOBUF} or {JSON}")
        coding = headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", ""):
            raise BadRequest(415, "the content encoding must be gzip or identity")
        if not grant.count_request():
            raise BadRequest(429, "too many requests for one question")
        with grant.receiving():
            body = await _read(receive, headers.get("content-length", "0"))
            async with self._decoding:
                spans = await asyncio.to_thread(
                    read_request, body, media_type, is_gzip=coding == "gzip"
                )
            refused, reason = deliver(grant, spans)
        return response(media_type, refused=refused, reason=reason)

    def _grant(self, authorization: str) -> Grant:
        scheme, _, token = authorization.partition(" ")
        grant = self._mailbox.grant(token.strip()) if scheme.lower() == "bearer" else None
        if grant is None:
            raise BadRequest(401, "the header Authorization must be: Bearer and a valid token")
        return grant


class Connection(H11Protocol):
    """One connection, which is closed if its client is late, or if there are too many."""

    _waits_for: Any = None
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The connection is open."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        super().connection_lost(exc)
        if self._timer:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """The client has sent something."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """The response is written."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Begin a new deadline when the client has another part of a request to send."""
        waits_for = self.conn.their_state
        if waits_for is self._waits_for:
            return  # another byte does not extend a deadline
        self._waits_for = waits_for
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if waits_for in (h11.IDLE, h11.SEND_BODY):
            self._timer = self.loop.call_later(LATE_SECONDS, self.transport.abort)


async def _read(receive: Receive, length: str) -> bytes:
    """The body of a request as it was sent; a `BadRequest` beyond the limit."""
    body = bytearray()
    is_too_large = not length.isdecimal() or int(length) > MAX_BODY_BYTES
    while not is_too_large:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError
        body += message.get("body", b"")
        is_too_large = len(body) > MAX_BODY_BYTES
        if not message.get("more_body"):
            break
    if is_too_large:
        raise BadRequest(413, f"a body may have at most {MAX_BODY_BYTES:,} bytes")
    return bytes(body)
