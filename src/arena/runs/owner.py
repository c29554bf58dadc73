"""The process that executes runs, known to others so that its death is noticed at once.

Every executor holds a lock on its own file. The kernel releases it when the process ends, however
it ends: a lock that can be taken means that its owner is gone. Where the file is not visible
(another machine), only the expiry of the lease decides.
"""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from uuid import uuid4

from arena.errors import InfrastructureError

KEEP_SECONDS = 24 * 3600
"""How long the file of a killed executor is kept: far longer than a lease."""


class Owner:
    """The current process as an executor of runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.token = uuid4().hex
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._sweep()
            flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
            file = os.open(self._path(self.token), flags, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            self._file: int | None = file
        except OSError as error:
            message = f"cannot write to {folder}: {error.strerror or error}"
            raise InfrastructureError(message, retryable=False) from error

    def is_gone(self, token: str) -> bool:
        """Whether the executor with this token is known to have ended."""
        return self._is_held(token) is False

    def is_alive(self, token: str) -> bool:
        """Whether the executor with this token is known to be running."""
        return self._is_held(token) is True

    def close(self) -> None:
        """Stop being an executor; runs it still holds count as abandoned."""
        file, self._file = self._file, None
        if file is None:
            return
        with contextlib.suppress(OSError):
            os.close(file)
        self._path(self.token).unlink(missing_ok=True)

    def _is_held(self, token: str) -> bool | None:
        """Whether this executor's lock is held; None if its file is not visible here."""
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
        """Remove the old lock files of killed executors.

        Not as soon as one of its runs is taken over: the file is what proves the executor dead, and
        it may have had other runs.
        """
        for path in self._folder.glob("*.lock"):
            with contextlib.suppress(OSError):
                is_old = time.time() - path.stat().st_mtime > KEEP_SECONDS
                if is_old and self.is_gone(path.stem):
                    path.unlink()

    def _path(self, token: str) -> Path:
        return self._folder / f"{token}.lock"
