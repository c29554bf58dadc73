"""The few calls to the kernel that Python's standard library does not have."""

from __future__ import annotations

import ctypes
import os
import platform

# numbers of clone(2); everything else goes through libc, which knows its own machine
CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}
NEW_USER, NEW_PID, NEW_MOUNTS, NEW_IPC = 0x10000000, 0x20000000, 0x20000, 0x8000000
NEW_UTS, NEW_CGROUP, NEW_NET = 0x4000000, 0x2000000, 0x40000000
SIGCHLD = 17
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_PRIVATE, MS_REC = 2, 4, 8, 1 << 18, 1 << 14
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
SECCOMP_MODE_FILTER, PR_CAP_AMBIENT_CLEAR_ALL = 2, 4
LAST_CAPABILITY = 40
CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_ulong,
    ctypes.c_char_p,
]
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4

_clone_arguments = (
    ctypes.c_long(CLONE_NUMBER.get(platform.machine(), -1)),
    ctypes.c_long(0),
)


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def clone(flags: int) -> int:
    """One raw system call: the pid of the child, or 0 in the child.

    Not os.fork: that runs hooks and takes locks, and cannot ask for namespaces. The caller must
    have one thread only.
    """
    number, none = _clone_arguments
    pid = _libc.syscall(number, ctypes.c_long(flags | SIGCHLD), none, none, none, none)
    _check(pid, "clone")
    return pid


def mount(source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes) -> None:
    """Mount a file system, or change one."""
    _check(_libc.mount(source, target, kind, flags, options), f"mount {target.decode()}")


def prctl(option: int, first: int = 0, second: int = 0) -> None:
    """Change a property of this process."""
    _check(_libc.prctl(option, first, second, 0, 0), f"prctl {option}")


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


class Filter:
    """A compiled seccomp program, ready to be loaded with one call."""

    def __init__(self, code: bytes) -> None:
        self._buffer = ctypes.create_string_buffer(code, len(code))
        address = ctypes.cast(self._buffer, ctypes.c_void_p)
        self._program = _Program(len(code) // 8, address)
        self._address = ctypes.addressof(self._program)

    def load(self) -> None:
        """From here on the kernel refuses everything that is not on the list."""
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._address)


_header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
_no_capabilities = (ctypes.c_uint32 * 6)()


def drop_capabilities() -> None:
    """Empty every capability set, the bounding set included."""
    call, number = _libc.prctl, PR_CAPBSET_DROP
    for capability in range(LAST_CAPABILITY + 1):
        # A kernel without the newest capabilities answers EINVAL: nothing to drop.
        call(number, capability, 0, 0, 0)
    _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _check(_libc.capset(_header, _no_capabilities), "capset")
