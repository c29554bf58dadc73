"""Atomic writes: neither a reader nor a crash ever sees half a file."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(
    path: Path,
    *,
    mode: int = 0o666,
    overwrite: bool = True,
    durable: bool = True,
    partial_folder: Path | None = None,
) -> Generator[BinaryIO]:
    """A new file that appears at `path` when the block ends, or not at all if it raises.

    Without `overwrite`, raises `FileExistsError` if there is a file. `durable` makes the
    file survive a power failure, at the cost of waiting for the disk. The file is written in
    `partial_folder` (the folder of `path` by default), which must be on the same file system.
    """
    # A short random name, not a suffix: `path` may already have the longest allowed name.
    partial = (partial_folder or path.parent) / f".{os.urandom(8).hex()}"
    try:
        # The umask applies, as for any new file; tempfile would always use mode 0600.
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if overwrite:
            partial.replace(path)
        else:
            # Unlike a rename, a hard link never replaces an existing file.
            os.link(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def write_atomically(
    path: Path,
    data: bytes,
    *,
    mode: int = 0o666,
    overwrite: bool = True,
    durable: bool = True,
    partial_folder: Path | None = None,
) -> None:
    """Write `data` to `path` atomically; see `atomic_file`."""
    with atomic_file(
        path, mode=mode, overwrite=overwrite, durable=durable, partial_folder=partial_folder
    ) as file:
        file.write(data)


def sync_folder(folder: Path) -> None:
    """Make new directory entries survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
