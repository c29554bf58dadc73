"""Shared by the acceptance tests of the chain: a local node, and settings from its commands."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from anvil_node import new_anvil


def with_settings(shell: Any, **variables: str) -> Any:
    """The shell with other settings; an empty one counts as not set."""
    return replace(shell, variables={**shell.variables, **variables})


def with_exports(shell: Any, output: str) -> Any:
    """The shell after `eval` of a command's output."""
    script = f"{output}\nenv -0"
    done = subprocess.run(
        ["bash", "-c", script], env=shell.environment, capture_output=True, text=True, check=True
    )
    pairs = (line.partition("=") for line in done.stdout.split("\0"))
    found = {name: value for name, _, value in pairs if name.startswith("ARENA_")}
    return with_settings(shell, **found)


@contextmanager
def chain_up(shell: Any) -> Iterator[Any]:
    """The shell with the settings that `arena chain up` printed, while the node runs."""
    new_anvil(shell.home / "chain")
    done = shell.arena("chain", "up", "--background", "--port", "0")
    assert done.returncode == 0, done.stderr
    try:
        yield with_exports(shell, done.stdout)
    finally:
        stopped = shell.arena("chain", "down")
    assert stopped.returncode == 0, stopped.stderr


def deployed(shell: Any) -> Any:
    """The shell with a contract and the ledger on its chain."""
    done = shell.arena("chain", "deploy", "--as", "operator")
    assert done.returncode == 0, done.stderr
    return with_exports(shell, done.stdout)


def processes_of(folder: Path) -> list[str]:
    """The processes that work in this folder, or were started with a path below it."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            texts = [str((process / "cwd").readlink()), *told.decode(errors="replace").split("\0")]
        except OSError:
            continue  # it has ended, or belongs to somebody else
        if any(str(folder) in text for text in texts):
            found.append(" ".join(texts[1:5]))
    return found
