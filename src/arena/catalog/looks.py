"""What the files and folders that tests name look like, so that a change of them is noticed."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

MAX_ENTRIES = 20_000
"""Of a folder; more would take too long to look at every second."""


def look_of(path: Path) -> str:
    """What a file or folder looks like from outside; another text if anything in it was changed."""
    lines: list[str] = []
    for one in _entries(path):
        try:
            status = os.lstat(one) if one != path else path.stat()
        except (OSError, ValueError):  # there is none, or it is no name of a file
            continue
        lines.append(f"{one} {status.st_mtime_ns} {status.st_size} {status.st_mode}")
        if len(lines) > MAX_ENTRIES:
            break
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def _entries(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for root, folders, files in os.walk(path):
        folders.sort()
        yield from (Path(root) / name for name in sorted((*folders, *files)))


def has_changed(looks: Mapping[Path, str]) -> bool:
    """Whether one of them looks different now."""
    return any(look_of(path) != look for path, look in looks.items())
