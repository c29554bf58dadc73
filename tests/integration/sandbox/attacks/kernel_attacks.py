"""Raw system calls from Python: the filter must answer, whatever the arguments."""

from integration.sandbox.attacks.attack import Attack, either, fails, gives, value

CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments])
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
CALLS = [
    (68, "ptrace", 101, (0, 0, 0, 0), True),
    (69, "io_uring_setup", 425, (1, 0), True),
    (70, "bpf", 321, (0, 0, 0), False),
    (71, "perf_event_open", 298, (0, 0, 0, 0, 0), True),
    (72, "keyctl", 250, (0, -3, 1), True),
    (73, "add_key", 248, (0, 0, 0, 0, -3), True),
    (74, "userfaultfd", 323, (0,), False),
    (75, "unshare_user", 272, (NEW_USER,), True),
    (76, "setns", 308, (0, 0), True),
    (77, "mount", 165, (0, 0, 0, 0, 0), False),
    (78, "umount2", 166, (0, 0), False),
    (79, "pivot_root", 155, (0, 0), False),
    (80, "chroot", 161, (0,), True),
    (81, "shmget", 29, (0, 4096, 0o1600), False),
    (82, "msgget", 68, (0, 0o1600), True),
    (83, "process_vm_readv", 310, (1, 0, 0, 0, 0, 0), True),
    (84, "open_by_handle_at", 304, (0, 0, 0), False),
    (85, "clone_new_user", 56, (NEW_USER | 17, 0, 0, 0, 0), False),
    (87, "execveat", 322, (0, 0, 0, 0, 0), True),
    (88, "kexec_load", 246, (0, 0, 0, 0), False),
    (89, "pidfd_open", 434, (1, 0), True),
    (90, "fsopen", 430, (0, 0), False),
    (91, "name_to_handle_at", 303, (0, 0, 0, 0, 0), True),
    (52, "semget", 64, (0, 1, 0o1600), False),
    (52, "mq_open", 240, (0, 0o100, 0o600, 0), True),
    (94, "clone_with_high_bits", 56, (NEW_USER | 17 | 1 << 40, 0, 0, 0, 0), False),
    (94, "fork_with_high_bits", 56, (17 | 1 << 40, 0, 0, 0, 0), False),
    (94, "seccomp", 317, (1, 0, 0), True),
    (94, "prctl_seccomp", 157, (22, 2, 0, 0, 0), True),
    (95, "memfd_create", 319, (0, 0), True),
    (96, "personality", 135, (0x0040000,), True),
    (96, "modify_ldt", 154, (0, 0, 0), True),
    (96, "vmsplice", 278, (1, 0, 0, 0), True),
    (96, "splice", 275, (0, 0, 1, 0, 1, 0), True),
    (96, "tee", 276, (0, 1, 1, 0), True),
    (60, "syslog", 103, (3, 0, 0), False),
]


def _call(number, name, syscall, arguments, control):
    source = f"{CALL}\ndef f(c): return call({syscall}, *{arguments!r})\n"
    return Attack(
        number=number,
        name=name,
        language="python",
        source=source,
        contained=gives("EPERM"),
        control=control,
    )


KERNEL_ATTACKS = [
    *(_call(*row) for row in CALLS),
    Attack(
        number=86,
        name="clone3",
        language="python",
        source=f"{CALL}\ndef f(c): return call(435, 0, 0)\n",
        contained=gives("ENOSYS"),
        control=True,
    ),
    Attack(
        number=92,
        name="own_rights",
        language="python",
        source="def f(c):\n    s = dict(l.split(':\\t', 1) for l in open('/proc/self/status'))\n"
        "    return [attempt(lambda: os.setuid(0))] + [s[k].strip() for k in ('CapInh', 'CapPrm',"
        " 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp')]\n",
        contained=gives(["EPERM", *["0" * 16] * 5, "1", "2"]),
        control=True,
    ),
    Attack(
        number=92,
        name="own_identity",
        language="python",
        source="def f(c):\n    return [os.getuid(), os.getgid(), os.getpid(),"
        " [l.split() for l in open('/proc/self/uid_map')]]\n",
        contained=value(lambda v: v[:3] == [65534, 65534, 1] and v[3][0][2] == "1"),
        control=True,
    ),
    Attack(
        number=93,
        name="int_0x80",
        language="python",
        # mov eax,20 (getpid of the 32-bit table); int 0x80; ret
        source=f"{MACHINE_CODE}\ndef f(c): return run('b814000000cd80c3')\n",
        contained=fails("SIGSYS|SIGSEGV"),
        control=True,
    ),
    Attack(
        number=93,
        name="x32_number",
        language="python",
        source=f"{CALL}\ndef f(c): return call(39 | 0x40000000)\n",
        contained=fails("SIGSYS"),
        control=True,
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
