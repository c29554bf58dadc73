"""The machine finds mistakes: each of these is made in the running market and must be found.

That the same histories find nothing without a mistake is proved by test_machine.
"""

import shutil
from pathlib import Path

import pytest

from market_hunt import HISTORIES, STEPS, HistoryBroken, drive
from market_mutants import MUTANTS, Mutant

OUR_OWN = (AttributeError, NameError, TypeError)
"""Raised by a mutant that no longer fits the code: that does not count as found."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_is_found(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sqlite_tables: Path
):
    assert mutant.history in HISTORIES
    shutil.copy(sqlite_tables, tmp_path / "hunt.db")
    mutant.plant(monkeypatch)
    histories = dict.fromkeys([mutant.history, *HISTORIES])
    with pytest.raises(HistoryBroken) as broken:
        url = f"sqlite+aiosqlite:///{tmp_path / 'hunt.db'}"
        drive(url, tmp_path / "content", histories=histories, steps=STEPS)
    assert not isinstance(broken.value.__cause__, OUR_OWN), broken.value.__cause__
