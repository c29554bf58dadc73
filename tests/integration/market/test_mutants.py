"""The machine finds mistakes: each of these is planted in a copy of the code and must be found."""

import subprocess
import sys
from pathlib import Path

import pytest

from market_mutants import MUTANTS, Mutant

HUNT = Path(__file__).parents[2] / "market_hunt.py"
FOUND, MISSED = 10, 0


def hunt(folder: Path, *, package: Path | None) -> subprocess.CompletedProcess[str]:
    """Drive the machine over the package in a process of its own."""
    paths = [str(package)] if package else []
    code = f"import sys; sys.path[:0] = {[*paths, str(HUNT.parent)]!r}; import market_hunt"
    return subprocess.run(
        [sys.executable, "-c", f"{code}; market_hunt.main({str(folder)!r})"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_is_found(mutant: Mutant, tmp_path: Path):
    package = tmp_path / "package"
    mutant.plant(package)
    hunted = hunt(tmp_path, package=package)
    assert hunted.returncode == FOUND, f"not found: {mutant.name}\n{hunted.stderr[-2000:]}"
    assert str(package) in hunted.stdout, "the copy was not the code under test"


def test_without_a_mistake_nothing_is_found(tmp_path: Path):
    hunted = hunt(tmp_path, package=None)
    assert hunted.returncode == MISSED, hunted.stdout + hunted.stderr[-2000:]
