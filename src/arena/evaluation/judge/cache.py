"""A cache of the models' answers, keyed by a hash of the whole request: files in a folder.

Only the text and its usage are stored; a cached text is validated like a new answer.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from arena.files import write_atomically
from arena.models.usage import Usage, usage_from

MAX_ENTRY_BYTES = 256 * 1024
_KEPT_SHARE = 0.9
"""The share kept by a clean-up, so that the next entry does not trigger another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A valid answer and what it cost."""

    text: str
    usage: Usage
    attempts: int


class AnswerCache:
    """Keeps at most `max_entries` answers; the least recently used are removed first.

    Several processes may share the folder: entries are written atomically, and a missing or damaged
    one is a cache miss. Its methods use the disk: call them in a thread.
    """

    def __init__(self, folder: Path, *, max_entries: int) -> None:
        self._folder = folder
        self._max_entries = max_entries
        self._count: int | None = None

    def has(self, key: str) -> bool:
        """Whether there is an entry; quick enough to call on the event loop."""
        return self._path(key).exists()

    def get(self, key: str) -> Kept | None:
        """The cached answer for this key."""
        path = self._path(key)
        try:
            if path.stat().st_size > MAX_ENTRY_BYTES:
                return None
            entry: object = json.loads(path.read_bytes())
            os.utime(path)  # mark it as recently used
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(entry, dict):
            return None
        fields = cast(dict[str, object], entry)
        text, attempts = fields.get("text"), fields.get("attempts")
        if fields.get("key") != key or not isinstance(text, str) or not isinstance(attempts, int):
            return None
        return Kept(text=text, usage=usage_from(fields.get("usage")), attempts=attempts)

    def put(self, key: str, kept: Kept) -> None:
        """Store an answer; a failure is ignored, because the judgement itself is not lost."""
        entry = {"key": key, **asdict(kept)}
        data = json.dumps(entry).encode()
        if self._max_entries < 1 or len(data) > MAX_ENTRY_BYTES:
            return
        before = self._counted()
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not durable: a lost entry only costs another request, so do not wait for the disk.
            write_atomically(path, data, durable=False)
        except OSError:
            return
        self._count = before + 1
        if self._count > self._max_entries:
            self._tidy()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _counted(self) -> int:
        return len(self._entries()) if self._count is None else self._count

    def _entries(self) -> list[os.DirEntry[str]]:
        entries: list[os.DirEntry[str]] = []
        with contextlib.suppress(OSError), os.scandir(self._folder) as folders:
            for folder in folders:
                with contextlib.suppress(OSError), os.scandir(folder.path) as files:
                    entries += files
        return entries

    def _tidy(self) -> None:
        """Remove the least recently used entries, and temporary files of killed processes."""
        aged: list[tuple[float, str]] = []
        for entry in self._entries():
            with contextlib.suppress(OSError):
                aged.append((entry.stat().st_mtime, entry.path))
        aged.sort(reverse=True)
        # The count may be too high: a replaced entry was counted twice.
        is_full = len(aged) > self._max_entries
        keep = int(self._max_entries * _KEPT_SHARE) if is_full else len(aged)
        for _, path in aged[keep:]:
            with contextlib.suppress(OSError):
                Path(path).unlink()
        self._count = min(len(aged), keep)
