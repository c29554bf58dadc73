"""The dashboard's sources are consistent, and its build ships the right files."""

import json
import runpy
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from arena.dashboard.built import DIST
from conftest import missing

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
HOOK = runpy.run_path(str(ROOT / "hatch_build.py"))


def test_the_types_are_those_of_the_committed_description(tmp_path: Path):
    if not (WEB / "node_modules" / "openapi-typescript").exists():
        missing("openapi-typescript (scripts/npm ci)")
    made = tmp_path / "schema.d.ts"
    words = ("exec", "--", "openapi-typescript", "../docs/reference/openapi.json", "-o", str(made))
    HOOK["run_npm"](WEB, *words)
    committed = WEB / "src" / "api" / "schema.d.ts"
    assert made.read_text() == committed.read_text(), "regenerate them with: make docs"


def test_the_lock_has_hashes_and_no_addresses():
    lock = json.loads((WEB / "package-lock.json").read_text())
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    assert packages
    assert not [name for name, entry in packages.items() if "resolved" in entry]
    assert not [name for name, entry in packages.items() if not entry.get("integrity")]


def test_every_dependency_is_pinned():
    package = json.loads((WEB / "package.json").read_text())
    dependencies = {**package["dependencies"], **package["devDependencies"], **package["overrides"]}
    assert not [name for name, version in dependencies.items() if not version[0].isdigit()]


def test_a_failed_npm_says_why_and_what_to_do(tmp_path: Path):
    (tmp_path / "package.json").write_text("{")
    (tmp_path / "package-lock.json").write_text("{}")
    with pytest.raises(RuntimeError) as failed:
        HOOK["install"](tmp_path)
    assert "EJSONPARSE" in str(failed.value)
    assert "ARENA_SKIP_WEB=1" in str(failed.value)


def a_checkout(folder: Path) -> Path:
    (folder / "web" / "src").mkdir(parents=True)
    (folder / "web" / "package.json").write_text("{}")
    (folder / "web" / "src" / "main.tsx").write_text("one")
    return folder


def test_the_page_is_built_when_a_source_has_changed_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = a_checkout(tmp_path)
    is_needed, digest = HOOK["is_needed"], HOOK["digest"]
    assert is_needed(root)
    stamp = root / HOOK["DIST"] / HOOK["STAMP"]
    stamp.parent.mkdir(parents=True)
    stamp.write_text(digest(root / "web"))
    assert not is_needed(root)
    (root / "web" / "node_modules").mkdir()
    (root / "web" / "node_modules" / "more.js").write_text("no source")
    assert not is_needed(root)
    (root / "web" / "src" / "main.tsx").rename(root / "web" / "src" / "other.tsx")
    assert is_needed(root)
    monkeypatch.setenv("ARENA_SKIP_WEB", "1")
    assert not is_needed(root)


def test_a_wheel_holds_the_page_and_an_sdist_its_sources(tmp_path: Path):
    if not (DIST / "index.html").exists():
        missing("the built dashboard (python hatch_build.py)")
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = zipfile.ZipFile(wheel).namelist()
    assert "arena/dashboard/dist/index.html" in shipped
    assert [name for name in shipped if name.startswith("arena/dashboard/dist/assets/index-")]
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        sources = [name.partition("/")[2] for name in archive.getnames()]
    assert {"web/src/main.tsx", "web/package-lock.json", "hatch_build.py"} <= set(sources)
    assert not [name for name in sources if "node_modules" in name or "/dist/" in name]
