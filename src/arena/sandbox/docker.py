"""Sandboxes in containers, through the engine's own HTTP interface on its socket."""

import asyncio
import contextlib
import struct
import time
import uuid
from typing import Any, Self

import httpx2

from arena.errors import NotFound
from arena.sandbox.arguments import checked_command, checked_seconds, content_bytes
from arena.sandbox.errors import (
    LimitReached,
    ProbeStep,
    SandboxDestroyed,
    SandboxFailed,
    SandboxUnavailable,
)
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.memory import complains_of_memory
from arena.sandbox.ports import ExecResult
from arena.sandbox.shell_files import read_by_command, write_by_command
from arena.sandbox.turns import turns

SOCKET = "/var/run/docker.sock"
IMAGE = "python:3.11-slim"
VERSION = "v1.41"
DIRECTORY = "/desk"
SOMEBODY = "65534:65534"
HEADER = struct.Struct(">BxxxI")
STDERR = 2
NOT_FOUND = 404
GRACE_SECONDS = 10.0
# Waits as the container's own root, whom commands (nobody, without capabilities) cannot signal.
WAIT = ["sh", "-c", "while :; do sleep 3600; done"]


class DockerProvider:
    """Containers without network, rights or a writable root."""

    def __init__(
        self, limits: Limits | None = None, *, socket: str = SOCKET, image: str = IMAGE
    ) -> None:
        self.limits = limits or Limits()
        self._image = image
        self._socket = socket
        transport = httpx2.AsyncHTTPTransport(uds=socket)
        self._engine = httpx2.AsyncClient(
            transport=transport, base_url=f"http://engine/{VERSION}", timeout=60
        )
        self._sandboxes: dict[str, DockerSandbox] = {}
        self._turns = turns()

    def turn(self) -> asyncio.Semaphore:
        """To be held while a submission is judged."""
        return self._turns

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create(
        self, image: str | None = None, timeout: float | None = None
    ) -> "DockerSandbox":
        """A fresh container of `image`, which must be on the machine already."""
        seconds = checked_seconds(timeout, self.limits.wall_seconds)
        name = f"arena-{uuid.uuid4().hex[:12]}"
        body = self._description(image or self._image)
        await self.ask("POST", "/containers/create", params={"name": name}, json=body)
        try:
            await self.ask("POST", f"/containers/{name}/start")
        except SandboxFailed:
            await self.remove(name)
            raise
        sandbox = DockerSandbox(self, name, seconds)
        self._sandboxes[name] = sandbox
        return sandbox

    def _description(self, image: str) -> dict[str, Any]:
        limits = self.limits
        memory = limits.memory_bytes + limits.workspace_bytes
        # By owner: the engine gives the mount the mode of the folder it covers.
        options = f"rw,nosuid,nodev,uid=65534,gid=65534,size={limits.workspace_bytes}"
        return {
            "Image": image,
            "Cmd": WAIT,
            "User": "0:0",
            "WorkingDir": DIRECTORY,
            "Env": [f"HOME={DIRECTORY}", "LANG=C.UTF-8"],
            "NetworkDisabled": True,
            "HostConfig": {
                "NetworkMode": "none",
                "ReadonlyRootfs": True,
                "CapDrop": ["ALL"],
                "SecurityOpt": ["no-new-privileges"],
                "Init": True,
                "Memory": memory,
                "MemorySwap": memory,
                "PidsLimit": limits.workspace_processes,
                "NanoCpus": 1_000_000_000,
                "Tmpfs": {DIRECTORY: f"{options},exec", "/tmp": f"{options},exec"},
                "Ulimits": [
                    {"Name": "core", "Soft": 0, "Hard": 0},
                    {
                        "Name": "fsize",
                        "Soft": limits.workspace_file_bytes,
                        "Hard": limits.workspace_file_bytes,
                    },
                ],
            },
        }

    async def destroy(self, id: str) -> None:
        """Remove one container; an unknown one is already gone."""
        sandbox = self._sandboxes.pop(id, None)
        if sandbox is not None:
            await sandbox.destroy()

    async def close(self) -> None:
        """Remove every container of this provider."""
        for id in list(self._sandboxes):
            await self.destroy(id)
        await self._engine.aclose()

    async def remove(self, name: str) -> None:
        """Remove a container and all that runs in it."""
        with contextlib.suppress(NotFound):
            await self.ask("DELETE", f"/containers/{name}", params={"force": "true", "v": "true"})

    async def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """One request to the engine; what it refuses becomes one of our errors."""
        try:
            response = await self._engine.request(method, path, **more)
        except httpx2.ConnectError as error:
            raise self._unreachable(error) from error
        except httpx2.HTTPError as error:
            raise SandboxFailed(f"the container engine does not answer: {error!r}") from error
        if response.status_code == NOT_FOUND:
            message = response.json().get("message", "")
            if "image" in message.lower():
                raise SandboxUnavailable(f"{message}; load it first: docker pull <image>")
            raise NotFound(message)
        if response.is_error:
            raise SandboxFailed(f"the container engine refused {path}: {response.text[:500]}")
        return response

    def _unreachable(self, error: Exception) -> SandboxUnavailable:
        step = ProbeStep(
            name="container engine",
            works=False,
            detail=f"nobody answers at {self._socket}: {error}",
            remedy="install the package docker.io and start it, or name its socket",
        )
        return SandboxUnavailable(f"{step.detail}; {step.remedy}", report=[step])

    def stream(self, path: str) -> Any:
        """The output of a started command, as it comes."""
        body = {"Detach": False, "Tty": False}
        return self._engine.stream("POST", path, json=body, timeout=None)


