"""Locks of senders: of all processes on this machine, one sends for an account at a time.

A lock is a locked file, which the system releases when its process ends, however it ends.
"""

import asyncio
import fcntl
import os
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

FIRST_DELAY_SECONDS = 0.002
LONGEST_DELAY_SECONDS = 0.03


class SenderLocks:
    """The locks of this machine's senders."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._here: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """Tasks of this process wait here, in order."""

    @asynccontextmanager
    async def held(self, chain_id: int, sender: str) -> AsyncGenerator[None]:
        """Hold the lock of a sender."""
        name = _name(chain_id, sender)
        async with self._here[name]:
            file = self._open(name)
            try:
                delay = FIRST_DELAY_SECONDS
                # Polled, not in a thread: a thread that waits for a lock cannot be cancelled.
                while not _locked(file):
                    await asyncio.sleep(delay)
                    delay = min(2 * delay, LONGEST_DELAY_SECONDS)
                yield
            finally:
                os.close(file)

    @asynccontextmanager
    async def attempted(self, chain_id: int, sender: str) -> AsyncGenerator[bool]:
        """Hold the lock of a sender if it is free; False if it is not."""
        name = _name(chain_id, sender)
        if self._here[name].locked():
            yield False
            return
        async with self._here[name]:
            file = self._open(name)
            try:
                yield _locked(file)
            finally:
                os.close(file)

    def _open(self, name: str) -> int:
        self._folder.mkdir(parents=True, exist_ok=True)
        return os.open(self._folder / name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)


def _name(chain_id: int, sender: str) -> str:
    return f"{chain_id}-{sender.lower()}.lock"


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
