"""Sandboxes in containers, through the engine's own HTTP interface on its socket."""

import asyncio
import contextlib
import struct
import time
import uuid
from typing import Any

import httpx2

from arena.errors import NotFound
from arena.pools.slots import Slot, Slots
from arena.sandbox.arguments import checked_seconds
from arena.sandbox.errors import SandboxDestroyed, SandboxFailed, SandboxUnavailable
from arena.sandbox.limits import Limit, Limits, cores, ran_out_of_memory, submissions_at_once
from arena.sandbox.ports import ExecResult
from arena.sandbox.remote import NOT_FOUND, RemoteProvider, RemoteSandbox

SOCKET = "/var/run/docker.sock"
IMAGE = "python:3.11-slim"
VERSION = "v1.41"
DIRECTORY = "/desk"
NOBODY = "65534:65534"
HEADER = struct.Struct(">BxxxI")
STDOUT, STDERR = 1, 2
SCRIPT_SECONDS = 120.0
SWEEP_SECONDS = 10.0
# Waits as the container's own root, whom commands (nobody, without capabilities) cannot signal.
WAIT = ["sh", "-c", "while :; do sleep 3600; done"]


class DockerProvider(RemoteProvider):
    """Containers without network, rights or a writable root."""

    def __init__(
        self, limits: Limits | None = None, *, socket: str = SOCKET, image: str = IMAGE
    ) -> None:
        transport = httpx2.AsyncHTTPTransport(uds=socket)
        client = httpx2.AsyncClient(
            transport=transport, base_url=f"http://engine/{VERSION}", timeout=60
        )
        super().__init__(limits, "the container engine", client)
        self._image = image
        self._socket = socket
        self._slots = Slots(submissions_at_once(), spare=cores())

    def slot(self) -> Slot:
        """Held while a submission is judged."""
        return self._slots.slot()

    async def create(
        self, image: str | None = None, timeout: float | None = None
    ) -> "DockerSandbox":
        """A fresh container of `image`, which must already be on the machine."""
        seconds = checked_seconds(timeout, self.limits.wall_seconds)
        name = f"arena-{uuid.uuid4().hex[:12]}"
        body = self._description(image or self._image)
        await self.request("POST", "/containers/create", params={"name": name}, json=body)
        sandbox = DockerSandbox(self, name, seconds)
        try:
            await self.request("POST", f"/containers/{name}/start")
        except SandboxFailed:
            await sandbox.destroy()
            raise
        self._sandboxes[name] = sandbox
        return sandbox

    def _description(self, image: str) -> dict[str, Any]:
        limits = self.limits
        memory = limits.memory_bytes + limits.workspace_bytes
        file_bytes = limits.workspace_file_bytes
        # Owned by nobody, because `mode=` does not help: the engine takes the mode of the folder.
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
                "MemorySwap": memory,  # the same, so that there is no swap
                "PidsLimit": limits.workspace_processes,
                "NanoCpus": 1_000_000_000,
                "Tmpfs": {DIRECTORY: f"{options},exec", "/tmp": f"{options},exec"},
                "Ulimits": [
                    {"Name": "core", "Soft": 0, "Hard": 0},
                    {"Name": "fsize", "Soft": file_bytes, "Hard": file_bytes},
                ],
            },
        }

    def _refused(self, response: httpx2.Response, path: str) -> Exception | None:
        if response.status_code != NOT_FOUND:
            return None
        message = response.json().get("message", "")
        if "image" in message.lower():
            return SandboxUnavailable(f"{message}; load it first: docker pull <image>")
        return NotFound(message)

    def _unreachable(self, error: Exception) -> SandboxUnavailable:
        return SandboxUnavailable.at(
            "container engine",
            f"nothing answers at {self._socket}: {error}",
            "install the package docker.io and start it, or name its socket",
        )


