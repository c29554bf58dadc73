"""Both ways to run a table of system calls do the same, with harmless calls."""

import ctypes
import os
import platform

import pytest

from arena.sandbox.harness import system
from arena.sandbox.harness.system import StepFailed, Table

pytestmark = pytest.mark.skipif(
    platform.machine() not in system.NUMBERS, reason="no numbers for this machine"
)


@pytest.fixture(params=["machine code", "libc"])
def slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "libc":
        monkeypatch.setattr(system, "_machine_code", lambda: system._libc_call)
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


def test_an_argument_can_be_set_later(slow) -> None:
    reader, writer = os.pipe()
    table = Table(0)
    place = table.add("write", 0, b"x", 1)
    table.seal()
    table.set(place, 1, writer)
    pid = table.clone()
    if pid == 0:
        os._exit(0)
    assert reap(pid) == 0
    assert os.read(reader, 10) == b"x"
    os.close(reader)
    os.close(writer)


def test_a_refused_clone_is_an_error(slow) -> None:
    table = Table(0xFF | 1 << 16)  # a thread without shared signal handlers does not exist
    table.seal()
    with pytest.raises(OSError, match="clone"):
        table.clone()


def test_the_machine_code_is_what_its_comment_says() -> None:
    assert len(system.X86_64) == 84
    assert system.X86_64.count(bytes.fromhex("0f05")) == 1  # one system call, at one place
    assert ctypes.sizeof(ctypes.c_long) * system.WORDS == 56