class DockerSandbox:
    """One container."""

    def __init__(self, provider: DockerProvider, name: str, timeout: float) -> None:
        self._provider = provider
        self._name = name
        self._timeout = timeout
        self._turn = asyncio.Lock()
        self._destroyed = False

    @property
    def id(self) -> str:
        """The container's name."""
        return self._name

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Put a regular file at `path`; follows no link."""
        limit = self._provider.limits.workspace_file_bytes
        data = content_bytes(content)
        if len(data) > limit:
            raise LimitReached(f"{path!r} is larger than {limit} bytes", limit="file_size")
        await write_by_command(self._script, DIRECTORY, path, data)

    async def read_file(self, path: str) -> str:
        """The text of the regular file at `path`; follows no link."""
        limit = self._provider.limits.result_bytes
        data = await read_by_command(self._script, DIRECTORY, path, limit)
        return data.decode("utf-8", errors="backslashreplace")

    async def exec(self, command: str, timeout: float | None = None) -> ExecResult:
        """Run `command` with a shell; everything it started has ended when this returns."""
        command = checked_command(command)
        seconds = checked_seconds(timeout, self._timeout)
        return await self._exec(command, seconds, self._provider.limits.output_bytes)

    async def _script(self, script: str) -> ExecResult:
        # Base64 is a third longer than what it carries.
        return await self._exec(script, 120.0, self._provider.limits.result_bytes * 2)

    async def _exec(self, command: str, seconds: float, output_bytes: int) -> ExecResult:
        async with self._turn:
            if self._destroyed:
                raise SandboxDestroyed
            started = time.monotonic()
            try:
                id = await self._prepare(command)
                output = Output(output_bytes)
                limit = await self._follow(id, output, seconds)
                await self._sweep()
                state = (await self._provider.ask("GET", f"/exec/{id}/json")).json()
                if self._destroyed:
                    raise SandboxDestroyed
            except (NotFound, SandboxFailed):
                if self._destroyed:
                    raise SandboxDestroyed from None
                raise
            code = state.get("ExitCode")
            if limit is None and code and complains_of_memory(output.text(STDERR)):
                limit = Limit.MEMORY
            return ExecResult(
                stdout=output.text(1),
                stderr=output.text(2),
                exit_code=137 if code is None else int(code),
                limit=limit,
                duration_ms=(time.monotonic() - started) * 1000,
            )

    async def _prepare(self, command: str) -> str:
        body = {
            "AttachStdout": True,
            "AttachStderr": True,
            "User": SOMEBODY,
            "WorkingDir": DIRECTORY,
            "Cmd": ["sh", "-c", command],
        }
        path = f"/containers/{self._name}/exec"
        return str((await self._provider.ask("POST", path, json=body)).json()["Id"])

    async def _follow(self, id: str, output: "Output", seconds: float) -> Limit | None:
        """Read until the end, the deadline or the limit of the output."""
        try:
            async with asyncio.timeout(seconds):
                async with self._provider.stream(f"/exec/{id}/start") as response:
                    async for piece in response.aiter_raw():
                        if not output.feed(piece):
                            return Limit.OUTPUT
        except TimeoutError:
            return Limit.WALL_TIME
        except httpx2.HTTPError as error:
            raise SandboxFailed(f"the container engine broke off: {error!r}") from error
        return None

    async def _sweep(self) -> None:
        """End whatever the command left; only the container's own waiting process stays."""
        id = await self._prepare("kill -9 -1")
        with contextlib.suppress(TimeoutError, httpx2.HTTPError):
            async with asyncio.timeout(GRACE_SECONDS):
                async with self._provider.stream(f"/exec/{id}/start") as response:
                    async for _ in response.aiter_raw():
                        pass

    async def destroy(self) -> None:
        """Remove the container; a second call does nothing."""
        if not self._destroyed:
            self._destroyed = True
            await self._provider.remove(self._name)


class Output:
    """Both streams of a command, taken apart again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending = bytearray()
        self._streams = {1: bytearray(), 2: bytearray()}

    def feed(self, piece: bytes) -> bool:
        """Take in what came; False once a stream is over the limit."""
        self._pending += piece
        while len(self._pending) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._pending)
            if len(self._pending) < HEADER.size + length:
                # A frame that will not fit need not be waited for.
                return length <= self._limit
            frame = self._pending[HEADER.size : HEADER.size + length]
            del self._pending[: HEADER.size + length]
            stream = self._streams[STDERR if kind == STDERR else 1]
            stream += frame
            if len(stream) > self._limit:
                del stream[self._limit :]
                return False
        return True

    def text(self, stream: int) -> str:
        """What one stream said; bytes that are not UTF-8 are shown as such."""
        return bytes(self._streams[stream]).decode("utf-8", errors="backslashreplace")
