"""The system calls a submission may make: allow lists, compiled to BPF.

Everything else is refused with EPERM, so that a program sees an error and continues; a call through
another architecture's entry point ends the process. The lists come from traces of honest programs;
a library that needs more shows up in a trace as EPERM.
"""

import importlib
import tempfile
from collections.abc import Callable
from enum import StrEnum
from errno import ENOSYS, EPERM
from functools import cache
from typing import Any

from arena.sandbox.errors import SandboxUnavailable

CLONE_THREAD = 0x10000
# NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, and NEWTIME's place
CLONE_NAMESPACES = (
    0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80
)
# TCGETS, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD, TIOCGWINSZ
HARMLESS_IOCTL = (0x5401, 0x5451, 0x5450, 0x5421, 0x541B, 0x5413)
NO_ID = 0xFFFFFFFF
"""-1: leave this id as it is."""
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
# F_DUPFD to F_SETFL, F_SETOWN to F_GETSIG, F_DUPFD_CLOEXEC to F_GET_SEALS. Not F_GETLK, leases and
# F_NOTIFY, which reveal what other submissions do with files that all of them see.
HARMLESS_FCNTL = (0, 1, 2, 3, 4, 8, 9, 10, 11, 1030, 1031, 1032, 1033, 1034)
# F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
LOCKS = (6, 7, 37, 38)
FIFO, FILE_KIND = 0o010000, 0o170000
HARMLESS_PRCTL = (1, 2, 3, 15, 16, 21, 23, 39, 0x53564D41)


class Profile(StrEnum):
    """Who the filter is for."""

    ZYGOTE = "zygote"
    """Functions and their threads (no processes, no programs, no sockets), plus what a zygote and
    its children need to isolate themselves. Children inherit it, which costs them nothing."""
    CLOSING = "closing"
    """Removes those extra calls again: both filters together leave what a function needs."""
    NODE = "node"
    """Processes, but no sockets."""
    COMMAND = "command"
    """Processes, and sockets in an empty network namespace."""


FUNCTION_CALLS = """
read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range fstat newfstatat
stat lstat statx statfs fstatfs open openat access faccessat faccessat2 readlink readlinkat
getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
symlink symlinkat chmod fchmod fchmodat ftruncate truncate fsync fdatasync utimensat umask
dup dup2 dup3 pipe pipe2 mmap munmap mremap mprotect brk madvise futex set_robust_list
get_robust_list rseq set_tid_address arch_prctl membarrier rt_sigaction rt_sigprocmask rt_sigreturn
rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause alarm setitimer getitimer
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getrandom poll ppoll select
pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2 sendto recvfrom
shutdown getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp
getpgid getsid getrusage getrlimit times uname sysinfo sched_yield sched_getaffinity
sched_getparam sched_getscheduler getcpu kill tgkill tkill exit exit_group restart_syscall
"""
PROCESS_CALLS = """
execve fork vfork wait4 waitid setsid setpgid sched_setaffinity getpriority setpriority link linkat
fallocate fadvise64 copy_file_range sendfile msync mincore utime utimes futimesat chown fchown
lchown fchownat timerfd_create timerfd_settime
timerfd_gettime signalfd4 timer_create timer_settime timer_gettime timer_delete timer_getoverrun
memfd_create pkey_alloc pkey_free pkey_mprotect rt_sigqueueinfo rt_tgsigqueueinfo getxattr
lgetxattr fgetxattr listxattr llistxattr flistxattr sync_file_range openat2 preadv2 pwritev2
sendmsg recvmsg mlock munlock fchmodat2
"""
SETUP_CALLS = "mount setsid prctl capset recvmsg"
"""The calls that isolate a child, in addition to clone and prlimit64 with any arguments."""
SOCKET_CALLS = """
connect bind listen accept accept4 getsockname getpeername setsockopt getsockopt sendmmsg recvmmsg
"""


@cache
def compiled(profile: Profile) -> bytes:
    """The filter of `profile` as BPF for the kernel."""
    library = _library()
    rules = _closing(library) if profile is Profile.CLOSING else _allowing(library, profile)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _allowing(library: Any, profile: Profile) -> Any:
    rules = _new_filter(library, library.ERRNO(EPERM))
    _allow(rules, library, FUNCTION_CALLS)
    _restrict(rules, library)
    if profile is Profile.ZYGOTE:
        _allow(rules, library, f"{SETUP_CALLS} clone prlimit64")
    else:
        _allow(rules, library, PROCESS_CALLS)
        _allow_processes(rules, library)
    if profile is Profile.COMMAND:
        _allow(rules, library, SOCKET_CALLS)
        for family in (AF_UNIX, AF_INET, AF_INET6):
            rules.add_rule(library.ALLOW, "socket", library.Arg(0, library.EQ, family))
    return rules


