"""Who executes a run, told so that its death is noticed at once.

Every executor holds a lock on a file of its own. The kernel lets go of it when the process ends,
however it ends: a lock that can be taken means that its owner is gone. Where the file cannot be
seen (another machine), the lease's expiry decides.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from uuid import uuid4

KEEP_SECONDS = 24 * 3600
"""How long the file of a killed executor is kept: far longer than a lease."""


class Owner:
    """The present process as an executor of runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.token = uuid4().hex
        folder.mkdir(parents=True, exist_ok=True)
        self._sweep()
        self._file = os.open(self._path(self.token), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def is_gone(self, token: str) -> bool:
        """Whether the executor with this token is known to have ended."""
        return self._is_held(token) is False

    def is_alive(self, token: str) -> bool:
        """Whether the executor with this token is known to be there."""
        return self._is_held(token) is True

    def close(self) -> None:
        """Stop being an executor; whatever it still held counts as given up."""
        with contextlib.suppress(OSError):
            os.close(self._file)
        self._path(self.token).unlink(missing_ok=True)

    def _is_held(self, token: str) -> bool | None:
        """Whether somebody holds this executor's lock; None where there is none to be seen."""
        try:
            file = os.open(self._path(token), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False

    def _sweep(self) -> None:
        """Remove what killed executors left long ago; until then it tells of their death.

        Never when one of its runs is taken over: it may have had others.
        """
        for path in self._folder.glob("*.lock"):
            with contextlib.suppress(OSError):
                is_old = time.time() - path.stat().st_mtime > KEEP_SECONDS
                if is_old and self.is_gone(path.stem):
                    path.unlink()

    def _path(self, token: str) -> Path:
        return self._folder / f"{token}.lock"
