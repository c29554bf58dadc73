"""Faults of every kind that this machine can play, while workers execute runs (`make drills`)."""

import shutil
import subprocess
import sys
from pathlib import Path

from conftest import missing

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "drills.py"
SEED = 16
FEWEST_FAULTS = 30


def test_faults_lose_nothing_and_double_nothing():
    if shutil.which("ip") is None:
        missing("ip (apt-get install iproute2)")
    # Reports every change of this machine's network; a browser of another test would notice it.
    monitor = subprocess.Popen(
        ["ip", "monitor", "link", "address"], stdout=subprocess.PIPE, text=True
    )
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--short", "--seed", str(SEED)],
        capture_output=True,
        text=True,
        timeout=900,
    )
    # With its output, which names the faults and what went wrong.
    assert done.returncode == 0, done.stdout + done.stderr
    summary = next(line for line in done.stdout.splitlines() if " faults, lost " in line)
    faults, _, rest = summary.partition(" faults, ")
    assert rest == "lost 0, doubled 0, 0 problems"
    assert int(faults) >= FEWEST_FAULTS
    monitor.terminate()
    assert "arena" not in monitor.communicate()[0], "the drill's links are in the machine's network"
