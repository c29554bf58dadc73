"""The folders of test files, their order, and a watcher for changes."""

import asyncio
import hashlib
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from arena.documents.problem import YAML_SUFFIXES, FileProblem
from arena.fields import MAX_NAME_LENGTH
from arena.project import OWN_SUITE

log = logging.getLogger(__name__)

TASK_FILE = "task.toml"
"""A folder that has it is a Harbor task: one test."""
BUILTIN_FOLDER = Path(__file__).parent / "builtin"
POLL_SECONDS = 0.5
"""The longest time between two checks. The operating system reports most changes at once, but not
a folder that appears, the target of a link, or a change on a network drive."""
SETTLE_MILLISECONDS = 50
"""Changes in one burst, as when an editor saves, are reported once."""

BUILTIN_SUITE = "lab"
"""The suite of the tests that ship with Arena."""
COMMON_NAMES = frozenset({"test", "tests", "benchmark", "benchmarks", "eval", "evals"})
"""Names of folders that say nothing about what is in them."""

Origin = Literal["builtin", "project", "named", "home"]
Identity = tuple[Path, int, int]
Listing = Mapping[Path, Sequence[Path]]
"""The files of each folder."""
EMPTY: Listing = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file to read, and its origin."""

    path: Path
    origin: Origin
    suite: str = ""
    """The suite of its tests, unless the file names one."""
    folder: str | None = None
    """The digest of the path that gave the suite its name; None if a project named it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of test files, in the order that decides who owns an id: the first wins.

    The home comes last: a copy there never stands in for a file of a project, or for one that was
    named.
    """

    builtin: bool = True
    """Whether the tests that ship with Arena are included."""
    project: tuple[Path, ...] = ()
    """Folders (or single files) of the project. They may not exist yet."""
    named: tuple[Path, ...] = ()
    """Folders (or single files) named on the command line or in the settings. They must exist."""
    home: Path | None = None
    """The user's own folder. It may not exist yet."""
    own_suite: str = OWN_SUITE
    """The suite of the user's own tests: the name of the project."""

    def _suite_of(self, origin: Origin, folder: Path) -> str:
        if origin == "builtin":
            return BUILTIN_SUITE
        return suite_of_folder(folder) if origin == "named" else self.own_suite

    def in_order(self) -> Iterator[tuple[Origin, Path]]:
        """Every folder with its origin."""
        if self.builtin:
            yield "builtin", BUILTIN_FOLDER
        for folder in self.project:
            yield "project", folder
        for folder in self.named:
            yield "named", folder
        if self.home is not None:
            yield "home", self.home

    def look(self, known: Listing = EMPTY) -> tuple[list[FoundFile], list[FileProblem], Listing]:
        """The current files, sorted within each folder, and problems of unusable folders.

        A folder that cannot be read keeps its `known` files, those of an earlier look: without
        a descriptor or a permission nobody can say that they are gone.
        """
        found: list[FoundFile] = []
        problems: list[FileProblem] = []
        seen: set[str] = set()
        listing: dict[Path, Sequence[Path]] = {}
        for origin, folder in self.in_order():
            try:
                listing[folder] = _files_in(folder)
            except FileNotFoundError:
                if origin in ("builtin", "named"):
                    problems.append(FileProblem(file=str(folder), message="no such folder"))
                continue
            except OSError as error:
                listing[folder] = known.get(folder, ())
                message = f"the folder cannot be read: {error.strerror}"
                if listing[folder]:
                    message += "; its files are used as they were last read"
                problems.append(FileProblem(file=str(folder), message=message))
            suite = self._suite_of(origin, folder)
            place = _digest_of(folder) if origin == "named" else None
            for path in listing[folder]:
                # A file with two names (a folder given twice, a link) counts once.
                real = os.path.realpath(path)
                if real not in seen:
                    seen.add(real)
                    found.append(FoundFile(path=path, origin=origin, suite=suite, folder=place))
        return found, problems, listing


def suite_of_folder(folder: Path) -> str:
    """The suite of tests in a named folder or file that name none: called like it.

    Where two are called the same, the digest of the path tells them apart.
    """
    path = Path(os.path.realpath(folder))
    name = path.stem if path.is_file() else path.name
    if name.lower() in COMMON_NAMES:
        name = path.parent.name
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", name).lstrip("_.-")
    return name[:MAX_NAME_LENGTH] or OWN_SUITE


def _digest_of(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()


def _files_in(folder: Path) -> Sequence[Path]:
    if folder.is_file():
        return [folder]
    if (folder / TASK_FILE).is_file():
        return [folder / TASK_FILE]
    # Hidden files belong to editors: locks, swap files, half-written copies.
    paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    tasks = [path / TASK_FILE for path in paths if (path / TASK_FILE).is_file()]
    return sorted((*tasks, *(path for path in paths if path.name.endswith(YAML_SUFFIXES))))


class FolderWatcher:
    """Calls `look` in its own thread whenever one of the folders may have changed."""

    def __init__(self, folders: Sequence[Path], look: Callable[[], object]) -> None:
        self._folders = folders
        self._look = look
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arena-catalog", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    async def stop(self) -> None:
        """Stop the thread and wait for it."""
        self._stopping.set()
        while self._thread.is_alive():
            await asyncio.sleep(0.005)

    def _run(self) -> None:
        has_warned = False
        while not self._stopping.is_set():
            watched = self._existing()
            try:
                if watched:
                    self._watch(watched)
                    continue
            except (OSError, RuntimeError) as error:
                # The system has a limited number of watches; polling works without them.
                if not has_warned:
                    log.warning("test folders are polled every %g s: %s", POLL_SECONDS, error)
                has_warned = True
            self._stopping.wait(POLL_SECONDS)
            self._refresh()

    def _watch(self, watched: list[Identity]) -> None:
        """Refresh on each change, until the folders themselves are replaced."""
        # Imported on first use: short commands do not watch.
        from watchfiles import watch

        changes = watch(
            *(path for path, _, _ in watched),
            watch_filter=None,
            debounce=SETTLE_MILLISECONDS,
            step=10,
            stop_event=self._stopping,
            rust_timeout=int(POLL_SECONDS * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=False,
        )
        for _ in changes:
            self._refresh()
            if self._existing() != watched:
                return

    def _refresh(self) -> None:
        try:
            self._look()
        except Exception:  # the edge of the thread: one failure must not end the watching
            log.exception("the test folders could not be read")

    def _existing(self) -> list[Identity]:
        """The existing folders, each with its identity: a new one may have the same name."""
        found: list[Identity] = []
        for folder in self._folders:
            try:
                status = folder.stat()
            except OSError:
                continue
            found.append((folder, status.st_dev, status.st_ino))
        return found
