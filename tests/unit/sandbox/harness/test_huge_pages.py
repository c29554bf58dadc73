"""In a separate process: it replaces the code that it is running."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sandbox.harness import system

PROGRAM = """
import json, os, re, sys
sys.path.insert(0, sys.argv[1])
import system
before = [round(1 / n, 3) for n in range(1, 50)]
size = system.move_text_into_huge_pages()
after = [round(1 / n, 3) for n in range(1, 50)]
pid = os.fork()
if pid == 0:
    os._exit(len(json.loads("[1, 2, 3]")))
_, status = os.waitpid(pid, 0)
with open("/proc/self/smaps") as file:
    huge = sum(map(int, re.findall(r"AnonHugePages: *([0-9]+) kB", file.read())))
print(json.dumps([size, before == after, os.WEXITSTATUS(status), huge * 1024]))
"""


@pytest.mark.parametrize("python", ["/usr/bin/python3", sys.executable])
def test_a_program_runs_on_from_huge_pages(python: str) -> None:
    if not Path(python).exists():
        pytest.skip(f"{python} is not here")
    folder = str(Path(system.__file__).parent)
    done = subprocess.run(
        [python, "-I", "-c", PROGRAM, folder], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    size, is_same, answer, huge = json.loads(done.stdout)
    assert (is_same, answer) == (True, 3)
    # None at all where the kernel has no such pages, or the text is smaller than one.
    assert size % system.HUGE == 0
    assert huge >= size
