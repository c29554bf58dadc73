"""What an agent did with each task, written down before and after: it survives kill -9.

One small file for each task, replaced as a whole. The server knows which tasks are assigned and
submitted; the journal knows what only this machine knows: what was executed, with what result.
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
    """How far an agent is with a task."""

    ASSIGNED = "assigned"
    EXECUTED = "executed"
    """There is a result; it need not be submitted yet."""
    SUBMITTED = "submitted"
    FAILED = "failed"
    """Given up: nothing more is tried by itself."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known of one task."""

    task_id: int
    stage: Stage = Stage.ASSIGNED
    attempts: int = 0
    """Executions that failed."""
    text: str | None = None
    result_hash: str | None = None
    reason: str | None = None
    """Why the last execution failed."""
    is_judged_told: bool = False


class Journal:
    """The entries of one agent in one market; without a folder they live as long as this object."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._entries: dict[int, Entry] = {}
        if folder is not None:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as wrong:
                told = f"the journal: {wrong.strerror}: {folder}"
                raise InfrastructureError(told, retryable=False) from wrong
            self._read(folder)

    def get(self, task_id: int) -> Entry | None:
        """What is known of a task; None where it is new."""
        return self._entries.get(task_id)

    def entries(self, *stages: Stage) -> list[Entry]:
        """The entries in these stages, oldest task first."""
        found = (entry for entry in self._entries.values() if entry.stage in stages)
        return sorted(found, key=lambda entry: entry.task_id)

    def write(self, entry: Entry, **changes: object) -> Entry:
        """Keep the entry with these changes; once this returns it is on the disk."""
        kept = replace(entry, **changes)  # pyright: ignore[reportArgumentType]
        if self.folder is not None:
            _write(self.folder / f"{kept.task_id}.json", json.dumps(asdict(kept)))
        self._entries[kept.task_id] = kept
        return kept

    @contextmanager
    def held(self) -> Generator[None]:
        """Nobody else works by this journal meanwhile; `Conflict` where somebody does."""
        if self.folder is None:
            yield
            return
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                told = f"another process already works for this agent ({self.folder})"
                raise Conflict(f"{told}: stop it first") from None
            # Whoever held it before us may have gone on since we looked.
            self._read(self.folder)
            yield

    def _read(self, folder: Path) -> None:
        entries = [_read(path) for path in folder.glob("*.json")]
        self._entries = {entry.task_id: entry for entry in entries}


def _read(path: Path) -> Entry:
    try:
        value: dict[str, Any] = json.loads(path.read_bytes())
        value["stage"] = Stage(value["stage"])
        return Entry(**value)
    except (OSError, ValueError, TypeError, KeyError) as wrong:
        told = f"the journal's {path} cannot be read ({wrong}): mend it or move it away"
        raise InfrastructureError(told, retryable=False) from None


def _write(path: Path, text: str) -> None:
    """Make the file appear whole or not at all, even if the power fails."""
    try:
        write_atomically(path, text.encode())
    except OSError as wrong:
        raise InfrastructureError(f"the journal: {wrong.strerror}: {path}") from wrong
