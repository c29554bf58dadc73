"""HTTP without a network: requests go straight to the app, and responses stream back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import httpx2

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class AppTransport(httpx2.AsyncBaseTransport):
    """An ASGI transport for httpx2 that streams; the built-in one waits for the whole response."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Call the app; return as soon as it starts the response."""
        exchange = _Exchange(await request.aread())
        task = asyncio.create_task(self._call(request, exchange))
        exchange.task = task
        try:
            # It always comes: if the app ends without a response, `_call` sends a final message.
            start = await exchange.messages.get()
        except BaseException:
            await exchange.aclose()  # nobody waits for the response any more
            raise
        if start["type"] != "http.response.start":
            await task
            raise httpx2.RemoteProtocolError("the app ended without an answer", request=request)
        return httpx2.Response(start["status"], headers=start["headers"], stream=exchange)

    async def _call(self, request: httpx2.Request, exchange: "_Exchange") -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.split(b"?")[0],
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(key.lower(), value) for key, value in request.headers.raw],
            "server": (request.url.host, request.url.port or 80),
            "client": ("127.0.0.1", 0),
        }
        try:
            await self._app(scope, exchange.receive, exchange.send)
        finally:
            await exchange.messages.put({"type": "http.response.body", "more_body": False})


class _Exchange(httpx2.AsyncByteStream):
    """One request and its response."""

    task: asyncio.Task[None]

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._closed = asyncio.Event()
        self.messages: asyncio.Queue[Message] = asyncio.Queue()

    async def receive(self) -> Message:
        if self._body is None:
            await self._closed.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        await self.messages.put(message)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            message = await self.messages.get()
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body"):
                return

    async def aclose(self) -> None:
        self._closed.set()
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