class DockerSandbox(RemoteSandbox):
    """One container."""

    def __init__(self, provider: DockerProvider, name: str, timeout: float) -> None:
        super().__init__(name, DIRECTORY, provider.limits, timeout)
        self._provider = provider

    async def _exec(self, command: str, seconds: float) -> ExecResult:
        """Everything that the command started has ended when this returns."""
        return await self._execute(command, seconds, self._limits.output_bytes)

    async def _script(self, script: str) -> ExecResult:
        # Base64 is a third longer than its content.
        return await self._execute(script, SCRIPT_SECONDS, self._limits.result_bytes * 2)

    async def _execute(self, command: str, seconds: float, output_bytes: int) -> ExecResult:
        async with self._lock:
            if self._destroyed:
                raise SandboxDestroyed
            started = time.monotonic()
            try:
                id = await self._prepare(command)
                output = Output(output_bytes)
                limit = await self._follow(id, output, seconds)
                await self._sweep()
                state = (await self._provider.request("GET", f"/exec/{id}/json")).json()
            except (NotFound, SandboxFailed):
                if self._destroyed:
                    raise SandboxDestroyed from None
                raise
            if self._destroyed:
                raise SandboxDestroyed
            code = state.get("ExitCode")
            if limit is None and code and ran_out_of_memory(output.text(STDERR)):
                limit = Limit.MEMORY
            return ExecResult(
                stdout=output.text(STDOUT),
                stderr=output.text(STDERR),
                exit_code=137 if code is None else int(code),
                limit=limit,
                duration_ms=(time.monotonic() - started) * 1000,
            )

    async def _prepare(self, command: str) -> str:
        body = {
            "AttachStdout": True,
            "AttachStderr": True,
            "User": NOBODY,
            "WorkingDir": DIRECTORY,
            "Cmd": ["sh", "-c", command],
        }
        path = f"/containers/{self.id}/exec"
        return str((await self._provider.request("POST", path, json=body)).json()["Id"])

    def _stream(self, id: str) -> Any:
        """Start a prepared command; its output as it comes."""
        body = {"Detach": False, "Tty": False}
        client = self._provider.client
        return client.stream("POST", f"/exec/{id}/start", json=body, timeout=None)

    async def _follow(self, id: str, output: "Output", seconds: float) -> Limit | None:
        """Read until the command ends, its deadline or the limit of its output."""
        try:
            async with asyncio.timeout(seconds), self._stream(id) as response:
                async for piece in response.aiter_raw():
                    if not output.feed(piece):
                        return Limit.OUTPUT
        except TimeoutError:
            return Limit.WALL_TIME
        except httpx2.HTTPError as error:
            raise SandboxFailed(f"the container engine closed the connection: {error!r}") from error
        return None

    async def _sweep(self) -> None:
        """Kill all processes of the command; only the container's own waiting process stays."""
        id = await self._prepare("kill -9 -1")
        with contextlib.suppress(TimeoutError, httpx2.HTTPError):
            async with asyncio.timeout(SWEEP_SECONDS), self._stream(id) as response:
                async for _ in response.aiter_raw():
                    pass

    async def _remove(self) -> None:
        options = {"force": "true", "v": "true"}
        with contextlib.suppress(NotFound):
            await self._provider.request("DELETE", f"/containers/{self.id}", params=options)


class Output:
    """Both streams of a command, which the engine sends as one sequence of frames."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pending = bytearray()
        self._streams = {STDOUT: bytearray(), STDERR: bytearray()}

    def feed(self, piece: bytes) -> bool:
        """Add received bytes; False once a stream is over the limit."""
        self._pending += piece
        while len(self._pending) >= HEADER.size:
            kind, length = HEADER.unpack_from(self._pending)
            if len(self._pending) < HEADER.size + length:
                # A frame larger than the limit need not arrive first.
                return length <= self._limit
            frame = self._pending[HEADER.size : HEADER.size + length]
            del self._pending[: HEADER.size + length]
            stream = self._streams[STDERR if kind == STDERR else STDOUT]
            stream += frame
            if len(stream) > self._limit:
                del stream[self._limit :]
                return False
        return True

    def text(self, stream: int) -> str:
        """One stream as text; bytes that are not UTF-8 are shown escaped."""
        return bytes(self._streams[stream]).decode("utf-8", errors="backslashreplace")
