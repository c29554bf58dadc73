"""Both implementations of running a table of system calls do the same, with harmless calls."""

import ctypes
import errno
import os
import platform
import socket
import struct

import pytest

from arena.sandbox.harness import system
from arena.sandbox.harness.system import StepFailed, Table

pytestmark = pytest.mark.skipif(
    platform.machine() not in system.NUMBERS, reason="no numbers for this machine"
)


@pytest.fixture(params=["machine code", "libc"])
def slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "libc":
        both = system._libc_call, system._libc_serve
        monkeypatch.setattr(system, "_machine_code", lambda: both)
    return request.param == "libc"


def reap(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_the_child_has_been_through_the_table(slow) -> None:
    reader, writer = os.pipe()
    table = Table(0)
    table.add("write", writer, b"walls up", 8)
    table.seal()
    pid = table.clone()
    if pid == 0:
        os._exit(7)
    assert reap(pid) == 7
    assert os.read(reader, 100) == b"walls up"
    os.close(reader)
    os.close(writer)


def test_a_failing_step_is_named_and_nothing_follows(slow) -> None:
    reader, writer = os.pipe()
    table = Table(0)
    table.add("close", 987)
    table.add("write", writer, b"never", 5)
    table.seal()
    try:
        pid = table.clone()
    except StepFailed as failure:
        os.write(writer, str(failure).encode())
        os._exit(3)
    assert reap(pid) == 3
    assert os.read(reader, 100) == b"close: Bad file descriptor"
    os.close(reader)
    os.close(writer)


def clone_to_order(table: Table, orders: int, reports: int) -> None:
    """In a process of its own: a received descriptor gets the first number from 5 on."""
    os.dup2(orders, 1003, inheritable=False)
    os.dup2(reports, 1004, inheritable=False)
    for number, target in ((1003, 3), (1004, 4)):
        os.dup2(number, target)
    os.closerange(5, 2000)
    if table.serve(3, 4, 5):
        os.write(5, b"child")
        os._exit(8)
    os._exit(9)


@pytest.mark.parametrize("flags", [0, 0xFF | 1 << 16], ids=["cloned", "refused"])
def test_orders_are_served_and_reported_until_their_end(slow, flags) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reports, writer = os.pipe()
    table = Table(flags)
    table.add("write", 5, b"walls up, ", 10)
    table.seal()
    server = os.fork()
    if server == 0:
        clone_to_order(table, theirs.fileno(), writer)
    theirs.close()
    os.close(writer)
    for name in (7, 8):
        reader, output = os.pipe()
        socket.send_fds(ours, [struct.pack("=QQ", name, 500)], [output] * 4)
        os.close(output)
        pid, reported, wall_ms = system.RECORD.unpack(os.read(reports, system.RECORD.size))
        assert (reported, wall_ms) == (name, 500)
        with os.fdopen(reader, "rb") as file:
            # End of file shows that the server kept no copy of the descriptor.
            assert file.read() == (b"" if flags else b"walls up, child")
        assert (pid == -errno.EINVAL) if flags else pid > 0
    ours.close()
    assert reap(server) == 9
    os.close(reports)


def test_a_refused_clone_is_an_error(slow) -> None:
    table = Table(0xFF | 1 << 16)  # a thread without shared signal handlers does not exist
    table.seal()
    with pytest.raises(OSError, match="clone"):
        table.clone()


def test_the_machine_code_is_what_its_comment_says() -> None:
    assert len(system.X86_64) == 171
    assert system.X86_64[system.SERVE_OFFSET - 1 : system.SERVE_OFFSET + 2] == b"\xc3\x53\x55"
    assert system.X86_64.count(bytes.fromhex("0f05")) == 1  # one system call, at one place
    assert ctypes.sizeof(ctypes.c_long) * system.WORDS == 56
