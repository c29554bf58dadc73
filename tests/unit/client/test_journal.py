"""The journal keeps its entries through kill -9, for one process at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from arena.client import Journal
from arena.client.journal import JournalEntry, Stage
from arena.errors import Conflict, InfrastructureError


def test_entries_are_there_again_after_a_restart(tmp_path: Path):
    journal = Journal(tmp_path / "j")
    entry = journal.write(JournalEntry(task_id=7))
    journal.write(entry, stage=Stage.EXECUTED, text="ünïcode\n\0", attempts=2)
    journal.write(JournalEntry(task_id=3), stage=Stage.SUBMITTED, result_hash="Qm")
    again = Journal(tmp_path / "j")
    assert again.get(7) == JournalEntry(
        task_id=7, stage=Stage.EXECUTED, text="ünïcode\n\0", attempts=2
    )
    assert [one.task_id for one in again.entries(Stage.EXECUTED, Stage.SUBMITTED)] == [3, 7]
    assert again.get(8) is None


def test_without_a_folder_it_lives_in_memory():
    journal = Journal()
    journal.write(JournalEntry(task_id=1))
    with journal.held():
        assert journal.get(1) == JournalEntry(task_id=1)


WRITES_UNTIL_KILLED = """
import sys
from pathlib import Path
from arena.client.journal import JournalEntry, Journal
journal, entry, number = Journal(Path(sys.argv[1])), JournalEntry(task_id=1), 0
while True:
    number += 1
    entry = journal.write(entry, attempts=number, text="x" * number * 997)
"""


def test_a_killed_writer_leaves_whole_entries(tmp_path: Path):
    path = tmp_path / "1.json"
    for _ in range(5):
        before = path.read_bytes() if path.exists() else b""
        words = [sys.executable, "-c", WRITES_UNTIL_KILLED, str(tmp_path)]
        with subprocess.Popen(words) as writer:
            while not path.exists() or path.read_bytes() == before:
                assert writer.poll() is None, "the writer ended by itself"
            writer.kill()
        entry = Journal(tmp_path).get(1)
        assert entry is not None
        assert entry.text == "x" * entry.attempts * 997


def test_one_process_at_a_time(tmp_path: Path):
    first, second = Journal(tmp_path), Journal(tmp_path)
    with first.held(), pytest.raises(Conflict, match="already works"), second.held():
        pass
    with second.held():
        pass


def test_a_damaged_entry_is_reported_and_not_overlooked(tmp_path: Path):
    (tmp_path / "4.json").write_text('{"task_id": 4}')
    with pytest.raises(InfrastructureError, match=r"4\.json"):
        Journal(tmp_path)


def test_the_next_holder_of_the_journal_sees_what_was_written_meanwhile(tmp_path: Path):
    first, second = Journal(tmp_path), Journal(tmp_path)
    with first.held():
        first.write(JournalEntry(task_id=7), stage=Stage.EXECUTED, text="done")
    with second.held():
        assert second.get(7) == JournalEntry(task_id=7, stage=Stage.EXECUTED, text="done")
