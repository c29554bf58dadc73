import signal
import subprocess
import sys
from pathlib import Path

from arena.runs.owner import Owner

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
        assert not owner.is_gone(token)
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert owner.is_gone(token)
    owner.forget(token)
    owner.close()
    assert list(tmp_path.iterdir()) == []


def test_an_owner_on_another_machine_is_not_called_gone(tmp_path: Path):
    owner = Owner(tmp_path)
    assert not owner.is_gone("never-seen-here")
    owner.close()
