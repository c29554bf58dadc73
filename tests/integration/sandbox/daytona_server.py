"""A server that speaks the part of Daytona's interface we use, over real sandboxes."""

import asyncio
import json
from urllib.parse import urlsplit

from arena.sandbox.errors import SandboxDestroyed
from arena.sandbox.namespace.provider import NamespaceProvider

KEY = "a key for tests"


class DaytonaServer:
    def __init__(self, provider: NamespaceProvider) -> None:
        self._provider = provider
        self._sandboxes = {}
        self._server: asyncio.Server | None = None
        self.requests: list[str] = []

    async def __aenter__(self) -> "DaytonaServer":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._provider.close()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/api"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line, *headers = head.split("\r\n")
            method, target, _ = line.split(" ")
            fields = {
                name.lower(): text
                for name, _, text in (header.partition(": ") for header in headers if header)
            }
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            status, document = await self._answer(method, target, fields, body)
            content = json.dumps(document).encode()
            writer.write(
                f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode()
                + content
            )
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, method, target, fields, body) -> tuple[int, object]:
        path = urlsplit(target).path.removeprefix("/api")
        self.requests.append(f"{method} {path}")
        if fields.get("authorization") != f"Bearer {KEY}":
            return 401, {"message": "who are you?"}
        match path.strip("/").split("/"), method:
            case ["sandbox"], "POST":
                assert json.loads(body)["networkBlockAll"] is True
                sandbox = await self._provider.create()
                self._sandboxes[sandbox.id] = sandbox
                return 200, {"id": sandbox.id, "state": "creating"}
            case ["sandbox", id], "GET" if id in self._sandboxes:
                return 200, {"id": id, "state": "started"}
            case ["sandbox", id], "DELETE" if id in self._sandboxes:
                await self._sandboxes.pop(id).destroy()
                return 200, {}
            case ["toolbox", id, "toolbox", "process", "execute"], "POST" if id in self._sandboxes:
                return await self._execute(self._sandboxes[id], json.loads(body))
        return 404, {"message": "not found"}

    async def _execute(self, sandbox, order) -> tuple[int, object]:
        command = f"cd {order['cwd']} && {order['command']}"
        try:
            result = await sandbox.exec(command, timeout=order["timeout"])
        except SandboxDestroyed:
            return 404, {"message": "gone"}
        return 200, {"exitCode": result.exit_code, "result": result.stdout or result.stderr}
