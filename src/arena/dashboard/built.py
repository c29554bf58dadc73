"""The built page: its files, as they go over the wire."""

import gzip
import mimetypes
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DIST = Path(__file__).parent / "dist"
"""Where `hatch_build.py` puts what it makes of `web/`; not under version control."""

PACKED = {".js", ".css", ".svg", ".json", ".html"}
"""What gets smaller when it is packed; pictures and fonts are packed already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file of the page."""

    media_type: str
    body: bytes
    packed: bytes | None
    """The body through gzip, where that pays."""


class BuiltPage:
    """The files in one folder; only what lies in it can be asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def index(self) -> str | None:
        """The page itself; None where it was not built."""
        try:
            return (self._folder / "index.html").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def asset(self, name: str) -> Asset | None:
        """The file of that name; None where there is none."""
        try:
            path = (self._folder / name).resolve()
            # Links and dots cannot lead out of the folder.
            if not path.is_relative_to(self._folder.resolve()) or not path.is_file():
                return None
            return _read(path, path.stat().st_mtime_ns)
        except (OSError, ValueError):
            # A name that no file can have: too long, or with NUL in it.
            return None


@lru_cache(maxsize=256)
def _read(path: Path, _changed_ns: int) -> Asset:
    # Kept in memory: a megabyte in all, and packing it takes longer than sending it.
    body = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    packed = gzip.compress(body, mtime=0) if path.suffix in PACKED else None
    return Asset(media_type=media_type, body=body, packed=packed)
