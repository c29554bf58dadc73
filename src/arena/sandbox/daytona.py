"""Sandboxes at Daytona, through its public REST interface.

The service runs the machine; Arena sends commands and reads their output. A command returns only
one stream, so both its outputs go through files.
"""

import asyncio
import base64
import contextlib
import shlex
import time
from typing import Any

import httpx2

from arena.errors import InvalidInput, NotFound
from arena.sandbox.arguments import checked_seconds
from arena.sandbox.errors import SandboxDestroyed, SandboxFailed, SandboxUnavailable
from arena.sandbox.limits import Limit, Limits, ran_out_of_memory
from arena.sandbox.ports import ExecResult
from arena.sandbox.remote import NOT_FOUND, RemoteProvider, RemoteSandbox

URL = "https://app.daytona.io/api"
DIRECTORY = "/tmp/arena"
DESK = f"{DIRECTORY}/desk"
NOT_ALLOWED = (401, 403)
TIMED_OUT, KILLED = 124, 137
SCRIPT_SECONDS = 120.0
START_SECONDS = 120.0
FAILED_STATES = ("error", "build_failed", "destroyed")


class DaytonaProvider(RemoteProvider):
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
        headers = {"Authorization": f"Bearer {api_key}"}
        client = httpx2.AsyncClient(base_url=url, headers=headers, timeout=60)
        super().__init__(limits, "Daytona", client)
        self._image = image

    async def create(
        self, image: str | None = None, timeout: float | None = None
    ) -> "DaytonaSandbox":
        """A fresh sandbox without network, from `image` or the account's default."""
        seconds = checked_seconds(timeout, self.limits.wall_seconds)
        # If we ever fail to delete it, the service does so after a quarter of an hour.
        body: dict[str, Any] = {
            "networkBlockAll": True,
            "autoStopInterval": 15,
            "autoDeleteInterval": 0,
            "labels": {"made-by": "arena"},
        }
        if image or self._image:
            body["image"] = image or self._image
        document = (await self.request("POST", "/sandbox", json=body)).json()
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
            state = str((await self.request("GET", f"/sandbox/{id}")).json().get("state", ""))

    def _unreachable(self, error: Exception) -> SandboxUnavailable:
        return SandboxUnavailable(f"Daytona cannot be reached: {error}")

    def _refused(self, response: httpx2.Response, path: str) -> Exception | None:
        if response.status_code in NOT_ALLOWED:
            return SandboxUnavailable("Daytona refuses the API key; check ARENA_DAYTONA_API_KEY")
        return NotFound(f"Daytona has no {path}") if response.status_code == NOT_FOUND else None


class DaytonaSandbox(RemoteSandbox):
    """One sandbox at the service."""

    def __init__(self, provider: DaytonaProvider, id: str, timeout: float) -> None:
        super().__init__(id, DESK, provider.limits, timeout)
        self._provider = provider

    async def prepare(self) -> None:
        """Make the working folder."""
        await self._execute(f"mkdir -p {DESK}", "/", 60)

    async def _script(self, script: str) -> ExecResult:
        code, text = await self._execute(f"sh -c {shlex.quote(script)}", DESK, SCRIPT_SECONDS)
        return ExecResult(stdout=text, stderr=text, exit_code=code)

    async def _exec(self, command: str, seconds: float) -> ExecResult:
        """The command's process group has ended when this returns."""
        limit_bytes = self._limits.output_bytes
        # One byte more than the limit shows that there was more. Base64 carries two streams, and
        # bytes that are not text, through one text field.
        part = f"head -c {limit_bytes + 1} {DIRECTORY}/%s | base64 -w0"
        inner = f"timeout -s KILL {seconds} sh -c {shlex.quote(command)}"
        script = (
            f"ulimit -f {self._limits.workspace_file_bytes // 512}; "
            f"{inner} >{DIRECTORY}/out 2>{DIRECTORY}/err; echo $?; "
            f"{part % 'out'}; echo; {part % 'err'}"
        )
        started = time.monotonic()
        _, text = await self._execute(f"sh -c {shlex.quote(script)}", DESK, seconds)
        duration_ms = (time.monotonic() - started) * 1000
        return _read_exec(text, limit_bytes, seconds, duration_ms)

    async def _execute(self, command: str, cwd: str, seconds: float) -> tuple[int, str]:
        async with self._lock:
            if self._destroyed:
                raise SandboxDestroyed
            timeout = round(seconds) + 30
            body = {"command": command, "cwd": cwd, "timeout": timeout}
            path = f"/toolbox/{self.id}/toolbox/process/execute"
            try:
                response = await self._provider.request(
                    "POST", path, json=body, timeout=timeout + 30
                )
            except (NotFound, SandboxFailed):
                if self._destroyed:
                    raise SandboxDestroyed from None
                raise
        document = response.json()
        return int(document.get("exitCode", 0)), str(document.get("result", ""))

    async def _remove(self) -> None:
        with contextlib.suppress(NotFound):
            await self._provider.request("DELETE", f"/sandbox/{self.id}", params={"force": "true"})


def _read_exec(text: str, limit_bytes: int, seconds: float, duration_ms: float) -> ExecResult:
    lines = text.split("\n")
    try:
        code = int(lines[0])
        stdout, stderr = (base64.b64decode(line) for line in (lines[1], lines[2]))
    except (ValueError, IndexError) as error:
        raise SandboxFailed(f"unexpected answer from Daytona: {text[:200]!r}") from error
    limit = None
    if max(len(stdout), len(stderr)) > limit_bytes:
        limit = Limit.OUTPUT
    elif code in (TIMED_OUT, KILLED) and duration_ms >= seconds * 1000:
        limit = Limit.WALL_TIME
    elif code and ran_out_of_memory(stderr.decode("utf-8", errors="replace")):
        limit = Limit.MEMORY
    return ExecResult(
        stdout=stdout[:limit_bytes].decode("utf-8", errors="backslashreplace"),
        stderr=stderr[:limit_bytes].decode("utf-8", errors="backslashreplace"),
        exit_code=code,
        limit=limit,
        duration_ms=duration_ms,
    )
