"""At least thirty ways to pass without doing the work: none pays, and each works without us."""

import errno
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from arena.evaluation.resources import Resources
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.provider import NamespaceProvider
from integration.sandbox.machine import need, need_isolation
from integration.workspaces.cheats import CHEATS, Cheat
from integration.workspaces.world import (
    COMMANDS,
    HONEST,
    PACKAGES,
    SECRET,
    Naive,
    judged,
    packages,
    task,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")
BY_NAME = {cheat.name: cheat for cheat in CHEATS}
NEVER_SECONDS = 1.0
"""How long the control waits for something that never ends."""


@pytest.fixture(scope="module", autouse=True)
def installed() -> Iterator[None]:
    with packages():
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def resources(installed: None) -> AsyncIterator[Resources]:
    need_isolation()
    async with NamespaceProvider(Limits(wall_seconds=60.0), roots=[PACKAGES]) as provider:
        yield Resources(sandbox=provider)


def need_tools(cheat: Cheat) -> None:
    need(not cheat.needs_root or os.getuid() == 0, "only root makes devices")
    need(cheat.mode != "make" or shutil.which("make") is not None, "make is not installed")
    need(cheat.naive != "runs_code" or shutil.which("git") is not None, "git is not installed")


async def test_there_are_enough_cheats() -> None:
    assert len(BY_NAME) == len(CHEATS) >= 30


@pytest.mark.parametrize("mode", COMMANDS)
async def test_honest_work_passes_and_no_work_fails(
    tmp_path: Path, resources: Resources, mode
) -> None:
    need(mode != "make" or shutil.which("make") is not None, "make is not installed")
    worked = await judged(tmp_path, HONEST, task(mode), resources)
    assert (worked.passed, worked.score) == (True, 100), worked.failure_reason
    assert worked.workspace is not None
    assert worked.workspace["changes"] == [{"path": "calc.py", "kind": "changed"}]
    assert worked.workspace["problems"] == []
    assert "+    return a + b" in worked.workspace["diff"]
    idle = await judged(tmp_path, "", task(mode), resources)
    assert (idle.passed, idle.score) == (False, 0)


@pytest.mark.parametrize("name", BY_NAME)
async def test_a_cheat_scores_nothing(
    tmp_path: Path, resources: Resources, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cheat = BY_NAME[name]
    need_tools(cheat)
    # A folder of its own: other tests lay out workspaces at the same time.
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    result = await judged(tmp_path, cheat.source, task(cheat.mode), resources)
    assert (result.passed, result.score) == (False, 0), result.findings
    assert result.workspace is not None
    reported = [*result.workspace["problems"], *(finding.reason for finding in result.findings)]
    if cheat.reported is not None:
        assert any(cheat.reported in text for text in reported), reported
    assert all(text.isprintable() for text in result.workspace["problems"])
    if cheat.naive == "damages":
        assert any("data/" in text for text in reported) or "chmod" in cheat.source
    assert SECRET not in json.dumps(result.workspace)
    assert list(folder.glob("arena-workspace-*")) == []


@pytest.mark.parametrize("name", BY_NAME)
async def test_the_cheat_works_without_protection(tmp_path: Path, name: str) -> None:
    cheat = BY_NAME[name]
    need_tools(cheat)
    naive = Naive(tmp_path, cheat.mode)
    naive.work(cheat.source)
    try:
        CONTROLS[cheat.naive](naive, tmp_path)
    finally:
        # Daemons end with their folder.
        subprocess.run(["chmod", "-R", "u+rwx", naive.folder], check=False, capture_output=True)
        subprocess.run(["rm", "-rf", naive.folder], check=True)


def passes(naive: Naive, _: Path) -> None:
    naive.lay_over()
    test = naive.folder / "tests/test_calc.py"
    if (naive.outside / "rewrite.py").exists():
        end = time.monotonic() + 30
        while "HIDDEN" in test.read_text() and time.monotonic() < end:
            time.sleep(0.01)  # until the daemon has done its work
    ran = naive.verify()
    assert ran.returncode == 0, ran.stderr


def own_tests(naive: Naive, _: Path) -> None:
    assert naive.verify().returncode == 0


def stdout(naive: Naive, _: Path) -> None:
    naive.lay_over()
    assert json.loads(naive.verify().stdout.splitlines()[-1]) == {"score": 100}


def report(naive: Naive, _: Path) -> None:
    naive.lay_over()
    # A reward counts whatever the exit code is.
    assert naive.verify().returncode == 0 or naive.mode == "reward"
    written = [naive.folder / name for name in ("report.json", "report.xml", "reward.json")]
    found = "".join(path.read_text() for path in written if path.exists())
    assert any(text in found for text in ("100", "<testcase", '"reward": 1'))


def leaks(naive: Naive, tmp_path: Path) -> None:
    assert SECRET in naive.copied(tmp_path / "copy")


def writes_outside(naive: Naive, _: Path) -> None:
    naive.lay_over()
    assert "HIDDEN" in (naive.outside / "test_calc.py").read_text()


def huge(naive: Naive, _: Path) -> None:
    sizes = [path.stat().st_size for path in naive.folder.rglob("*") if path.is_file()]
    device = naive.folder / "notes.txt"
    if device.exists():
        with device.open("rb") as endless:
            sizes.append(len(endless.read(30 << 20)))
    assert len(sizes) > 20_000 or sum(sizes) > 8 << 20


def blocks(naive: Naive, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(["cp", naive.folder / "notes.txt", tmp_path / "x"], timeout=NEVER_SECONDS)


def breaks(naive: Naive, tmp_path: Path) -> None:
    try:
        naive.lay_over()
        names = [name for _, _, files in os.walk(naive.folder) for name in files]
        json.dumps(names, ensure_ascii=False).encode()
        shutil.copytree(naive.folder, tmp_path / "copy")
    except (OSError, shutil.Error, UnicodeEncodeError, RecursionError) as error:
        assert getattr(error, "errno", None) != errno.ENOSPC
        return
    pytest.fail("nothing breaks")


def deceives(naive: Naive, _: Path) -> None:
    paths = [str(path.relative_to(naive.folder)) for path in naive.folder.rglob("*")]
    listed = "\n".join(paths).splitlines()
    is_printable = all(path.isprintable() for path in paths)
    is_distinct = len({path.casefold() for path in paths}) == len(paths)
    assert len(listed) != len(paths) or not is_printable or not is_distinct


def runs_code(naive: Naive, _: Path) -> None:
    subprocess.run(["git", "status"], cwd=naive.folder, check=False, capture_output=True)
    assert (naive.outside / "ran").exists()


def damages(naive: Naive, _: Path) -> None:
    naive.mode = "unittest"
    if "return a + b" in (naive.folder / "calc.py").read_text():
        naive.lay_over()
        assert naive.verify().returncode == 0
    else:
        assert (naive.folder / "shut").stat().st_mode & 0o777 == 0


CONTROLS = {
    "passes": passes,
    "own_tests": own_tests,
    "stdout": stdout,
    "report": report,
    "leaks": leaks,
    "writes_outside": writes_outside,
    "huge": huge,
    "blocks": blocks,
    "breaks": breaks,
    "deceives": deceives,
    "runs_code": runs_code,
    "damages": damages,
}
