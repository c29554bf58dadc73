"""Files into a fresh sandbox, a command over them, and files out of it again."""

import base64
import binascii
import errno
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from arena.errors import InfrastructureError
from arena.sandbox.errors import SandboxFailed, WorkspaceFull
from arena.sandbox.ports import ExecResult, Sandbox, SandboxProvider, SharedMachine
from arena.workspaces.archive import BadArchive, read_archive, write_archive
from arena.workspaces.collected import File

PACK_SECONDS = 120.0
NO_SPACE = os.strerror(errno.ENOSPC)
MAX_SHOWN = 2000
# A home that is empty, so that nothing in the files is taken for a user's own settings.
CLEAN = "HOME=/tmp PYTHONNOUSERSITE=1; export HOME PYTHONNOUSERSITE"


class SetupFailed(InfrastructureError):
    """The setup of a workspace failed."""

    code = "setup_failed"


@asynccontextmanager
async def sandbox_with(
    provider: SandboxProvider,
    files: Mapping[str, File],
    image: str | None,
    ages: Mapping[str, int] | None = None,
) -> AsyncGenerator[Sandbox]:
    """A fresh sandbox that holds only these files; it is destroyed afterwards."""
    archive = write_archive(files, ages) if files else b""
    if isinstance(provider, SharedMachine):
        async with provider.slot(), _filled(provider, archive, image) as sandbox:
            yield sandbox
    else:
        async with _filled(provider, archive, image) as sandbox:
            yield sandbox


@asynccontextmanager
async def _filled(
    provider: SandboxProvider, archive: bytes, image: str | None
) -> AsyncGenerator[Sandbox]:
    sandbox = await provider.create(image)
    try:
        if archive:
            # One archive instead of a request per file; the name cannot be among the files.
            name = f".{os.urandom(8).hex()}.tar.gz"
            await sandbox.write_file(name, archive)
            unpacked = await sandbox.exec(f"tar -xzf {name} && rm {name}", timeout=PACK_SECONDS)
            if NO_SPACE in unpacked.stderr:
                raise WorkspaceFull("the collected files")
            if unpacked.exit_code != 0 or unpacked.limit is not None:
                raise SandboxFailed(
                    f"the files cannot be unpacked in the sandbox: {tail(unpacked)}"
                )
        yield sandbox
    finally:
        await sandbox.destroy()


async def run_clean(sandbox: Sandbox, command: str, timeout: float) -> ExecResult:
    """Run a command in an environment that no file in the sandbox has a part in."""
    return await sandbox.exec(f"{CLEAN}\n{command}", timeout=timeout)


async def set_up(
    provider: SandboxProvider,
    files: Mapping[str, File],
    command: str,
    *,
    image: str | None,
    timeout: float,
) -> dict[str, File]:
    """The files after a command of the test has worked on them, in the sandbox.

    The test may have been written by somebody else, so its command never runs on this machine.
    """
    async with sandbox_with(provider, files, image) as sandbox:
        ran = await run_clean(sandbox, command, timeout)
        if ran.limit is not None:
            raise SetupFailed(f"the setup went over the limit {ran.limit.value}: {tail(ran)}")
        if ran.exit_code != 0:
            raise SetupFailed(f"the setup ended with exit code {ran.exit_code}: {tail(ran)}")
        name = f".{os.urandom(8).hex()}"
        # Written elsewhere first: an archive cannot contain itself. If tar fails, the archive is
        # cut off, which its reader notices.
        pack = f"tar -cf - . | gzip > /tmp/{name} && base64 /tmp/{name} > {name}"
        packed = await sandbox.exec(pack, timeout=PACK_SECONDS)
        if packed.exit_code != 0 or packed.limit is not None:
            raise SetupFailed(f"the files cannot be packed after the setup: {tail(packed)}")
        text = await sandbox.read_file(name)
    try:
        return read_archive(base64.b64decode(text))
    except (BadArchive, binascii.Error) as error:
        raise SetupFailed(f"the files after the setup cannot be used: {error}") from None


def tail(ran: ExecResult) -> str:
    """The end of what a command printed."""
    return end_of(ran.stderr.strip() or ran.stdout.strip(), MAX_SHOWN)


def end_of(text: str, most: int) -> str:
    """The last lines of a text, in at most about that many characters."""
    if len(text) <= most:
        return text
    end = text[-most:]
    # Whole lines: the rest of a line says nothing, or something else.
    _, newline, lines = end.partition("\n")
    return f"…\n{lines}" if newline else f"…{end}"
