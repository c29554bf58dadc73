"""Isolates a freshly cloned child before any untrusted code runs in it. The order matters."""

from __future__ import annotations

import base64
import ctypes
import os
import resource
import struct
from typing import Any

from arena.sandbox.harness.system import Table, make_call

NULL, STDOUT, STDERR, REQUEST, RESULT = 0, 1, 2, 3, 4
FIRST_FREE = 5
ORDERS, REPORTS = 5, 6
"""Descriptors of the zygote: its orders, and the pipe for reports of cloned children."""
RECEIVED = 7
"""The first of the four descriptors that come with an order."""
TO_THE_LAST = 0xFFFFFFFF
AT_FDCWD = -100
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1 << 5, 1 << 12, 1 << 14, 1 << 18
CLONE_PARENT, NEW_NET = 0x8000, 0x40000000
# user, pid, mounts, ipc, uts, cgroup
NAMESPACES = 0x10000000 | 0x20000000 | 0x20000 | 0x8000000 | 0x4000000 | 0x2000000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
SECCOMP_MODE_FILTER, PR_CAP_AMBIENT_CLEAR_ALL, SIGKILL = 2, 4, 9
CAPABILITY_VERSION_3 = 0x20080522
AF_INET, SOCK_DGRAM, SIOCSIFFLAGS, IFF_UP = 2, 2, 0x8914, 1
READY = b'{"ready":1}\n'
OOM_SCORE_FILE, HIGHEST_OOM_SCORE = "/proc/self/oom_score_adj", b"1000"


class Filter(ctypes.Structure):
    """A compiled seccomp program, as prctl takes it (struct sock_fprog)."""

    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


class Walls:
    """Every system call a child makes between its clone and its first untrusted instruction."""

    def __init__(self, config: dict[str, Any]) -> None:
        inherited, closing = map(base64.b64decode, config["filters"])
        bare = bool(config.get("bare"))
        self._inherited = b"" if bare else inherited
        # A network namespace is the most expensive one (+0.6 ms). Where the filter refuses sockets,
        # the zygote's own empty one is enough.
        network = bool(config["network"])
        flags = NAMESPACES | (NEW_NET if network else 0)
        # CLONE_PARENT: children belong to the reaper, so the zygote never has to wait for them.
        self.table = Table(CLONE_PARENT | (0 if bare else flags))
        self._place_descriptors()
        if not bare:
            self._identity()
            self._files(config)
            if network:
                self._loopback()
            self._limits(config)
            self._rights(closing)
        self.table.add("write", RESULT, READY, len(READY))
        self.table.seal()
        null = os.open("/dev/null", os.O_RDWR)
        # Occupy 0 to 4 in zygote and child, so that no received descriptor gets these numbers.
        for number in range(FIRST_FREE):
            os.dup2(null, number)
        if null >= FIRST_FREE:
            os.close(null)

    def enclose_zygote(self) -> None:
        """Restrict the zygote to the calls that it and its children need; they inherit this."""
        if self._inherited:
            # Inherited too: when memory is short the kernel kills the children, which are larger.
            with open(OOM_SCORE_FILE, "wb") as file:  # noqa: PTH123
                file.write(HIGHEST_OOM_SCORE)
            make_call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            make_call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._program(self._inherited))

    def serve(self) -> bool:
        """True in each child, once it is isolated; False when there are no more orders."""
        return self.table.serve(ORDERS, REPORTS, RECEIVED)

    def _place_descriptors(self) -> None:
        for place, target in enumerate((REQUEST, RESULT, STDOUT, STDERR)):
            self.table.add("dup3", RECEIVED + place, target, 0)
        self.table.add("close_range", FIRST_FREE, TO_THE_LAST, 0)

    def _write(self, path: bytes, line: bytes) -> None:
        # Everything above 4 is closed, so the opened file gets number 5.
        self.table.add("openat", AT_FDCWD, path, os.O_WRONLY, 0)
        self.table.add("write", FIRST_FREE, line, len(line))
        self.table.add("close", FIRST_FREE)

    def _identity(self) -> None:
        """Map the user into its own namespace, before PR_SET_DUMPABLE closes these files to it."""
        same = f"{os.getuid()} {os.getuid()} 1".encode()
        if not self._inherited:
            # When memory is short the kernel should kill a child, even a small one, not the zygote.
            self._write(OOM_SCORE_FILE.encode(), HIGHEST_OOM_SCORE)
        self._write(b"/proc/self/setgroups", b"deny")
        self._write(b"/proc/self/uid_map", same)
        self._write(b"/proc/self/gid_map", same)

    def _files(self, config: dict[str, Any]) -> None:
        add = self.table.add
        add("mount", b"none", b"/", 0, MS_REC | MS_PRIVATE, 0)
        for path, flags, options in config["mounts"]:
            add("mount", b"tmpfs", path.encode(), b"tmpfs", flags, options.encode())
        # The host's own nodes, which all submissions see: their times must not change. Reading and
        # writing a device needs no writable mount. (bubblewrap's --remount-ro adds nodev.)
        for path in config["devices"]:
            flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID
            add("mount", b"none", path.encode(), 0, flags, 0)
        flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
        add("mount", b"proc", b"/proc", b"proc", flags, b"hidepid=2")
        add("chdir", config["directory"].encode())

    def _loopback(self) -> None:
        """Bring up loopback: a command may talk to itself, and its network has nothing else."""
        self.table.add("socket", AF_INET, SOCK_DGRAM, 0)
        request = struct.pack("16sh14x", b"lo", IFF_UP)
        self.table.add("ioctl", FIRST_FREE, SIOCSIFFLAGS, request)
        self.table.add("close", FIRST_FREE)

    def _limits(self, config: dict[str, Any]) -> None:
        for name, value in config["rlimits"].items():
            kind: int = getattr(resource, f"RLIMIT_{name}")
            self.table.add("prlimit64", 0, kind, struct.pack("QQ", value, value), 0)

    def _rights(self, closing: bytes) -> None:
        add = self.table.add
        add("setsid")
        add("prctl", PR_SET_PDEATHSIG, SIGKILL)
        add("prctl", PR_SET_DUMPABLE, 0)
        for capability in range(_last_capability() + 1):
            add("prctl", PR_CAPBSET_DROP, capability)
        add("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
        add("capset", struct.pack("Ii", CAPABILITY_VERSION_3, 0), bytes(24))
        add("prctl", PR_SET_NO_NEW_PRIVS, 1)
        add("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self._program(closing))

    def _program(self, code: bytes) -> int:
        buffer = ctypes.create_string_buffer(code, len(code))
        return self.table.keep(Filter(len(code) // 8, self.table.keep(buffer)))


def _last_capability() -> int:
    with open("/proc/sys/kernel/cap_last_cap") as file:  # noqa: PTH123
        return int(file.read())
