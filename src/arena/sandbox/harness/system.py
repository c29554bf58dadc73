"""A child's first steps as a table of system calls, prepared once and run in one go.

After a clone every page that Python touches is copied, some microseconds each; two dozen calls
made from Python cost more than the namespaces themselves. So the zygote writes the calls down
ahead of time. On x86-64 eighty bytes of machine code clone and then run the table; elsewhere
libc's syscall() does the same, call by call.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform

SIGCHLD = 17
NUMBERS = {
    "x86_64": {
        "capset": 126,
        "chdir": 80,
        "clone": 56,
        "close": 3,
        "close_range": 436,
        "dup3": 292,
        "ioctl": 16,
        "mount": 165,
        "openat": 257,
        "prctl": 157,
        "prlimit64": 302,
        "setsid": 112,
        "socket": 41,
        "write": 1,
    },
    "aarch64": {
        "capset": 91,
        "chdir": 49,
        "clone": 220,
        "close": 57,
        "close_range": 436,
        "dup3": 24,
        "ioctl": 29,
        "mount": 40,
        "openat": 56,
        "prctl": 167,
        "prlimit64": 261,
        "setsid": 157,
        "socket": 198,
        "write": 64,
    },
}
WORDS = 7
END = -1

# run(table): makes the call of the first row; unless that gave 0 (the child), returns its result.
# Then makes call after call until a row begins with a negative number, and returns 0; a call that
# fails leaves its errno at the start of its row, whose address is returned.
#
#   push rbx; mov rbx,rdi; call one; test rax,rax; jnz out
#   next: add rbx,56; mov rax,[rbx]; test rax,rax; js done
#         call one; cmp rax,-4096; jbe next; neg rax; mov [rbx],rax; mov rax,rbx
#   out:  pop rbx; ret
#   done: xor eax,eax; pop rbx; ret
#   one:  mov rax,[rbx]; mov rdi,[rbx+8]; mov rsi,[rbx+16]; mov rdx,[rbx+24]; mov r10,[rbx+32]
#         mov r8,[rbx+40]; mov r9,[rbx+48]; syscall; ret
X86_64 = bytes.fromhex(
    "534889fbe82d0000004885c075224883c338488b034885c07818e817000000483d00f0ffff76e7"
    "48f7d84889034889d85bc331c05bc3488b03488b7b08488b7310488b53184c8b53204c8b43284c8b4b30"
    "0f05c3"
)


class StepFailed(Exception):
    """A step of the table did not work; the child must not go on."""


class Table:
    """System calls in order; the first is the clone."""

    def __init__(self, clone_flags: int) -> None:
        self._numbers = NUMBERS[platform.machine()]
        self._rows: list[list[int]] = []
        self._names: list[str] = []
        self._kept: list[object] = []
        self._words = (ctypes.c_long * WORDS)()
        self._call = _libc_call
        self.add("clone", clone_flags | SIGCHLD)

    def add(self, name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_long]) -> int:
        """Append a call; its place in the table is returned."""
        words = [self._word(argument) for argument in arguments]
        self._rows.append([self._numbers[name], *words, *[0] * (WORDS - 1 - len(words))])
        paths = [word for word in arguments if isinstance(word, bytes) and word.startswith(b"/")]
        self._names.append(" ".join([name, *map(os.fsdecode, paths)]))
        return len(self._rows) - 1

    def _word(self, argument: int | bytes | ctypes.Array[ctypes.c_long]) -> int:
        if isinstance(argument, int):
            return argument
        if isinstance(argument, bytes):
            argument = ctypes.create_string_buffer(argument)  # pyright: ignore
        self._kept.append(argument)
        return ctypes.addressof(argument)  # pyright: ignore

    def keep(self, thing: ctypes.Array[ctypes.c_char] | ctypes.Structure) -> int:
        """The address of something that must live as long as the table."""
        self._kept.append(thing)
        return ctypes.addressof(thing)

    def seal(self) -> None:
        """Lay the table out in memory; from here on only `set` changes it."""
        flat = [word for row in self._rows for word in row] + [END]
        self._words = (ctypes.c_long * len(flat))(*flat)
        if platform.machine() == "x86_64":
            self._call = _machine_code()
        self._address = ctypes.addressof(self._words)

    def set(self, place: int, argument: int, value: int) -> None:
        """Change one argument (1 is the first) of the call at `place`."""
        self._words[place * WORDS + argument] = value

    def clone(self) -> int:
        """The child's pid; or 0 in the child, which has been through the whole table."""
        result = self._call(self._address)
        if 0 <= result < 1 << 23:
            return result
        if result < 0:
            raise OSError(-result, f"clone: {os.strerror(-result)}")
        place = (result - self._address) // (WORDS * 8)
        number = self._words[place * WORDS]
        raise StepFailed(f"{self._names[place]}: {os.strerror(number)}")


def _machine_code():
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(X86_64)
    # The memory must never be freed, and the GIL must not be let go between parent and child.
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    _forever.append(memory)
    return ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(start)


_forever: list[object] = []
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _libc_call(address: int) -> int:
    """The same as the machine code, one call at a time."""
    row = (ctypes.c_long * WORDS).from_address(address)
    result = _one(row)
    if result != 0:
        return result
    while True:
        address += WORDS * 8
        row = (ctypes.c_long * WORDS).from_address(address)
        if row[0] < 0:
            return 0
        result = _one(row)
        if -4096 < result < 0:
            row[0] = -result
            return address


def _one(row: ctypes.Array[ctypes.c_long]) -> int:
    result = _libc.syscall(*(ctypes.c_long(word) for word in row))
    return -ctypes.get_errno() if result == -1 else result
