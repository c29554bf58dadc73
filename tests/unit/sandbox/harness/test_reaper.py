"""The reaper learns of a child from the zygote and of its exit from the kernel, in any order."""

import errno
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.sandbox.harness.reaper import NOT_CLONED, Reaper
from arena.sandbox.harness.system import RECORD


class Watched:
    """A reaper in a process of its own, with children that sleep or have ended already."""

    def __init__(self, *works: Callable[[], None]) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(20)
        reader, self.reports = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self.control.close()
            os.close(self.reports)
            zygote, *children = [_start(work) for work in (_sleep, *works)]
            theirs.send(" ".join(map(str, [zygote, *children])).encode())
            Reaper(theirs, reader, zygote).serve()
            os._exit(0)
        theirs.close()
        os.close(reader)
        self.zygote, *self.children = map(int, self.control.recv(200).split())

    def report(self, pid: int, name: int, wall_ms: int = 0) -> None:
        os.write(self.reports, RECORD.pack(pid, name, wall_ms))

    def ended(self) -> list[int]:
        """Name, status, and whether it timed out."""
        _, name, status, _, _, timed_out = self.control.recv(200).split()
        return [int(name), int(status), int(timed_out)]

    def is_silent(self) -> bool:
        return not select.select([self.control], [], [], 0.2)[0]


def _start(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        os.closerange(3, 1000)
        work()
        os._exit(7)
    return pid


def _sleep() -> None:
    time.sleep(60)


def _end() -> None:
    os._exit(3)


@contextmanager
def watched(*works: Callable[[], None]) -> Iterator[Watched]:
    reaper = Watched(*works)
    try:
        yield reaper
    finally:
        reaper.control.close()
        os.waitpid(reaper.pid, 0)
        os.close(reaper.reports)
        for pid in (reaper.zygote, *reaper.children):
            if os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
                os.kill(pid, signal.SIGKILL)


def test_an_end_that_comes_first_waits_for_its_report() -> None:
    with watched(_end) as reaper:
        assert reaper.is_silent()
        reaper.report(reaper.children[0], 0)
        assert reaper.ended() == [0, 3 << 8, 0]


def test_an_order_that_comes_first_waits_for_its_child() -> None:
    with watched(_sleep, _sleep) as reaper:
        reaper.control.send(b"kill 1")
        assert reaper.is_silent()
        reaper.report(reaper.children[0], 0)
        assert reaper.is_silent()
        reaper.report(reaper.children[1], 1)
        assert reaper.ended() == [1, signal.SIGKILL, 0]


def test_an_order_for_an_ended_child_is_ignored() -> None:
    with watched(_end, _sleep) as reaper:
        reaper.report(reaper.children[0], 0)
        assert reaper.ended()[0] == 0
        reaper.control.send(b"kill 0")
        reaper.report(reaper.children[1], 1)
        assert reaper.is_silent()


def test_a_clock_runs_out_and_another_begins_later() -> None:
    with watched(_sleep, _sleep) as reaper:
        reaper.report(reaper.children[0], 0, 50)
        assert reaper.ended() == [0, signal.SIGKILL, 1]
        reaper.report(reaper.children[1], 1)
        assert reaper.is_silent()
        reaper.control.send(b"arm 1 1")
        assert reaper.ended() == [1, signal.SIGKILL, 1]


def test_a_child_that_never_existed_is_reported_as_ended() -> None:
    with watched() as reaper:
        reaper.report(-errno.ENOSPC, 0)
        assert reaper.ended() == [0, NOT_CLONED, 0]


def test_without_its_zygote_a_reaper_exits() -> None:
    with watched(_sleep) as reaper:
        os.kill(reaper.zygote, signal.SIGKILL)
        assert reaper.control.recv(200) == b""
