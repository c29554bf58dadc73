"""Sandboxes at Daytona, through its public REST interface.

The service runs the machine; Arena sends files and commands and reads what comes back. Commands
report one stream, so the error output goes by way of a file.
"""

import asyncio
import base64
import shlex
import time
from typing import Any, Self

import httpx2

from arena.errors import InvalidInput, NotFound
from arena.sandbox.arguments import checked_command, checked_seconds, content_bytes
from arena.sandbox.errors import (
    LimitReached,
    SandboxDestroyed,
    SandboxFailed,
    SandboxUnavailable,
)
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.memory import complains_of_memory
from arena.sandbox.ports import ExecResult
from arena.sandbox.shell_files import read_by_command, write_by_command

URL = "https://app.daytona.io/api"
DIRECTORY = "/tmp/arena"
REFUSED, NOT_FOUND = (401, 403), 404
TIMED_OUT = 124
KILLED = 137
START_SECONDS = 120.0
FAILED_STATES = ("error", "build_failed", "destroyed")


class DaytonaProvider:
    """Sandboxes of one Daytona account."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        api_key: str,
        url: str = URL,
        image: str | None = None,
    ) -> None:
        if not api_key:
            raise InvalidInput("Daytona needs an API key: set ARENA_DAYTONA_API_KEY")
        self.limits = limits or Limits()
        self._image = image
        self._service = httpx2.AsyncClient(
            base_url=url, headers={"Authorization": f"Bearer {api_key}"}, timeout=60
        )
        self._sandboxes: dict[str, DaytonaSandbox] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def create(
        self, image: str | None = None, timeout: float | None = None
    ) -> "DaytonaSandbox":
        """A fresh sandbox without network, from `image` or the account's default."""
        seconds = checked_seconds(timeout, self.limits.wall_seconds)
        # Should we ever fail to delete it, the service does after a quarter of an hour.
        body: dict[str, Any] = {
            "networkBlockAll": True,
            "autoStopInterval": 15,
            "autoDeleteInterval": 0,
            "labels": {"made-by": "arena"},
        }
        if image or self._image:
            body["image"] = image or self._image
        document = (await self.ask("POST", "/sandbox", json=body)).json()
        id = str(document["id"])
        sandbox = DaytonaSandbox(self, id, seconds)
        self._sandboxes[id] = sandbox
        try:
            await self._wait_until_started(id, str(document.get("state", "")))
            await sandbox.prepare()
        except SandboxFailed:
            await self.destroy(id)
            raise
        return sandbox

    async def _wait_until_started(self, id: str, state: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while state != "started":
            if state in FAILED_STATES or time.monotonic() > deadline:
                raise SandboxFailed(f"Daytona could not start the sandbox: {state or 'too slow'}")
            await asyncio.sleep(0.25)
            state = str((await self.ask("GET", f"/sandbox/{id}")).json().get("state", ""))

    async def destroy(self, id: str) -> None:
        """Delete one sandbox; an unknown one is already gone."""
        sandbox = self._sandboxes.pop(id, None)
        if sandbox is not None:
            await sandbox.destroy()

    async def close(self) -> None:
        """Delete every sandbox of this provider."""
        for id in list(self._sandboxes):
            await self.destroy(id)
        await self._service.aclose()

    async def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """One request to the service; what it refuses becomes one of our errors."""
        try:
            response = await self._service.request(method, path, **more)
        except httpx2.ConnectError as error:
            raise SandboxUnavailable(f"Daytona cannot be reached: {error}") from error
        except httpx2.HTTPError as error:
            raise SandboxFailed(f"Daytona does not answer: {error!r}") from error
        if response.status_code in REFUSED:
            raise SandboxUnavailable("Daytona refuses the API key; check ARENA_DAYTONA_API_KEY")
        if response.status_code == NOT_FOUND:
            raise NotFound(f"Daytona has no {path}")
        if response.is_error:
            raise SandboxFailed(f"Daytona refused {path}: {response.text[:500]}")
        return response


class DaytonaSandbox:
    """One sandbox at the service."""

    def __init__(self, provider: DaytonaProvider, id: str, timeout: float) -> None:
        self._provider = provider
        self._id = id
        self._timeout = timeout
        self._turn = asyncio.Lock()
        self._destroyed = False

    @property
    def id(self) -> str:
        """The service's name for it."""
        return self._id

    async def prepare(self) -> None:
        """Make the working folder."""
        await self._execute(f"mkdir -p {DIRECTORY}/desk", "/", 60)

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Put a regular file at `path`; follows no link."""
        limit = self._provider.limits.workspace_file_bytes
        data = content_bytes(content)
        if len(data) > limit:
            raise LimitReached(f"{path!r} is larger than {limit} bytes", limit="file_size")
        await write_by_command(self._script, f"{DIRECTORY}/desk", path, data)

    async def read_file(self, path: str) -> str:
        """The text of the regular file at `path`; follows no link."""
        limit = self._provider.limits.result_bytes
        data = await read_by_command(self._script, f"{DIRECTORY}/desk", path, limit)
        return data.decode("utf-8", errors="backslashreplace")

    async def _script(self, script: str) -> ExecResult:
        code, text = await self._execute(f"sh -c {shlex.quote(script)}", f"{DIRECTORY}/desk", 120)
        return ExecResult(stdout=text, stderr=text, exit_code=code)

    async def exec(self, command: str, timeout: float | None = None) -> ExecResult:
        """Run `command` with a shell; its process group has ended when this returns."""
        command = checked_command(command)
        seconds = checked_seconds(timeout, self._timeout)
        limit_bytes = self._provider.limits.output_bytes
        # One byte more than the limit tells that there was more. Base64 keeps bytes that are no
        # text, and the two streams, apart on their way through one text field.
        part = f"head -c {limit_bytes + 1} {DIRECTORY}/%s | base64 -w0"
        inner = f"timeout -s KILL {seconds} sh -c {shlex.quote(command)}"
        blocks = self._provider.limits.workspace_file_bytes // 512
        script = (
            f"ulimit -f {blocks}; {inner} >{DIRECTORY}/out 2>{DIRECTORY}/err; echo $?; "
            f"{part % 'out'}; echo; {part % 'err'}"
        )
        started = time.monotonic()
        _, text = await self._execute(f"sh -c {shlex.quote(script)}", f"{DIRECTORY}/desk", seconds)
        duration_ms = (time.monotonic() - started) * 1000
        return _read_exec(text, limit_bytes, seconds, duration_ms)

    async def _execute(self, command: str, cwd: str, seconds: float) -> tuple[int, str]:
        async with self._turn:
            if self._destroyed:
                raise SandboxDestroyed
            patience = round(seconds) + 30
            body = {"command": command, "cwd": cwd, "timeout": patience}
            path = f"/toolbox/{self._id}/toolbox/process/execute"
            try:
                response = await self._provider.ask("POST", path, json=body, timeout=patience + 30)
            except (NotFound, SandboxFailed):
                if self._destroyed:
                    raise SandboxDestroyed from None
                raise
        document = response.json()
        return int(document.get("exitCode", 0)), str(document.get("result", ""))

    async def destroy(self) -> None:
        """Delete the sandbox; a second call does nothing."""
        if self._destroyed:
            return
        self._destroyed = True
        try:
            await self._provider.ask("DELETE", f"/sandbox/{self._id}", params={"force": "true"})
        except NotFound:
            return


def _read_exec(text: str, limit_bytes: int, seconds: float, duration_ms: float) -> ExecResult:
    lines = text.split("\n")
    try:
        code = int(lines[0])
        stdout, stderr = (base64.b64decode(line) for line in (lines[1], lines[2]))
    except (ValueError, IndexError) as error:
        raise SandboxFailed(f"Daytona answered something else: {text[:200]!r}") from error
    limit = None
    if max(len(stdout), len(stderr)) > limit_bytes:
        limit = Limit.OUTPUT
    elif code in (TIMED_OUT, KILLED) and duration_ms >= seconds * 1000:
        limit = Limit.WALL_TIME
    elif code and complains_of_memory(stderr.decode("utf-8", errors="replace")):
        limit = Limit.MEMORY
    return ExecResult(
        stdout=stdout[:limit_bytes].decode("utf-8", errors="backslashreplace"),
        stderr=stderr[:limit_bytes].decode("utf-8", errors="backslashreplace"),
        exit_code=code,
        limit=limit,
        duration_ms=duration_ms,
    )