def _closing(library: Any) -> Any:
    """The closing filter. Short: every child pays per instruction when it installs it."""
    rules = _new_filter(library, library.ALLOW)
    refused = library.ERRNO(EPERM)
    for name in SETUP_CALLS.split():
        rules.add_rule(refused, name)
    rules.add_rule(refused, "prlimit64", library.Arg(2, library.NE, 0))
    rules.add_rule(refused, "clone", library.Arg(0, library.MASKED_EQ, CLONE_THREAD, 0))
    for place in range(CLONE_NAMESPACES.bit_length()):
        bit = 1 << place
        if CLONE_NAMESPACES & bit:
            rules.add_rule(refused, "clone", library.Arg(0, library.MASKED_EQ, bit, bit))
    return rules


def _library() -> Any:
    try:
        return importlib.import_module("pyseccomp")
    except (ImportError, OSError, RuntimeError) as error:
        raise SandboxUnavailable.at(
            "libseccomp",
            f"the system-call filter cannot be built: {error}",
            "install the package libseccomp2, and `pip install agent-arena[sandbox]`",
        ) from error


def _new_filter(library: Any, otherwise: Any) -> Any:
    rules = library.SyscallFilter(otherwise)
    # This also kills x32 calls and int 0x80 on a 64-bit machine.
    rules.set_attr(library.Attr.ACT_BADARCH, library.KILL_PROCESS)
    # A tree, not a list: when a child installs its filter, the kernel runs it once for every
    # existing call, with interrupts off. As a list that was an eighth of a submission's cost.
    rules.set_attr(library.Attr.CTL_OPTIMIZE, 2)
    return rules


def _allow(rules: Any, library: Any, names: str) -> None:
    for name in names.split():
        number = _number(library, name)
        if number >= 0:
            rules.add_rule(library.ALLOW, number)


def _number(library: Any, name: str) -> int:
    """The call's number; negative if this machine or this libseccomp does not have it."""
    resolve: Callable[[Any, str], int] = library.resolve_syscall
    try:
        return resolve(library.Arch.NATIVE, name)
    except (OSError, ValueError):
        return -1


def _restrict(rules: Any, library: Any) -> None:
    """Allow some calls only with certain arguments."""
    for request in HARMLESS_IOCTL:
        rules.add_rule(library.ALLOW, "ioctl", library.Arg(1, library.EQ, request))
    rules.add_rule(library.ALLOW, "prlimit64", library.Arg(2, library.EQ, 0))
    rules.add_rule(library.ALLOW, "socketpair", library.Arg(0, library.EQ, AF_UNIX))
    # ENOSYS, not EPERM: libc then falls back to clone, whose flags a filter can see, and programs
    # look for changes of files themselves instead of being notified.
    for name in ("clone3", "inotify_init", "inotify_init1"):
        if _number(library, name) >= 0:
            rules.add_rule(library.ERRNO(ENOSYS), name)
    for command in HARMLESS_FCNTL:
        rules.add_rule(library.ALLOW, "fcntl", library.Arg(1, library.EQ, command))
    # A lock of a file that all submissions see would be a message to the others. It succeeds
    # without effect: toolchains and SQLite ask for locks, and nobody else uses a sandbox's files.
    rules.add_rule(library.ERRNO(0), "flock")
    for command in LOCKS:
        rules.add_rule(library.ERRNO(0), "fcntl", library.Arg(1, library.EQ, command))


def _allow_processes(rules: Any, library: Any) -> None:
    rules.add_rule(library.ALLOW, "clone", library.Arg(0, library.MASKED_EQ, CLONE_NAMESPACES, 0))
    # Its own limits can only go down: soft and hard are equal and there is no capability.
    rules.add_rule(library.ALLOW, "prlimit64", library.Arg(0, library.EQ, 0))
    # `make` starts programs with effective ids equal to the real ones, which they are already. It
    # succeeds without effect: the call itself is never made.
    for name in ("setresuid", "setresgid"):
        unchanged = [library.Arg(place, library.MASKED_EQ, NO_ID, NO_ID) for place in (0, 2)]
        rules.add_rule(library.ERRNO(0), name, *unchanged)
    for option in HARMLESS_PRCTL:
        rules.add_rule(library.ALLOW, "prctl", library.Arg(0, library.EQ, option))
    for name, place in (("mknod", 1), ("mknodat", 2)):
        if _number(library, name) >= 0:
            kind = library.Arg(place, library.MASKED_EQ, FILE_KIND, FIFO)
            rules.add_rule(library.ALLOW, name, kind)
