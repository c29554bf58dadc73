"""Detached jobs run once and to their end, whatever happens to their caller."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.agents.detached_job import DetachedJob, Order
from arena.errors import AgentCrashed, AgentFault, AgentTimedOut, InfrastructureError

COUNTING = """
import sys, time
with open("runs", "a") as runs:
    runs.write("x")
said = sys.stdin.read()
time.sleep(float(sys.argv[1]))
print("done", said, end="")
"""


def order(folder: Path, *words: str, timeout: float = 60.0, cap: int = 1000) -> Order:
    return Order(words=words, directory=str(folder), timeout_seconds=timeout, max_output_bytes=cap)


def counting(folder: Path, seconds: float) -> Order:
    (folder / "solver.py").write_text(COUNTING)
    return order(folder, sys.executable, "solver.py", str(seconds))


def runs(folder: Path) -> int:
    path = folder / "runs"
    return len(path.read_text()) if path.exists() else 0


async def test_it_returns_the_output_and_runs_the_program_once(tmp_path: Path):
    job_order = counting(tmp_path, 0)
    assert await DetachedJob(tmp_path / "e").output(job_order, b"task\n") == b"done task\n"
    # A second call, from this process or another, does not run it again.
    assert await DetachedJob(tmp_path / "e").output(job_order, b"task\n") == b"done task\n"
    assert runs(tmp_path) == 1


SENDER = """
import asyncio, sys
from pathlib import Path
from arena.agents.detached_job import DetachedJob, Order
folder = Path(sys.argv[1])
order = Order(words=[sys.executable, "solver.py", "1.5"], directory=str(folder), timeout_seconds=60)
asyncio.run(DetachedJob(folder / "e").output(order, b"task"))
"""


async def test_after_its_caller_is_killed_a_job_is_found_running_and_not_run_again(tmp_path: Path):
    job_order = counting(tmp_path, 1.5)
    sender = subprocess.Popen([sys.executable, "-c", SENDER, str(tmp_path)])
    while runs(tmp_path) == 0:
        await asyncio.sleep(0.01)
    sender.send_signal(signal.SIGKILL)
    sender.wait()
    assert await DetachedJob(tmp_path / "e").output(job_order, b"task") == b"done task"
    assert runs(tmp_path) == 1


async def test_a_killed_supervisor_is_a_crash_and_the_next_call_runs_it_again(tmp_path: Path):
    job_order = counting(tmp_path, 60)
    job = DetachedJob(tmp_path / "e")
    waiting = asyncio.create_task(job.output(job_order, b""))
    started = tmp_path / "e" / "started"
    while runs(tmp_path) == 0 or not started.exists():
        await asyncio.sleep(0.01)
    os.kill(int(started.read_text()), signal.SIGKILL)
    with pytest.raises(AgentCrashed, match="supervisor was killed"):
        await waiting
    assert await job.output(counting(tmp_path, 0), b"") == b"done "
    assert runs(tmp_path) == 2


async def test_a_job_ended_on_purpose_leaves_no_trace(tmp_path: Path):
    job = DetachedJob(tmp_path / "e")
    waiting = asyncio.create_task(job.output(counting(tmp_path, 60), b""))
    while runs(tmp_path) == 0:
        await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    job.end()
    assert not (tmp_path / "e").exists()


@pytest.mark.parametrize(
    ("words", "limits", "fault", "message"),
    [
        (["sh", "-c", "echo oops >&2; exit 3"], {}, AgentCrashed, "exit code 3: oops"),
        (["sleep", "60"], {"timeout": 0.3}, AgentTimedOut, "within 0.3 s"),
        (["yes"], {}, AgentFault, "more than 1000 bytes"),
        (["no-such-program"], {}, InfrastructureError, "was not found"),
    ],
)
async def test_a_failure_is_reported_with_its_cause(tmp_path, words, limits, fault, message):
    job = DetachedJob(tmp_path / "e")
    with pytest.raises(fault, match=message):
        await job.output(order(tmp_path, *words, **limits), b"")
    assert not (tmp_path / "e").exists()


async def test_output_exactly_at_the_cap_is_complete(tmp_path: Path):
    job_order = order(tmp_path, "head", "-c", "1000", "/dev/zero")
    assert await DetachedJob(tmp_path / "e").output(job_order, b"") == bytes(1000)


async def test_no_child_process_is_left_behind(tmp_path: Path):
    script = "sleep 300 & echo $! > pid; echo out"
    assert (
        await DetachedJob(tmp_path / "e").output(order(tmp_path, "sh", "-c", script), b"")
        == b"out\n"
    )
    state = Path(f"/proc/{int((tmp_path / 'pid').read_text())}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


async def test_a_job_ended_before_its_supervisor_starts_is_never_run(
    tmp_path: Path,
):
    """Ctrl-C right after an assignment must not wait for the whole command."""
    job_order = counting(tmp_path, 3)
    job = DetachedJob(tmp_path / "e")
    sending = asyncio.create_task(job.output(job_order, b"task"))
    while not (tmp_path / "e" / "lock").exists():
        await asyncio.sleep(0)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    job.end()
    assert not (tmp_path / "e").exists()
    assert runs(tmp_path) == 0
    assert await DetachedJob(tmp_path / "e").output(counting(tmp_path, 0), b"anew") == b"done anew"
    assert runs(tmp_path) == 1


async def test_ending_a_job_that_was_found_running_removes_it(tmp_path: Path):
    sender = DetachedJob(tmp_path / "e")
    waiting = asyncio.create_task(sender.output(counting(tmp_path, 60), b""))
    while runs(tmp_path) == 0:
        await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    finder = DetachedJob(tmp_path / "e")
    finder.end()
    # Started again at once, it neither fails nor finds leftovers of the previous job.
    assert await finder.output(counting(tmp_path, 0), b"again") == b"done again"
    sender.end()
