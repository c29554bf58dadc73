"""Notices that something in a folder has changed, also in one that does not exist yet."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from watchfiles import watch

log = logging.getLogger(__name__)

SWEEP_SECONDS = 0.5
"""The longest time between two looks. The operating system tells of most changes at once, but not
of a folder that appears, of the target of a link, or of a change on a network drive."""
SETTLE_MILLISECONDS = 50
"""Changes that come in one burst, as when an editor saves, are told of once."""

Identity = tuple[Path, int, int]


class FolderWatcher:
    """Calls `look` in a thread of its own whenever one of the folders may have changed."""

    def __init__(self, folders: Sequence[Path], look: Callable[[], object]) -> None:
        self._folders = folders
        self._look = look
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arena-catalog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    async def stop(self) -> None:
        """End the thread and wait until it is gone."""
        self._stopping.set()
        while self._thread.is_alive():
            await asyncio.sleep(0.005)

    def _run(self) -> None:
        told_of_failure = False
        while not self._stopping.is_set():
            watched = self._existing()
            try:
                if watched:
                    self._watch(watched)
                    continue
            except (OSError, RuntimeError) as wrong:
                # The system has only so many watches to give; the sweep goes on without them.
                if not told_of_failure:
                    log.warning("test folders are looked at every %g s: %s", SWEEP_SECONDS, wrong)
                told_of_failure = True
            self._stopping.wait(SWEEP_SECONDS)
            self._tell()

    def _watch(self, watched: list[Identity]) -> None:
        """Look at each change, until the folders themselves are others."""
        changes = watch(
            *(path for path, _, _ in watched),
            watch_filter=None,
            debounce=SETTLE_MILLISECONDS,
            step=10,
            stop_event=self._stopping,
            rust_timeout=int(SWEEP_SECONDS * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        )
        for _ in changes:
            self._tell()
            if self._existing() != watched:
                return

    def _tell(self) -> None:
        try:
            self._look()
        except Exception:  # the edge of the thread: one bad look must not end the watching
            log.exception("the test folders could not be looked at")

    def _existing(self) -> list[Identity]:
        """The folders that are there, each with what tells it from a new one of that name."""
        found: list[Identity] = []
        for folder in self._folders:
            try:
                status = folder.stat()
            except OSError:
                continue
            found.append((folder, status.st_dev, status.st_ino))
        return found
