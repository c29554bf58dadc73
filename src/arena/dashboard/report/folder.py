"""The folder of a report: its page and its data."""

from pathlib import Path

from arena.errors import InvalidInput
from arena.files import write_atomically
from arena.text import to_unicode

PAGE = "index.html"
DATA = "report.json"


def write_report(folder: Path, page: str, data: str) -> Path:
    """Write both, each whole or not at all; the path of the page. Other files stay."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / DATA, to_unicode(data).encode())
        write_atomically(folder / PAGE, to_unicode(page).encode())
    except OSError as wrong:
        told = wrong.strerror or str(wrong)
        raise InvalidInput(f"cannot write the report to {folder}: {told}") from wrong
    return folder / PAGE
