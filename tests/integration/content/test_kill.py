"""A writer that is killed leaves whole blocks or none."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from arena.content.cid import parse_cid
from arena.content.store import LocalStore
from arena.content.tree import cid_of

WRITER = """
import pathlib, random, sys
from arena.content.store import LocalStore
store = LocalStore(pathlib.Path(sys.argv[1]))
noise = random.Random(int(sys.argv[2]))
print("ready", flush=True)
while True:
    print(store.put(noise.randbytes(600_000)), flush=True)
"""


def test_a_killed_writer_leaves_nothing_half_written(tmp_path: Path):
    store = LocalStore(tmp_path / "content")
    promised: list[str] = []
    for seed in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.folder), str(seed)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
        # At a random moment in the middle of a put.
        time.sleep(random.Random(seed).uniform(0.01, 0.15))
        writer.send_signal(signal.SIGKILL)
        output = writer.communicate()[0].split()
        promised += [line for line in output if len(line) == 59]
    blocks = [path for path in (store.folder / "blocks").rglob("*") if path.is_file()]
    assert blocks
    for path in blocks:
        assert parse_cid(path.name).names(path.read_bytes()), path.name
    for cid in promised:
        assert cid_of(store.get(cid)) == cid
