"""Files of a sandbox that has only commands: written and read by small shell scripts.

For providers whose own file calls follow links or do not reach a memory file system. Every part
of a path is looked at before it is used; nothing else runs in the sandbox meanwhile.
"""

import base64
import binascii
import errno
import os
import shlex
from collections.abc import Awaitable, Callable

from arena.errors import NotFound
from arena.sandbox.errors import LimitReached, SandboxFailed, UnsafeFile, WorkspaceFull
from arena.sandbox.paths import checked
from arena.sandbox.ports import ExecResult

LINK, MISSING, LARGE = 91, 92, 93
NO_SPACE = os.strerror(errno.ENOSPC)
# A single argument of a program is at most 128 KiB long on Linux.
CHUNK_BYTES = 72_000

Run = Callable[[str], Awaitable[ExecResult]]


async def write_by_command(run: Run, folder: str, path: str, data: bytes) -> None:
    """Put a regular file at `path` under `folder`."""
    walk = _walk(folder, checked(path), 'mkdir "$d"')
    empty = ': > "$f"'
    await _done(run, f"{walk}; {_regular()}; {empty}", path)
    for start in range(0, len(data), CHUNK_BYTES):
        text = base64.b64encode(data[start : start + CHUNK_BYTES]).decode()
        await _done(run, f'{walk}; printf %s {text} | base64 -d >> "$f"', path)


async def read_by_command(run: Run, folder: str, path: str, limit: int) -> bytes:
    """The bytes of the regular file at `path` under `folder`."""
    walk = _walk(folder, checked(path), f"exit {MISSING}")
    missing = f'[ -e "$f" ] || [ -L "$f" ] || exit {MISSING}'
    size = f'[ "$(wc -c < "$f")" -le {limit} ] || exit {LARGE}'
    result = await _done(run, f'{walk}; {missing}; {_regular()}; {size}; base64 "$f"', path)
    try:
        return base64.b64decode(result.stdout)
    except binascii.Error as error:
        raise SandboxFailed(f"{path!r} came back damaged: {error}") from error


def _walk(folder: str, path: str, otherwise: str) -> str:
    """Step down to `path`, never through a link; leaves the place in $f."""
    *folders, name = path.split("/")
    parts = " ".join(map(shlex.quote, folders))
    step = f'd="$d/$p"; [ ! -L "$d" ] || exit {LINK}; [ -d "$d" ] || {otherwise} || exit {LINK}'
    return (
        f"d={shlex.quote(folder)}; for p in {parts or ''}; do {step}; done; "
        f'f="$d/"{shlex.quote(name)}'
    )


def _regular() -> str:
    alone = '[ "$(stat -c %h "$f")" = 1 ]'
    plain = f'[ -f "$f" ] && [ ! -L "$f" ] && {alone}'
    return f'if [ -e "$f" ] || [ -L "$f" ]; then {plain} || exit {LINK}; fi'


async def _done(run: Run, script: str, path: str) -> ExecResult:
    result = await run(script)
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
