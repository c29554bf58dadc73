"""Files of a workspace, opened step by step: no link is followed and nothing leaves the folder."""

from __future__ import annotations

import os
import stat

STEP = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_RDONLY
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Refused(Exception):
    """Not a regular file of the workspace."""


def parent_of(path: str, root: str, create: bool) -> tuple[int, str]:
    """A descriptor of the folder that holds `path`, and the last part of the name."""
    *folders, name = path.split("/")
    here = os.open(root, STEP)
    for folder in folders:
        try:
            if create and folder not in _names(here):
                os.mkdir(folder, 0o755, dir_fd=here)
            following = os.open(folder, STEP, dir_fd=here)
        finally:
            os.close(here)
        here = following
    return here, name


def _names(descriptor: int) -> list[str]:
    return os.listdir(descriptor)


def open_to_read(path: str, root: str, limit: int) -> int:
    """A descriptor of the regular file at `path`."""
    parent, name = parent_of(path, root, create=False)
    try:
        descriptor = os.open(name, READ, dir_fd=parent)
    finally:
        os.close(parent)
    return _checked(descriptor, limit)


def open_to_write(path: str, root: str) -> int:
    """A descriptor of a new or emptied regular file at `path`."""
    parent, name = parent_of(path, root, create=True)
    try:
        descriptor = os.open(name, WRITE, 0o644, dir_fd=parent)
    finally:
        os.close(parent)
    descriptor = _checked(descriptor, None)
    os.ftruncate(descriptor, 0)
    return descriptor


def _checked(descriptor: int, limit: int | None) -> int:
    found = os.fstat(descriptor)
    problem = None
    if not stat.S_ISREG(found.st_mode):
        problem = "not a regular file"
    elif found.st_nlink != 1:
        problem = "a file with a second name"
    elif limit is not None and found.st_size > limit:
        problem = f"too large: {found.st_size} bytes, the limit is {limit}"
    if problem is not None:
        os.close(descriptor)
        raise Refused(problem)
    return descriptor
