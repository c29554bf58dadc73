"""A reader that goes away (head, less) ends nothing that is being done."""

import subprocess
import sys

SCRIPT = """
import sys
from arena.cli.output import line
sys.stdin.read()
for number in range(3):
    line("something happened", at_once=True)
print("went on", file=sys.stderr)
"""


def test_flushed_output_continues_when_nobody_reads():
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as told:
        assert told.stdout and told.stdin and told.stderr
        told.stdout.close()
        told.stdin.close()
        assert told.stderr.read() == "went on\n"
    assert told.returncode == 0
