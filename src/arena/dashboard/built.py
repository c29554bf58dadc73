"""The files of the built page, and the page that is shown without them."""

import gzip
import mimetypes
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

DIST = Path(__file__).parent / "dist"
"""Where `hatch_build.py` puts the build of `web/`; not under version control."""

COMPRESSED = {".js", ".css", ".svg", ".json", ".html"}
"""Types that compress well; images and fonts are already compressed."""

ABSENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Arena: the dashboard is not installed</title>
<style nonce="ARENA_NONCE">
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid; border-radius: .4rem }
</style>
</head>
<body>
<main>
<h1>The dashboard is not installed</h1>
<p>The server works, but the dashboard was left out (<code>ARENA_SKIP_WEB</code>). Install Arena
again without that variable, from the source folder:</p>
<pre>pip install --force-reinstall --no-deps .</pre>
<p>You do not need Node.js: the build tools are downloaded for the installation only.</p>
<p>Until then, the data is available as JSON:</p>
<ul>
<li><a href="/api/agents">agents</a></li>
<li><a href="/api/benchmarks/tests">tests</a> and <a href="/api/benchmarks/catalog">their
files</a></li>
<li><a href="/api/benchmarks/runs">runs</a> and
<a href="/api/benchmarks/leaderboard">the leaderboard</a></li>
<li><a href="/api/openapi.json">the OpenAPI description</a></li>
</ul>
<p>In a terminal: <code>arena --help</code>.</p>
</main>
</body>
</html>
"""
"""Shown if the dashboard was left out of the installation."""


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
