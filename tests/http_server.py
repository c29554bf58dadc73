"""A real HTTP server on loopback with scripted replies."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any


class Request:
    """A request that the server below received."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines if line)
        self.headers = {name.lower(): value.strip() for name, _, value in pairs}
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A real HTTP server on loopback that replies exactly what the test sets, byte for byte."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.hang_ups = 0
        """How many clients closed their connection while they were being answered."""
        self._reply: bytes | Callable[[Request, asyncio.StreamWriter], Awaitable[None]] = b""

    def say(self, body: bytes | str | object, *, status: int = 200, **headers: str) -> None:
        """Answer every request with `body` (JSON unless it is text)."""
        if not isinstance(body, bytes | str):
            body = json.dumps(body)
        raw = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(raw)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self._reply = "\r\n".join(lines).encode() + b"\r\n\r\n" + raw

    def do(self, reply: Callable[[Request, asyncio.StreamWriter], Awaitable[None]]) -> None:
        """Answer every request by calling `reply`, then close the connection."""
        self._reply = reply

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.append(asyncio.current_task())
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                request = Request(head[:-4], b"")
                request.body = await reader.readexactly(
                    int(request.headers.get("content-length", 0))
                )
                self.requests.append(request)
                if callable(self._reply):
                    await self._reply(request, writer)
                    return
                writer.write(self._reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.hang_ups += 1
        except asyncio.CancelledError:
            pass  # the server stops
        finally:
            writer.close()
