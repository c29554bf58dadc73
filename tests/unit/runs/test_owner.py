import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from arena.runs.owner import KEEP_SECONDS, Owner

HOLD = """
import pathlib, sys, time
from arena.runs.owner import Owner

print(Owner(pathlib.Path(sys.argv[1])).token, flush=True)
time.sleep(60)
"""


def test_a_living_owner_is_not_gone(tmp_path: Path):
    one, two = Owner(tmp_path), Owner(tmp_path)
    assert not one.is_gone(two.token)
    assert not one.is_gone(one.token)
    one.close()
    two.close()


def test_a_killed_process_is_gone_at_once(tmp_path: Path):
    owner = Owner(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        token = other.stdout.readline().strip()
        assert owner.is_alive(token)
        assert not owner.is_gone(token)
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert not owner.is_alive(token)
    # Also on a second call: the process may have had several runs.
    assert owner.is_gone(token) and owner.is_gone(token)
    owner.close()
    assert [path.stem for path in tmp_path.iterdir()] == [token]


def test_an_owner_on_another_machine_is_not_called_gone(tmp_path: Path):
    owner = Owner(tmp_path)
    assert not owner.is_gone("never-seen-here")
    assert not owner.is_alive("never-seen-here")
    owner.close()


def test_files_that_killed_executors_left_long_ago_are_removed(tmp_path: Path):
    living = Owner(tmp_path)
    old, fresh = tmp_path / "old.lock", tmp_path / "fresh.lock"
    for path in (old, fresh):
        path.touch()
    long_ago = time.time() - 2 * KEEP_SECONDS
    for path in (old, tmp_path / f"{living.token}.lock"):
        os.utime(path, (long_ago, long_ago))
    Owner(tmp_path).close()
    assert {path.stem for path in tmp_path.iterdir()} == {"fresh", living.token}
    living.close()
