"""A reader that goes away (head, less) does not stop the work."""

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
    ) as process:
        assert process.stdout and process.stdin and process.stderr
        process.stdout.close()
        process.stdin.close()
        assert process.stderr.read() == "went on\n"
    assert process.returncode == 0
