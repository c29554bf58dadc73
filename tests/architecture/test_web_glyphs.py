"""Characters of the dashboard's sources: icons are SVG, because a font may lack their glyph."""

import unicodedata
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "web" / "src"
COMMON = set("–−…·×")
"""In every font: punctuation, and signs of Latin-1."""


def test_the_dashboard_uses_no_glyph_that_a_font_may_lack():
    found = {
        f"{path.relative_to(SOURCES)}: U+{ord(sign):04X} {unicodedata.name(sign, '')}"
        for ending in ("ts", "tsx", "css")
        for path in SOURCES.rglob(f"*.{ending}")
        if path.name != "schema.d.ts"
        for sign in set(path.read_text()) - COMMON
        if not sign.isascii()
    }
    assert found == set()
