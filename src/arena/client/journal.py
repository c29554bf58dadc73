"""The journal of an agent: how far it got with each task. It survives kill -9.

One small file per task, replaced atomically. The server knows which tasks are assigned and
submitted; only the journal knows what was executed here, and with what result.
"""

import fcntl
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from arena.errors import Conflict, InfrastructureError
from arena.files import write_atomically


class Stage(StrEnum):
    """How far an agent has got with a task."""

    ASSIGNED = "assigned"
    EXECUTED = "executed"
    """There is a result; it may not be submitted yet."""
    SUBMITTED = "submitted"
    FAILED = "failed"
    """Given up: no more automatic attempts."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """How far one task got."""

    task_id: int
    stage: Stage = Stage.ASSIGNED
    attempts: int = 0
    """Failed executions."""
    text: str | None = None
    result_hash: str | None = None
    language: str | None = None
    reason: str | None = None
    """Why the last execution failed."""
    # A key of files on disk: another name would make old journals unreadable.
    is_judged_told: bool = False
    """Whether its verdict was reported."""


class Journal:
    """The entries of one agent in one market; without a folder they are kept in memory only."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._entries: dict[int, JournalEntry] = {}
        if folder is not None:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                message = f"cannot create the journal {folder}: {error.strerror}"
                raise InfrastructureError(message, retryable=False) from error
            self._read(folder)

    def get(self, task_id: int) -> JournalEntry | None:
        """The entry of a task; None if it is new."""
        return self._entries.get(task_id)

    def entries(self, *stages: Stage) -> list[JournalEntry]:
        """The entries in these stages, oldest task first."""
        found = (entry for entry in self._entries.values() if entry.stage in stages)
        return sorted(found, key=lambda entry: entry.task_id)

    def write(self, entry: JournalEntry, **changes: object) -> JournalEntry:
        """Store the entry with these changes; when this returns, it is on the disk."""
        kept = replace(entry, **changes)  # pyright: ignore[reportArgumentType]
        if self.folder is not None:
            _write(self.folder / f"{kept.task_id}.json", json.dumps(asdict(kept)))
        self._entries[kept.task_id] = kept
        return kept

    @contextmanager
    def held(self) -> Generator[None]:
        """Lock the journal against other processes; `Conflict` if one uses it."""
        if self.folder is None:
            yield
            return
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise Conflict(
                    f"another process already works for this agent ({self.folder}): stop it first"
                ) from None
            # The previous holder may have written since we read it.
            self._read(self.folder)
            yield

    def _read(self, folder: Path) -> None:
        entries = [_read(path) for path in folder.glob("*.json")]
        self._entries = {entry.task_id: entry for entry in entries}


def _read(path: Path) -> JournalEntry:
    try:
        value: dict[str, Any] = json.loads(path.read_bytes())
        value["stage"] = Stage(value["stage"])
        return JournalEntry(**value)
    except (OSError, ValueError, TypeError, KeyError) as error:
        message = f"the journal file {path} cannot be read ({error}): fix it or move it away"
        raise InfrastructureError(message, retryable=False) from None


def _write(path: Path, text: str) -> None:
    """Write the whole file or nothing, even if the power fails."""
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise InfrastructureError(
            f"cannot write the journal file {path}: {error.strerror}"
        ) from error
