"""Raw system calls from Python: the filter must answer, whatever the arguments."""

import struct

from integration.sandbox.attacks.attack import Attack, either, fails, gives, value

CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def word(a): return ctypes.create_string_buffer(a) if isinstance(a, bytes) else ctypes.c_long(a)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *map(word, arguments))
    return errno.errorcode.get(ctypes.get_errno(), 'done') if result == -1 else 'done'
"""
MACHINE_CODE = """
import ctypes, mmap
def run(code):
    memory = mmap.mmap(-1, 4096, prot=7)
    memory.write(bytes.fromhex(code))
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return ctypes.CFUNCTYPE(ctypes.c_long)(start)()
"""
NEW_USER = 0x10000000
# Valid arguments: the kernel would carry out the call if the filter let it through.
PARAMETERS = bytes(120)
EVENT = struct.pack("IIQQQQQ", 1, 112, 0, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(64)
HANDLE = struct.pack("Ii", 128, 0) + bytes(128)
HERE = -100
CALLS = [
    (68, "ptrace", 101, (0, 0, 0, 0)),
    (69, "io_uring_setup", 425, (1, PARAMETERS)),
    (70, "bpf", 321, (0, 0, 0)),
    (71, "perf_event_open", 298, (EVENT, 0, -1, -1, 0)),
    (72, "keyctl", 250, (0, -3, 1)),
    (73, "add_key", 248, (b"user", b"arena", b"x", 1, -3)),
    (74, "userfaultfd", 323, (1,)),  # of user mode only, which anybody may have
    (75, "unshare_user", 272, (NEW_USER,)),
    (76, "setns", 308, (0, 0)),
    (77, "mount", 165, (b"none", b"/home", b"tmpfs", 0, 0)),
    (78, "umount2", 166, (0, 0)),
    (79, "pivot_root", 155, (0, 0)),
    (80, "chroot", 161, (b"/usr",)),
    (81, "shmget", 29, (0, 4096, 0o1600)),
    (82, "msgget", 68, (0, 0o1600)),
    (83, "process_vm_readv", 310, (1, 0, 0, 0, 0, 0)),
    (84, "open_by_handle_at", 304, (0, 0, 0)),
    (85, "clone_new_user", 56, (NEW_USER | 17, 0, 0, 0, 0)),
    (87, "execveat", 322, (0, 0, 0, 0, 0)),
    (88, "kexec_load", 246, (0, 0, 0, 0)),
    (89, "pidfd_open", 434, (1, 0)),
    (90, "fsopen", 430, (b"tmpfs", 0)),
    (91, "name_to_handle_at", 303, (HERE, b"/usr", HANDLE, bytes(8), 0)),
    (67, "fanotify_init", 300, (0x200, 0)),  # reports ids only, which anybody may have
    (52, "semget", 64, (0, 1, 0o1600)),
    (52, "mq_open", 240, (b"arena-canary", 0o102, 0o600, 0)),
    (94, "clone_with_high_bits", 56, (NEW_USER | 17 | 1 << 40, 0, 0, 0, 0)),
    (94, "fork_with_high_bits", 56, (17 | 1 << 40, 0, 0, 0, 0)),
    (94, "seccomp", 317, (1, 0, 0)),
    (94, "prctl_seccomp", 157, (22, 2, 0, 0, 0)),
    (95, "memfd_create", 319, (b"x", 0)),
    (96, "personality", 135, (0x0040000,)),
    (96, "modify_ldt", 154, (0, 0, 0)),
    (96, "vmsplice", 278, (1, 0, 0, 0)),
    (96, "splice", 275, (0, 0, 1, 0, 1, 0)),
    (96, "tee", 276, (0, 1, 1, 0)),
    (60, "syslog", 103, (3, 0, 0)),
]


def _call(number, name, syscall, arguments):
    source = f"{CALL}\ndef f(c): return call({syscall}, *{arguments!r})\n"
    return Attack(
        number=number,
        name=name,
        language="python",
        source=source,
        contained=gives("EPERM"),
    )


KERNEL_ATTACKS = [
    *(_call(*row) for row in CALLS),
    Attack(
        number=86,
        name="clone3",
        language="python",
        source=f"{CALL}\ndef f(c): return call(435, 0, 0)\n",
        contained=gives("ENOSYS"),
    ),
    Attack(
        number=92,
        name="own_rights",
        language="python",
        source="def f(c):\n    s = dict(l.split(':\\t', 1) for l in open('/proc/self/status'))\n"
        "    return [attempt(lambda: os.setuid(0))] + [s[k].strip() for k in ('CapInh', 'CapPrm',"
        " 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp')]\n",
        contained=gives(["EPERM", *["0" * 16] * 5, "1", "2"]),
    ),
    Attack(
        number=92,
        name="own_identity",
        language="python",
        source="def f(c):\n    return [os.getuid(), os.getgid(), os.getpid(),"
        " [l.split() for l in open('/proc/self/uid_map')]]\n",
        contained=value(lambda v: v[:3] == [65534, 65534, 1] and v[3][0][2] == "1"),
    ),
    Attack(
        number=93,
        name="int_0x80",
        language="python",
        # mov eax,20 (getpid of the 32-bit table); int 0x80; ret
        source=f"{MACHINE_CODE}\ndef f(c): return run('b814000000cd80c3')\n",
        contained=fails("SIGSYS|SIGSEGV"),
    ),
    Attack(
        number=93,
        name="x32_number",
        language="python",
        source=f"{CALL}\ndef f(c): return call(39 | 0x40000000)\n",
        contained=fails("SIGSYS"),
    ),
    Attack(
        number=95,
        name="own_machine_code",
        language="python",
        # mov eax,57 (fork); syscall; ret: the code runs, the call does not
        source=f"{MACHINE_CODE}\ndef f(c): return run('b8390000000f05c3')\n",
        contained=gives(-1),
    ),
    Attack(
        number=96,
        name="writes_a_read_only_page_cache",
        language="python",
        source="import mmap\ndef f(c):\n    fd = os.open(sys.executable, os.O_RDONLY)\n"
        "    return [attempt(lambda: os.open(sys.executable, os.O_RDWR)),"
        " attempt(lambda: os.splice(fd, 1, 1))]\n",
        contained=either(
            value(lambda v: v[0] in ("EROFS", "EACCES", "ETXTBSY", "EPERM") and v[1] == "EPERM"),
        ),
    ),
]
