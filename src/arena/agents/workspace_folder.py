"""Where an agent works on files: a folder on this machine, a container, or far away."""

import asyncio
import contextlib
import os
import subprocess
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.agents.process import Program
from arena.errors import AgentUnavailable
from arena.workspaces.collected import File

if TYPE_CHECKING:
    from arena.agents.spec import PlaceSpec

VARIABLE = "ARENA_WORKSPACE"
"""Has the folder. It also marks every process of the agent, so that none is left behind."""
IN_CONTAINER, AGENT_IN_CONTAINER = "/workspace", "/agent"
REMOVE_SECONDS = 60.0
DOCKER_VARIABLES = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFolder:
    """The files of a question, laid out in a folder."""

    path: Path
    files: Mapping[str, File]
    """The same files, for agents elsewhere."""


def program_in(program: Program, folder: Path) -> Program:
    """The program with `folder` as its working folder; its own files are still found."""
    environment = {**program.environment, VARIABLE: str(folder)}
    words = [_absolute(word, program.directory, place) for place, word in enumerate(program.words)]
    return replace(program, words=words, directory=folder, environment=environment)


def _absolute(word: str, folder: Path, place: int) -> str:
    """A word that names a file of the agent, made absolute; any other as it is."""
    # The first word is a program: without a slash it is searched in PATH, not in a folder.
    if place == 0 and "/" not in word:
        return word
    return str(folder / word) if _is_file(word, folder) else word


def _is_file(word: str, folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):  # too long, or with a NUL
        return not Path(word).is_absolute() and (folder / word).is_file()
    return False


@asynccontextmanager
async def contained(
    program: Program, place: "PlaceSpec", folder: Path | None, names: tuple[str, ...]
) -> AsyncGenerator[Program]:
    """The program in a container of its own, which is gone afterwards.

    The container sees the workspace and the agent's files that the command or the place names,
    read-only; nothing else of this machine. `names` are variables that it gets.
    """
    container = f"arena-agent-{uuid.uuid4().hex[:12]}"
    environment = dict(program.environment)
    words = ["docker", "run", "--rm", "--init", "--interactive", f"--name={container}"]
    words += [f"--network={place.network}", "--cap-drop=ALL", "--pids-limit=512"]
    words += ["--security-opt=no-new-privileges", f"--user={os.getuid()}:{os.getgid()}"]
    words += [f"--env={name}" for name in names]
    if folder is not None:
        words += [f"--volume={folder}:{IN_CONTAINER}", f"--workdir={IN_CONTAINER}"]
        words += [f"--env={VARIABLE}={IN_CONTAINER}"]
    mounts: dict[str, str] = {}
    inside = [_inside(word, program.directory, at, mounts) for at, word in enumerate(program.words)]
    for path in place.mount:
        if not (program.directory / path).exists():
            raise AgentUnavailable(f"there is no {path!r} to mount", retryable=False)
        mounts[str((program.directory / path).resolve())] = f"{AGENT_IN_CONTAINER}/{path}"
    words += [f"--volume={source}:{target}:ro" for source, target in mounts.items()]
    try:
        yield replace(program, words=[*words, place.image, *inside], environment=environment)
    finally:
        # Killing the client does not end the container.
        await asyncio.shield(asyncio.to_thread(_remove, container, environment))


def _inside(word: str, folder: Path, place: int, mounts: dict[str, str]) -> str:
    """A word of the command as the container sees it; a file that it names is mounted."""
    if (place == 0 and "/" not in word) or not _is_file(word, folder):
        return word
    source = (folder / word).resolve()
    mounts[str(source)] = f"{AGENT_IN_CONTAINER}/{source.name}"
    return mounts[str(source)]


def _remove(container: str, environment: Mapping[str, str]) -> None:
    # It may be gone already, which is what is wanted.
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            ["docker", "rm", "--force", "--volumes", container],
            env=environment,
            capture_output=True,
            timeout=REMOVE_SECONDS,
            check=False,
        )
