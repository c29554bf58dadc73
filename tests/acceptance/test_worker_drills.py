"""Faults of every kind that this machine can play, while workers execute runs (`make drills`)."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "drills.py"
SEED = 16
FEWEST_FAULTS = 30


def test_faults_lose_nothing_and_double_nothing():
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
