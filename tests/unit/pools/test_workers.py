import asyncio
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from arena.errors import InfrastructureError
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard_document
from arena.pools import workers
from arena.pools.effort import effort
from arena.pools.workers import TooMuchWork, by_effort, close_workers, heavy, prepare_workers
from arena.team import current_team, working_for


async def test_a_worker_is_another_process_and_is_used_again():
    first = await heavy(os.getpid)
    assert first != os.getpid()
    assert await heavy(os.getpid) == first


async def test_a_worker_works_for_the_team_of_its_caller():
    with working_for("mine"):
        assert await heavy(current_team) == "mine"


async def test_errors_come_back_as_they_were_raised():
    with pytest.raises(ValueError, match="invalid literal"):
        await heavy(int, "x")
    with pytest.raises(InvalidStandard) as here:
        read_standard_document({"type": "contains"})
    with pytest.raises(InvalidStandard) as there:
        await heavy(read_standard_document, {"type": "contains"})
    assert there.value.faults == here.value.faults
    assert there.value.message == here.value.message


async def test_a_job_without_end_is_ended_by_its_processor_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "CPU_SECONDS", 1)
    with pytest.raises(TooMuchWork, match="took longer than 1 s of processor time"):
        await heavy(sum, range(10**12))
    assert await heavy(sum, range(10)) == 45


async def test_a_job_that_needs_too_much_memory_fails_alone():
    with pytest.raises(TooMuchWork, match="memory"):
        await heavy(bytes, 8 * 1024**3)
    assert await heavy(len, b"four") == 4


async def test_the_event_loop_runs_on_while_a_worker_works():
    job = asyncio.create_task(heavy(sum, range(3 * 10**7)))
    turns = 0
    while not job.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert job.result() == sum(range(3 * 10**7))
    assert turns > 10


async def test_a_killed_worker_is_an_infrastructure_error_and_is_replaced():
    with pytest.raises(InfrastructureError):
        await heavy(os.kill, await heavy(os.getpid), signal.SIGKILL)
    assert await heavy(len, "x") == 1


async def test_a_worker_that_exited_while_idle_is_replaced():
    pid = await heavy(os.getpid)
    workers._idle[-1]._socket.shutdown(socket.SHUT_WR)  # it exits, as after a long idle time
    assert await heavy(os.getpid) != pid


async def test_little_work_is_done_at_once():
    assert await by_effort(1, os.getpid) == os.getpid()
    assert await by_effort(10**6, os.getpid) != os.getpid()


async def test_a_worker_is_prepared_once_with_the_state_of_this_process():
    await heavy(len, "started before")
    prepare_workers(sys.setrecursionlimit, 1234)
    assert await heavy(sys.getrecursionlimit) == 1234
    await heavy(sys.setrecursionlimit, 1000)
    assert await heavy(sys.getrecursionlimit) == 1000
    close_workers()
    assert await heavy(sys.getrecursionlimit) != 1234


async def test_closing_ends_all_workers():
    pid = await heavy(os.getpid)
    close_workers()
    assert not Path(f"/proc/{pid}").exists()


def test_a_worker_ends_with_its_parent_even_if_that_is_killed(tmp_path: Path):
    program = """
        import asyncio, os
        from pathlib import Path
        from arena.pools.workers import _busy, heavy
        async def main():
            job = asyncio.create_task(heavy(sum, range(10**12)))
            while not _busy:
                await asyncio.sleep(0.01)
            pid = next(iter(_busy)).process.pid
            # It works: it has used processor time beyond its imports.
            stat = Path(f"/proc/{pid}/stat").read_text
            while int(stat().rpartition(")")[2].split()[11]) < 100:
                await asyncio.sleep(0.01)
            print(pid, flush=True)
            os.kill(os.getpid(), 9)
        asyncio.run(main())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    pid = int(done.stdout)
    # `stdout` above is inherited by nobody, so only the worker itself keeps its entry.
    while is_running(pid):
        os.sched_yield()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("value", "expected"),
    [([], 1), ([1, [2]], 4), ({"a": 1}, 3), ("x" * 640, 11), ([[]] * 100, 21)],
)
def test_effort_counts_values_keys_and_text_up_to_the_limit(value: object, expected: int):
    assert effort(value, limit=20) == expected
