"""Random actors, times and faults over the embedded ledger, on both databases."""

from pathlib import Path

from arena.settings import Settings
from market_hunt import HISTORIES, STEPS, drive
from market_machine import REQUIRED


def test_no_history_breaks_an_invariant_on_sqlite(tmp_path: Path):
    url = f"sqlite+aiosqlite:///{tmp_path / 'arena.db'}"
    done = drive(url, tmp_path / "content", histories=HISTORIES, steps=STEPS)
    never = {name for name in REQUIRED if not done[name]}
    assert not never, f"never once done, so nothing is proved of it: {never}; done: {done}"


def test_no_history_breaks_an_invariant_on_postgresql(tmp_path: Path, postgres_url: str):
    url = Settings(home=tmp_path, database_url=postgres_url).database
    done = drive(url, tmp_path / "content", histories=range(8), steps=40)
    for name in ("post", "apply", "assign", "submit", "judge", "raced", "crashed"):
        assert done[name], f"{name} was never once done; done: {done}"
