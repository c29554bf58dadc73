"""The documents match the code."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("examples/**/*.md")})


CODE = re.compile(r"(?ms)^```.*?^```")


def pages(pattern: str) -> list[tuple[Path, Any]]:
    """All matches of the pattern in the prose of each page."""
    return [
        (page, found)
        for page in PAGES
        for found in re.findall(pattern, CODE.sub("", page.read_text()))
    ]


@pytest.mark.parametrize(
    ("document", "link"), pages(r"\]\((?!https?:|#)([^)\s]+)\)"), ids=lambda value: str(value)[-40:]
)
def test_a_link_leads_somewhere(document: Path, link: str):
    assert (document.parent / link.partition("#")[0]).exists()


def test_every_room_has_its_level_in_the_architecture():
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (layers,) = (one["layers"] for one in linter["contracts"] if one["type"] == "layers")
    expected = {
        room.strip(): level
        for level, layer in enumerate(reversed(layers), start=1)
        for room in layer.split("|")
        if room != "__main__"
    }
    text = (ROOT / "ARCHITECTURE.md").read_text()
    levels = {
        room.removesuffix("/").removesuffix(".py"): int(level)
        for level, rooms in re.findall(r"(?m)^\| (\d+) \| (.*?) \|", text)
        for room in rooms.replace("`", "").split(", ")
    }
    assert levels == expected


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_exists(page: str):
    for name in re.findall(r"`([a-z_]+/[A-Za-z_/]+\.[a-z]+)`", (ROOT / page).read_text()):
        folders = (ROOT, ROOT / "src" / "arena", ROOT / "web" / "src")
        assert any((folder / name).exists() for folder in folders), name


def test_every_setting_is_in_the_guide():
    from arena.settings import Settings

    text = (ROOT / "docs" / "guide" / "run-a-server.md").read_text()
    for name in Settings.model_fields:
        assert f"ARENA_{name.upper()}" in text, name


def test_every_make_target_of_the_documents_exists():
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    for page, target in pages(r"`make ([a-z-]+)"):
        assert target in targets, f"{page.name}: make {target}"


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text()
    listed = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", index)}
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.name == "README.md" or {page, page.parent} & listed, page


def test_every_test_that_a_decision_names_exists():
    for page, (file, name) in pages(r"`(tests/[\w/]+\.py)::(\w+)`"):
        assert f"def {name}(" in (ROOT / file).read_text(), f"{page.name}: {file}::{name}"
    text = (ROOT / "docs" / "decisions" / "0010-sharp-edges.md").read_text()
    # Names in another form would not be checked.
    assert text.count("::test_") == len(re.findall(r"`tests/[\w/]+\.py::\w+`", text))
