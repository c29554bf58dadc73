"""Without the extra `distributed` everything but workers works: nothing of it is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# A module that is None cannot be imported: as if the packages of the extra were not installed.
WITHOUT = """
import sys
for name in ("procrastinate", "psycopg", "psycopg_pool"):
    sys.modules[name] = None
from arena.__main__ import main
main()
"""


def without(home: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        env={**kept, "ARENA_HOME": str(home), **variables},
        capture_output=True,
        text=True,
    )


def test_a_run_and_its_pages_need_nothing_of_the_queue(tmp_path: Path):
    done = without(tmp_path, "run", "monitoring-manager")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (["workers"], ["leaderboard"], ["runs", "list"]):
        shown = without(tmp_path, *words)
        assert shown.returncode == 0, shown.stdout + shown.stderr


@pytest.mark.parametrize("words", [["worker"], ["workers"], ["serve"], ["run", "anybody"]])
def test_in_queued_mode_every_command_says_what_to_install(tmp_path: Path, words: list[str]):
    address = "postgresql://127.0.0.1:1/arena"
    done = without(tmp_path, *words, ARENA_DISPATCH="queued", ARENA_DATABASE_URL=address)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stderr == (
        "error: ARENA_DISPATCH=queued needs procrastinate and psycopg; install it with: "
        'pip install "agent-arena[distributed]"\n'
    )
