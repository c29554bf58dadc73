"""What Docker and Daytona share: sandboxes over HTTP that only run commands.

Files are written and read by small shell scripts, because the services' own file calls follow links
or do not reach a tmpfs. Every part of a path is checked before it is used; nothing else runs in the
sandbox meanwhile.
"""

import asyncio
import base64
import binascii
import errno
import os
import shlex
from abc import ABC, abstractmethod
from typing import Any, Self

import httpx2

from arena.errors import NotFound
from arena.sandbox.arguments import checked_command, checked_content, checked_path, checked_seconds
from arena.sandbox.errors import LimitReached, SandboxFailed, UnsafeFile, WorkspaceFull
from arena.sandbox.limits import Limits
from arena.sandbox.ports import ExecResult

NOT_FOUND = 404
# Exit codes of the scripts.
LINK, MISSING, LARGE = 91, 92, 93
NO_SPACE = os.strerror(errno.ENOSPC)
# Linux limits a single argument to 128 KiB; base64 makes this 96,000 characters.
CHUNK_BYTES = 72_000


class RemoteSandbox(ABC):
    """A sandbox that only runs commands."""

    def __init__(self, id: str, folder: str, limits: Limits, timeout: float) -> None:
        self.id = id
        self._folder = folder
        self._limits = limits
        self._timeout = timeout
        self._lock = asyncio.Lock()
        self._destroyed = False

    @abstractmethod
    async def _exec(self, command: str, seconds: float) -> ExecResult:
        """Run a checked command."""

    @abstractmethod
    async def _script(self, script: str) -> ExecResult:
        """Run one of our own scripts; its output may be larger than a command's."""

    @abstractmethod
    async def _remove(self) -> None:
        """Delete the sandbox where it runs."""

    async def exec(self, command: str, timeout: float | None = None) -> ExecResult:
        """Run `command` with a shell and wait until it has ended."""
        return await self._exec(checked_command(command), checked_seconds(timeout, self._timeout))

    async def destroy(self) -> None:
        """Delete the sandbox; a second call does nothing."""
        if not self._destroyed:
            self._destroyed = True
            await self._remove()

    async def write_file(self, path: str, content: str | bytes) -> None:
        """Write a regular file at `path`; follows no link."""
        data = checked_content(path, content, self._limits)
        walk = self._walk(path, 'mkdir "$d"')
        await self._run(f'{walk}; {_require_regular()}; : > "$f"', path)
        for start in range(0, len(data), CHUNK_BYTES):
            text = base64.b64encode(data[start : start + CHUNK_BYTES]).decode()
            await self._run(f'{walk}; printf %s {text} | base64 -d >> "$f"', path)

    async def read_file(self, path: str) -> str:
        """The text of the regular file at `path`; follows no link."""
        walk = self._walk(path, f"exit {MISSING}")
        missing = f'[ -e "$f" ] || [ -L "$f" ] || exit {MISSING}'
        size = f'[ "$(wc -c < "$f")" -le {self._limits.result_bytes} ] || exit {LARGE}'
        script = f'{walk}; {missing}; {_require_regular()}; {size}; base64 "$f"'
        result = await self._run(script, path)
        try:
            return base64.b64decode(result.stdout).decode("utf-8", errors="backslashreplace")
        except binascii.Error as error:
            raise SandboxFailed(f"{path!r} arrived damaged: {error}") from error

    def _walk(self, path: str, otherwise: str) -> str:
        """A script that walks to `path` without following links, and sets $f to it."""
        *folders, name = checked_path(path).split("/")
        parts = " ".join(map(shlex.quote, folders))
        step = f'd="$d/$p"; [ ! -L "$d" ] || exit {LINK}; [ -d "$d" ] || {otherwise} || exit {LINK}'
        return (
            f"d={shlex.quote(self._folder)}; for p in {parts}; do {step}; done; "
            f'f="$d/"{shlex.quote(name)}'
        )

    async def _run(self, script: str, path: str) -> ExecResult:
        result = await self._script(script)
        if result.exit_code == 0:
            return result
        if NO_SPACE in result.stderr:
            raise WorkspaceFull(path)
        if result.exit_code == MISSING:
            raise NotFound(f"there is no file {path!r} in the sandbox")
        if result.exit_code == LARGE:
            raise LimitReached(f"{path!r} is too large to be read", limit="file_size")
        if result.exit_code == LINK:
            raise UnsafeFile(f"{path!r} cannot be used: it is not a regular file")
        raise SandboxFailed(f"{path!r}: the sandbox answered {result.stderr.strip()[:300]!r}")


def _require_regular() -> str:
    """A script that exits if $f exists and is not a regular file with a single link."""
    alone = '[ "$(stat -c %h "$f")" = 1 ]'
    plain = f'[ -f "$f" ] && [ ! -L "$f" ] && {alone}'
    return f'if [ -e "$f" ] || [ -L "$f" ]; then {plain} || exit {LINK}; fi'


class RemoteProvider(ABC):
    """Makes sandboxes through an HTTP interface."""

    def __init__(self, limits: Limits | None, service: str, client: httpx2.AsyncClient) -> None:
        self.limits = limits or Limits()
        self.client = client
        self._service = service
        """Its name, for messages."""
        self._sandboxes: dict[str, RemoteSandbox] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @abstractmethod
    def _unreachable(self, error: Exception) -> Exception:
        """The error for a service that cannot be reached."""

    @abstractmethod
    def _refused(self, response: httpx2.Response, path: str) -> Exception | None:
        """The specific error for a response, if it needs one."""

    async def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send one request; a refusal is raised as one of our errors."""
        try:
            response = await self.client.request(method, path, **options)
        except httpx2.ConnectError as error:
            raise self._unreachable(error) from error
        except httpx2.HTTPError as error:
            raise SandboxFailed(f"{self._service} does not answer: {error!r}") from error
        refused = self._refused(response, path)
        if refused is not None:
            raise refused
        if response.is_error:
            raise SandboxFailed(f"{self._service} refused {path}: {response.text[:500]}")
        return response

    async def destroy(self, id: str) -> None:
        """Destroy one sandbox; an unknown one is already gone."""
        sandbox = self._sandboxes.pop(id, None)
        if sandbox is not None:
            await sandbox.destroy()

    async def close(self) -> None:
        """Destroy every sandbox of this provider."""
        for id in list(self._sandboxes):
            await self.destroy(id)
        await self.client.aclose()
