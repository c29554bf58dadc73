"""What the first visit loads: a size, which is the same on every machine."""

import gzip
import re
from pathlib import Path

from arena.dashboard.built import DIST
from conftest import missing

LIMIT_BYTES = 250_000
IMPORTED = re.compile(r"""(?:from|import)\s*"\./([\w.-]+\.js)\"""")


def test_the_first_load_is_below_250_kb_of_packed_script():
    if not (DIST / "index.html").exists():
        missing("the built dashboard (python hatch_build.py)")
    scripts = first_load(DIST, "AgentsPage")
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in scripts}
    assert len(sizes) > 1
    assert sum(sizes.values()) < LIMIT_BYTES, sizes


def first_load(dist: Path, page: str) -> set[Path]:
    """The scripts that the index names, those of the first page, and all that they import."""
    named = re.findall(r"/assets/([\w.-]+\.js)", (dist / "index.html").read_text())
    waiting = [dist / "assets" / name for name in named]
    waiting += (dist / "assets").glob(f"{page}-*.js")
    found: set[Path] = set()
    while waiting:
        script = waiting.pop()
        if script not in found:
            found.add(script)
            waiting += [script.parent / name for name in IMPORTED.findall(script.read_text())]
    return found
