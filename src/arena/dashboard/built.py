"""The files of the built page, ready to be sent."""

import gzip
import mimetypes
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DIST = Path(__file__).parent / "dist"
"""Where `hatch_build.py` puts the build of `web/`; not under version control."""

COMPRESSED = {".js", ".css", ".svg", ".json", ".html"}
"""Types that compress well; images and fonts are already compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file of the page."""

    media_type: str
    body: bytes
    gzipped: bytes | None
    """None if compression does not help."""


class BuiltPage:
    """The files in one folder; nothing outside of it can be requested."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def index(self) -> str | None:
        """The page itself; None if it was not built."""
        try:
            return (self._folder / "index.html").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def asset(self, name: str) -> Asset | None:
        """The file with this name, or None."""
        try:
            path = (self._folder / name).resolve()
            # Symbolic links and `..` must not lead out of the folder.
            if not path.is_relative_to(self._folder.resolve()) or not path.is_file():
                return None
            return _read(path, path.stat().st_mtime_ns)
        except (OSError, ValueError):
            # No file can have this name: too long, or with a NUL character.
            return None


@lru_cache(maxsize=256)
def _read(path: Path, _changed_ns: int) -> Asset:
    # Kept in memory: a megabyte in total, and compressing takes longer than sending.
    body = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    gzipped = gzip.compress(body, mtime=0) if path.suffix in COMPRESSED else None
    return Asset(media_type=media_type, body=body, gzipped=gzipped)
