"""The live catalog, which follows changes of its files."""

import logging
import threading
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from arena.catalog.catalog import Catalog, compose
from arena.catalog.folders import EMPTY, Folders, FolderWatcher, FoundFile
from arena.catalog.loader import read_source
from arena.catalog.looks import has_changed
from arena.catalog.source import Source
from arena.documents.problem import FileProblem
from arena.project import OWN_SUITE

log = logging.getLogger(__name__)

UNSETTLED_SECONDS = 0.1
"""A file changed this recently may change again with the same timestamp."""

Signature = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """A file as it was last read."""

    signature: tuple[Signature | None, ...] | None
    """The metadata of the file and of its data files at that time; None if it must be read again in
    any case."""
    source: Source


class LiveCatalog:
    """Holds the current snapshot, and replaces it when a file changes.

    A file that has become bad keeps its last good tests in the catalog until it is fixed, and a
    folder that cannot be read keeps its files.
    """

    def __init__(
        self,
        directories: Iterable[Path] = (),
        *,
        project: Sequence[Path] = (),
        home: Path | None = None,
        builtin: bool = True,
        own_suite: str = OWN_SUITE,
    ) -> None:
        self._folders = Folders(
            builtin=builtin,
            project=tuple(project),
            named=tuple(directories),
            home=home,
            own_suite=own_suite,
        )
        self._listing = EMPTY
        self._read: dict[Path, _Read] = {}
        self._last_good: dict[Path, Source] = {}
        self._refreshing = threading.Lock()
        self._current = compose(())
        self.refresh()

    @property
    def current(self) -> Catalog:
        """The current snapshot; it never changes, so keep it while you need one state."""
        return self._current

    def refresh(self) -> Catalog:
        """Check every file by its timestamp, and read those that have changed."""
        with self._refreshing:
            files, problems, self._listing = self._folders.look(self._listing)
            before = self._read
            self._read = {file.path: self._read_again(file) for file in files}
            is_same = list(before) == list(self._read) and all(
                before[path].source is read.source for path, read in self._read.items()
            )
            if not is_same or problems != self._current.folder_problems:
                self._swap(files, problems)
            return self._current

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator["LiveCatalog"]:
        """Keep the snapshot up to date until the block ends."""
        watcher = FolderWatcher([path for _, path in self._folders.in_order()], self.refresh)
        watcher.start()
        try:
            yield self
        finally:
            await watcher.stop()

    def _read_again(self, file: FoundFile) -> _Read:
        """The file as it is now; the earlier reading if it has not changed."""
        path = file.path
        known = self._read.get(path)
        if known is not None and known.signature is not None:
            files = (path, *(data.path for data in known.source.data_files))
            is_same = tuple(map(_signature, files)) == known.signature
            if is_same and not has_changed(known.source.looks):
                return known
        # Taken before the file is read: a change while it is read must be noticed.
        own = _signature(path)
        source = read_source(path, file.suite)
        signatures = (own, *(data.signature for data in source.data_files))
        # Not with data: the rows of the earlier reading are those of another file.
        if known is not None and not source.data_files and _is_same_source(known.source, source):
            source = known.source
        known_files = [one for one in signatures if one is not None]
        settled = all(_age_seconds(one) > UNSETTLED_SECONDS for one in known_files)
        is_complete = own is not None and settled
        return _Read(signature=signatures if is_complete else None, source=source)

    def _swap(self, files: Sequence[FoundFile], problems: Sequence[FileProblem]) -> None:
        readings = [(file, self._read[file.path].source) for file in files]
        before = self._current
        self._current = compose(readings, last_good=self._last_good, folder_problems=problems)
        # A removed file is dropped; a later file with the same name is a new one.
        kept: dict[Path, Source] = {}
        for (file, source), state in zip(readings, self._current.sources, strict=True):
            if state.state == "good":
                kept[file.path] = source
            elif file.path in self._last_good:
                kept[file.path] = self._last_good[file.path]
        self._last_good = kept
        _log_difference(before, self._current)


def _signature(path: Path) -> Signature | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _age_seconds(signature: Signature) -> float:
    return (time.time_ns() - max(signature[:2])) / 1e9


def _is_same_source(one: Source, other: Source) -> bool:
    if one.looks != other.looks:
        return False
    return one.content_digest == other.content_digest and one.problems == other.problems


def _log_difference(before: Catalog, after: Catalog) -> None:
    """Log new problems, and files that were fixed."""
    for problem in after.folder_problems:
        if problem not in before.folder_problems:
            log.warning("%s", problem)
    old = {source.file: source for source in before.sources}
    for source in after.sources:
        known = old.get(source.file)
        if source.problems and (known is None or known.problems != source.problems):
            served = "last good" if source.state == "last_good" else "nothing"
            lines = "\n".join(map(str, source.problems))
            log.warning("%s has problems (served: %s):\n%s", source.file, served, lines)
        elif known is not None and known.problems and not source.problems:
            log.info("%s is fixed: %d tests", source.file, source.tests)
    if before.digest != after.digest:
        log.info("the catalog now has %d tests", len(after.tests))
