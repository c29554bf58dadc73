"""The machine finds mistakes: each of these is planted in a copy of the code and must be found."""

import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from market_hunt import DATABASE, FOUND, HISTORIES, MISSED
from market_mutants import MUTANTS, Mutant

HUNT = Path(__file__).parents[2] / "market_hunt.py"


def hunt(folder: Path, tables: Path, histories: Iterable[int]) -> subprocess.CompletedProcess[str]:
    """Let histories happen to the copy of the package in the folder, in a process of its own."""
    shutil.copy(tables, folder / DATABASE)
    paths = [str(folder / "package"), str(HUNT.parent)]
    code = f"import sys; sys.path[:0] = {paths!r}; import market_hunt"
    hunted = subprocess.run(
        [sys.executable, "-c", f"{code}; market_hunt.main({str(folder)!r}, *{[*histories]})"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert str(folder / "package") in hunted.stdout, "the copy was not the code under test"
    return hunted


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_is_found(mutant: Mutant, tmp_path: Path, sqlite_tables: Path):
    assert mutant.history in HISTORIES
    mutant.plant(tmp_path / "package")
    hunted = hunt(tmp_path, sqlite_tables, [mutant.history, *HISTORIES])
    assert hunted.returncode == FOUND, f"not found: {mutant.name}\n{hunted.stderr[-2000:]}"


def test_without_a_mistake_nothing_is_found(tmp_path: Path, sqlite_tables: Path):
    """Nor in any other history: test_machine lets all of them happen."""
    replace(MUTANTS[0], wrong=MUTANTS[0].right).plant(tmp_path / "package")
    hunted = hunt(tmp_path, sqlite_tables, HISTORIES[:2])
    assert hunted.returncode == MISSED, hunted.stdout + hunted.stderr[-2000:]
