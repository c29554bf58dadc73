"""Folders of workspaces: made fresh, filled, and removed whatever they contain by then.

A process holds a lock on each of its folders. The system releases it when the process dies, so
other processes can tell an abandoned folder from one in use.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from arena.errors import InfrastructureError
from arena.workspaces.collected import File
from arena.workspaces.names import path_problem, shown

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
BATCH = 1000
PREFIX = "arena-workspace-"


class LayoutFailed(InfrastructureError):
    """The files of a workspace could not be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A folder that this process has locked."""

    path: Path
    lock: int
    """A descriptor of the folder; closing it gives the folder up."""


def new_folder(parent: Path) -> Claimed:
    """A new folder in `parent` that only this user may enter; its name cannot be guessed."""
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Another process may take the folder for an abandoned one before it is locked.
        while (claimed := claim(Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)))) is None:
            pass
    except OSError as error:
        raise LayoutFailed(f"cannot make a folder in {parent}: {error.strerror}") from error
    return claimed


def claim(folder: Path) -> Claimed | None:
    """Lock a folder; None if it is in use or gone."""
    try:
        lock = os.open(folder, FOLDER)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A folder that was removed before it was locked has no links left.
        if os.fstat(lock).st_nlink > 0:
            return Claimed(path=folder, lock=lock)
    except BlockingIOError:
        pass
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None


def abandoned(parent: Path) -> Iterator[Claimed]:
    """The user's folders of workspaces in `parent` whose process died before it removed them."""
    for folder in list(parent.glob(f"{PREFIX}*")):
        # Not a folder, or not to be locked: left alone.
        with contextlib.suppress(OSError):
            is_own = folder.lstat().st_uid == os.getuid()
            if is_own and (claimed := claim(folder)) is not None:
                yield claimed


def known_as(folder: Path) -> Path:
    """The path of a folder as its agent knew it, before it was hidden."""
    name = folder.name.removeprefix(PREFIX).partition("-")[0]
    return folder.with_name(f"{PREFIX}{name}")


def lay_out(folder: Path, files: Mapping[str, File]) -> None:
    """Write the files into an empty folder."""
    try:
        for path, file in files.items():
            if problem := path_problem(path):
                raise LayoutFailed(f"the path {shown(path)} {problem}", retryable=False)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as opened:
                opened.write(file.content)
            target.chmod(0o755 if file.is_executable else 0o644)
    except OSError as error:
        raise LayoutFailed(f"cannot write the files of the workspace: {error.strerror}") from error


def hide(folder: Path) -> Path:
    """Rename the folder, so that a process that knows only its path does not find it any more."""
    hidden = folder.with_name(f"{folder.name}-{os.urandom(8).hex()}")
    folder.rename(hidden)
    return hidden


def remove(folder: Path) -> None:
    """Remove a folder with everything in it: any depth, any permissions, links unfollowed."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(folder.lstat().st_mode):
            _remove(folder)
        else:
            folder.unlink()  # what the agent put in its place


def _remove(folder: Path) -> None:
    root = _open_folder(str(folder), None)
    try:
        # A deep tree is made flat: every folder is moved up to the root before it is emptied,
        # so no path grows long and only two folders are open at a time.
        names = (f".{number}-{os.urandom(8).hex()}" for number in count())
        while entries := _entries(root):
            for name, is_folder in entries:
                if is_folder:
                    _flatten(root, name, names)
                else:
                    os.unlink(name, dir_fd=root)
    finally:
        os.close(root)
    folder.rmdir()


def _flatten(root: int, name: str, names: Iterator[str]) -> None:
    """Remove the folder `name` of `root`; its own folders are moved to `root`."""
    inner = _open_folder(name, root)
    try:
        while entries := _entries(inner):
            for entry, is_folder in entries:
                if is_folder:
                    # A folder can be moved only by those who may write to it.
                    os.close(_open_folder(entry, inner))
                    os.rename(entry, next(names), src_dir_fd=inner, dst_dir_fd=root)
                else:
                    os.unlink(entry, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=root)


def _entries(folder: int) -> list[tuple[str, bool]]:
    """Some entries of a folder, and whether each is a folder; none if it is empty."""
    found: list[tuple[str, bool]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found.append((entry.name, entry.is_dir(follow_symlinks=False)))
            if len(found) == BATCH:
                break
    return found


def _open_folder(name: str, parent: int | None) -> int:
    """A descriptor of a folder, which may be entered and written to afterwards."""
    # Through a descriptor of the folder itself: a name could be a link by now.
    handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        found = os.fstat(handle)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(name)
        if found.st_mode & 0o700 != 0o700:
            os.chmod(f"/proc/self/fd/{handle}", 0o700)  # noqa: PTH101 - a descriptor
        return os.open(".", FOLDER, dir_fd=handle)
    finally:
        os.close(handle)
