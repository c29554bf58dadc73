"""A terminal: a progress bar during a run, tables that fit, and Ctrl-C."""

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from factories import write_agent, write_tests

COUNT = 40
AGENT = """
with open("asked", "ab", buffering=0) as asked:
    asked.write(b".")
while os.path.getsize("asked") > 10 and not os.path.exists("go"):
    time.sleep(0.02)
return prompt.upper()
"""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def slow(shell):
    """A user with an agent that answers about ten questions, and the rest once `go` exists."""
    write_agent(shell.home / "agents", "slow", AGENT, limits={"max_concurrency": 2})
    write_tests(shell.home / "benchmarks" / "slow.yaml", count=COUNT, agents=["slow"])
    return shell


def in_terminal(shell, *words: str, columns: int = 80) -> str:
    """The output of a command in a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = shell.start(*words, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed: end of file on a terminal
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return seen.decode()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.mark.parametrize("columns", [80, 200])
def test_a_terminal_shows_a_bar_and_lines_that_fit(shell, columns: int):
    write_agent(shell.home / "agents", "half", "return prompt if prompt[-1] == '1' else 'no ' * 99")
    tests = shell.home / "benchmarks" / "half.yaml"
    write_tests(tests, count=3, agents=["half"], case_sensitive=False)
    shown = ESCAPES.sub("", in_terminal(shell, "run", "half", columns=columns))
    assert "3/3" in shown and "1 passed 2 failed" in shown and "━" in shown
    lines = [line.rpartition("\r")[2] for line in shown.replace("\r\n", "\n").splitlines()]
    assert max(len(line) for line in lines) <= columns
    table = [line for line in lines if line.startswith("half_")]
    assert len(table) == 3
    assert all(line.split()[0] in {"half_00001", "half_00002", "half_00003"} for line in table)


def test_ctrl_c_ends_a_run_quickly_and_shows_how_to_continue(slow):
    process = slow.start("run", "slow")
    questions = slow.home / "agents" / "asked"
    until(lambda: questions.exists() and questions.stat().st_size > 10)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)  # the agent would take forever
    assert process.returncode == 130
    assert "Traceback" not in err
    command = re.search(r"interrupted; continue with: (arena runs resume (\S+))", err)
    assert command, (out, err)
    run_id = command[2]
    before = slow.json("runs", "show", run_id)
    assert before["run"]["status"] == "running"
    assert before["run"]["completed_tests"] == len(before["results"]) < COUNT
    (slow.home / "agents" / "go").touch()
    resumed = slow.arena(*command[1].split()[1:], "--json")
    assert resumed.returncode == 0, resumed.stderr
    after = slow.arena("runs", "show", run_id, "--json")
    assert f'"completed_tests": {COUNT}' in after.stdout
    assert f'"passed_tests": {COUNT}' in after.stdout


def test_no_agent_outlives_a_run_that_was_killed(slow):
    agents = slow.home / "agents"
    process = slow.start("run", "slow", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: bool(working_in(agents)))
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=20)
    (agents / "go").touch()  # it may be answering a question, and exits after it
    until(lambda: not working_in(agents))


def working_in(folder: Path) -> list[int]:
    """The processes with this working folder: an agent runs in the folder of its file."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if (entry / "cwd").readlink() == folder:
                    found.append(int(entry.name))
    return found
