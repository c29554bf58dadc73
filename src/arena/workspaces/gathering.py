"""Reads the folder that an agent worked in. Everything in it may be a trap.

The walk is iterative and goes by descriptors of folders, so no link is followed and a name that
is replaced meanwhile leads nowhere else. Only regular files with a single name are read; everything
else is reported. Limits on depth, names and bytes hold for the whole folder.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.workspaces.collected import Change, File
from arena.workspaces.hooks import is_byproduct
from arena.workspaces.names import matches_any, path_problem, shown

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
MAX_PROBLEMS = 100
CHUNK_BYTES = 1 << 20
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLimits:
    """How much is read of a folder or an archive."""

    max_entries: int = 20_000
    """Files and folders together."""
    max_depth: int = 50
    max_file_bytes: int = 8 * 1024**2
    max_bytes: int = 24 * 1024**2
    """All files that are read, together."""


@dataclass(slots=True)
class Gathered:
    """What was found in a folder, before hooks are left out."""

    files: dict[str, File] = field(default_factory=dict[str, File])
    """The files that the patterns match."""
    changes: list[Change] = field(default_factory=list[Change])
    problems: list[str] = field(default_factory=list[str])

    def problem(self, text: str) -> None:
        """Report something; after the first hundred, only that there is more."""
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(text)
        elif len(self.problems) == MAX_PROBLEMS:
            self.problems.append(f"and more; these are the first {MAX_PROBLEMS}")


def gather(
    folder: Path,
    before: Mapping[str, File],
    patterns: Sequence[str],
    limits: TreeLimits | None = None,
) -> Gathered:
    """The files that match, every change against `before`, and everything that was refused."""
    walk = _Walk(before, patterns, limits or TreeLimits())
    walk.run(folder)
    return walk.result()


class _Walk:
    """One walk through a folder."""

    def __init__(
        self, before: Mapping[str, File], patterns: Sequence[str], limits: TreeLimits
    ) -> None:
        self._before = before
        self._patterns = patterns
        self._limits = limits
        self._found = Gathered()
        self._states: dict[str, str] = {}
        """`added`, `changed` or `same` for every file that is there."""
        self._byproducts: list[str] = []
        self._entries = 0
        self._looks = 10 * limits.max_entries
        """How many names may still be looked at in vain."""
        self._bytes = 0

    def run(self, folder: Path) -> None:
        """Walk through everything within the limits."""
        root = os.open(folder, FOLDER)
        # The open folders from the root down, each with what is left to visit in it.
        levels = [(root, "", self._names(root, ""))]
        try:
            while levels:
                descriptor, prefix, names = levels[-1]
                name = next(names, None)
                if name is None:
                    os.close(levels.pop()[0])
                elif (below := self._visit(descriptor, prefix, name)) is not None:
                    inner = f"{prefix}{name}/"
                    levels.append((below, inner, self._names(below, inner)))
        finally:
            for descriptor, _, _ in levels:
                os.close(descriptor)

    def _names(self, descriptor: int, prefix: str) -> Iterator[str]:
        """The names in a folder, sorted; none if there are too many."""
        names: list[str] = []
        left = min(self._limits.max_entries - self._entries, self._looks)
        with os.scandir(descriptor) as entries:
            for entry in entries:
                if len(names) >= left:
                    # Its names do not count, so that one huge folder does not hide the others.
                    self._looks -= len(names)
                    where = shown(prefix) if prefix else "the folder"
                    limit = f"{self._limits.max_entries:,} files and folders"
                    self._found.problem(f"refused: {where}: the workspace has over {limit}")
                    return iter(())
                names.append(entry.name)
        self._entries += len(names)
        return iter(sorted(names))

    def _visit(self, parent: int, prefix: str, name: str) -> int | None:
        """Read a file; of a folder, return a descriptor."""
        path = prefix + name
        if problem := path_problem(path):
            self._found.problem(f"refused: the path {shown(path)} {problem}")
            return None
        try:
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                if path.count("/") + 1 >= self._limits.max_depth:
                    limit = f"nested more than {self._limits.max_depth} deep"
                    self._found.problem(f"refused: {shown(path)} is {limit}")
                    return None
                return os.open(name, FOLDER, dir_fd=parent)
            if not stat.S_ISREG(mode):
                kind = KINDS.get(stat.S_IFMT(mode), "not a regular file")
                self._refuse(path, f"is {kind}")
                return None
            self._read(parent, path, name)
        except OSError as error:
            self._refuse(path, f"cannot be read: {error.strerror}")
        return None

    def _refuse(self, path: str, why: str) -> None:
        self._found.problem(f"refused: {shown(path)} {why}")
        self._states[path] = "changed" if path in self._before else "added"

    def _read(self, parent: int, path: str, name: str) -> None:
        descriptor = os.open(name, READ, dir_fd=parent)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                self._refuse(path, "is not a regular file")
            elif status.st_nlink != 1:
                self._refuse(path, "has a second name (a hard link), perhaps outside the folder")
            elif path not in self._before and path not in self._patterns and is_byproduct(path):
                self._byproducts.append(path)
            else:
                self._compare(descriptor, path, status)
        finally:
            os.close(descriptor)

    def _compare(self, descriptor: int, path: str, status: os.stat_result) -> None:
        given = self._before.get(path)
        is_collected = matches_any(path, self._patterns)
        is_executable = bool(status.st_mode & 0o100)
        if not is_collected and (given is None or status.st_size != len(given.content)):
            self._states[path] = "added" if given is None else "changed"
            return
        if status.st_size > self._limits.max_file_bytes:
            limit = f"at most {self._limits.max_file_bytes:,} are collected"
            self._refuse(path, f"has {status.st_size:,} bytes; {limit}")
            return
        left = min(self._limits.max_file_bytes, self._limits.max_bytes - self._bytes)
        content = _read_all(descriptor, left + 1)
        self._bytes += len(content)
        if len(content) > left:
            limit = f"{self._limits.max_bytes:,} bytes"
            self._refuse(path, f"is too much: the files together have over {limit}")
            return
        file = File(content=content, is_executable=is_executable)
        if is_collected:
            self._found.files[path] = file
        is_same = file == given
        self._states[path] = "same" if is_same else "added" if given is None else "changed"

    def result(self) -> Gathered:
        """What was found, with the changes in the order of their paths."""
        changes = [Change(path=path, kind="deleted") for path in self._before.keys() - self._states]
        for path, state in self._states.items():
            if state == "added":
                changes.append(Change(path=path, kind="added"))
            elif state == "changed":
                changes.append(Change(path=path, kind="changed"))
        changes.sort(key=lambda change: (change.kind == "added", change.path))
        self._found.changes = changes
        if self._byproducts:
            first = shown(self._byproducts[0])
            count = f"{len(self._byproducts):,} files that tools write by themselves"
            self._found.problem(f"left out: {count}, for instance {first}")
        return self._found


def _read_all(descriptor: int, most: int) -> bytes:
    pieces: list[bytes] = []
    while most > 0 and (piece := os.read(descriptor, min(CHUNK_BYTES, most))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)
