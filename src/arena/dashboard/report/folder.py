"""The folder of a report: its page and its data."""

import os
import tempfile
from pathlib import Path

from arena.errors import InvalidInput

PAGE = "index.html"
DATA = "report.json"


def write_report(folder: Path, page: str, data: str) -> Path:
    """Write both, each whole or not at all; the path of the page. Other files stay."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / DATA, data)
        _write(folder / PAGE, page)
    except OSError as wrong:
        told = wrong.strerror or str(wrong)
        raise InvalidInput(f"cannot write the report to {folder}: {told}") from wrong
    return folder / PAGE


def _write(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        # As any new file: what mkstemp makes is for its owner's eyes only.
        Path(name).chmod(0o666 & ~_mask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
