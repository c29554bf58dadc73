"""System calls without Python, to keep a clone of the interpreter cheap.

After a clone every page that Python touches is copied, at some microseconds each. Two dozen calls
from Python would cost more than the namespaces themselves, and so would one round of the zygote's
own loop. So the zygote writes its calls and the child's into a table in advance. On
x86-64 about a hundred bytes of machine code run it; elsewhere libc's syscall() does the same, call
by call.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct

SIGCHLD = 17
HUGE = 2 << 20
MADV_COLLAPSE = 25
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MREMAP_MAYMOVE_FIXED = 3
# The numbers of the calls on x86-64 and on aarch64.
CALLS = {
    "capset": (126, 91),
    "chdir": (80, 49),
    "clone": (56, 220),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup3": (292, 24),
    "ioctl": (16, 29),
    "mount": (165, 40),
    "openat": (257, 56),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "recvmsg": (47, 212),
    "setsid": (112, 157),
    "socket": (41, 198),
    "write": (1, 64),
}
NUMBERS = {
    machine: {name: numbers[place] for name, numbers in CALLS.items()}
    for place, machine in enumerate(("x86_64", "aarch64"))
}
WORDS = 7
END = -1
MAX_PID = 1 << 23
"""Distinguishes a pid, which is smaller, from the address of a row, which is larger."""
NO_MORE = -4096
ORDER_BYTES = 16
RECORD = struct.Struct("=qQQ")
"""A child's pid, or a negative errno, and the two words of the order it was cloned for."""

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
#
# serve(rows, table, record): makes the call of the first of three rows; if that received nothing,
# returns -4096. Then run(table); the child returns with its result. The parent writes it to the
# record, makes the calls of the other two rows, and begins again.
#
#   push rbx; push rbp; push r12; push r13; mov rbp,rdi; mov r12,rsi; mov r13,rdx
#   order: mov rbx,rbp; call one; test rax,rax; jle ended; mov rdi,r12; call run
#          test rax,rax; jz leave; cmp rax,0x800000; jge leave; mov [r13],rax
#          lea rbx,[rbp+56]; call one; lea rbx,[rbp+112]; call one; jmp order
#   ended: mov rax,-4096
#   leave: pop r13; pop r12; pop rbp; pop rbx; ret
X86_64 = bytes.fromhex(
    "534889fbe82d0000004885c075224883c338488b034885c07818e817000000483d00f0ffff76e7"
    "48f7d84889034889d85bc331c05bc3488b03488b7b08488b7310488b53184c8b53204c8b43284c8b4b30"
    "0f05c3"
    "5355415441554889fd4989f44989d54889ebe8cbffffff4885c07e2d4c89e7e888ffffff"
    "4885c07427483d000080007d1f49894500488d5d38e8a4ffffff488d5d70e89bffffffebc6"
    "48c7c000f0ffff415d415c5d5bc3"
)
SERVE_OFFSET = 84


class StepFailed(Exception):
    """A call of the table failed; the child must not continue."""


class Table:
    """System calls in order; the first is the clone."""

    def __init__(self, clone_flags: int) -> None:
        self._numbers = NUMBERS[platform.machine()]
        self._rows: list[list[int]] = []
        self._names: list[str] = []
        self._kept: list[object] = []
        self._words = (ctypes.c_long * WORDS)()
        self._call, self._serve = _libc_call, _libc_serve
        self.add("clone", clone_flags | SIGCHLD)

    def add(self, name: str, *arguments: int | bytes) -> None:
        """Append a call."""
        words = [self._word(argument) for argument in arguments]
        self._rows.append([self._numbers[name], *words, *[0] * (WORDS - 1 - len(words))])
        paths = [word for word in arguments if isinstance(word, bytes) and word.startswith(b"/")]
        self._names.append(" ".join([name, *map(os.fsdecode, paths)]))

    def _word(self, argument: int | bytes) -> int:
        if isinstance(argument, int):
            return argument
        return self.keep(ctypes.create_string_buffer(argument))

    def keep(self, thing: ctypes.Array[ctypes.c_char] | ctypes.Structure) -> int:
        """The address of `thing`, which now lives as long as the table."""
        self._kept.append(thing)
        return ctypes.addressof(thing)

    def seal(self) -> None:
        """Lay the table out in memory; no call can be added after this."""
        flat = [word for row in self._rows for word in row] + [END]
        self._words = (ctypes.c_long * len(flat))(*flat)
        if platform.machine() == "x86_64":
            self._call, self._serve = _machine_code()
        self._address = ctypes.addressof(self._words)

    def clone(self) -> int:
        """The child's pid; 0 in the child, once it has made every call of the table."""
        return self._checked(self._call(self._address))

    def serve(self, orders: int, reports: int, first_free: int) -> bool:
        """Clone a child per order until there are no more, and report each.

        Returns True in every child, once it has made every call of the table, and False at the end
        of the orders. An order is sixteen bytes and four descriptors, which get the lowest free
        numbers from `first_free` on: the caller must have nothing else open there.
        """
        # Everything the parent writes to is one block: only one page is copied for every child.
        words = (ctypes.c_long * (3 * WORDS + 3 + 2 + WORDS + 4))()
        here = ctypes.addressof(words)
        record, buffer, message, control = (here + 8 * place for place in (21, 24, 26, 33))
        number = self._numbers
        words[:33] = [
            *(number["recvmsg"], orders, message, 0, 0, 0, 0),
            *(number["write"], reports, record, RECORD.size, 0, 0, 0),
            *(number["close_range"], first_free, 0xFFFFFFFF, 0, 0, 0, 0),
            *(0, 0, 0),
            *(record + 8, ORDER_BYTES),
            *(0, 0, buffer, 1, control, 32, 0),
        ]
        result = self._serve(here, self._address, record)
        return result != NO_MORE and self._checked(result) == 0

    def _checked(self, result: int) -> int:
        if 0 <= result < MAX_PID:
            return result
        if result < 0:
            raise OSError(-result, f"clone: {os.strerror(-result)}")
        place = (result - self._address) // (WORDS * 8)
        number = self._words[place * WORDS]
        raise StepFailed(f"{self._names[place]}: {os.strerror(number)}")


def _machine_code():
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(X86_64)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    _machine_code_pages.append(memory)  # it must never be freed
    # PYFUNCTYPE keeps the GIL: nothing else may run between the clone and the end of the table.
    run = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p)(start)
    three = [ctypes.c_void_p] * 3
    return run, ctypes.PYFUNCTYPE(ctypes.c_long, *three)(start + SERVE_OFFSET)


_machine_code_pages: list[object] = []
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def make_call(name: str, *arguments: int) -> None:
    """Make one call now; raises `StepFailed` with the reason if it is refused."""
    words = [NUMBERS[platform.machine()][name], *arguments]
    result = _one((ctypes.c_long * WORDS)(*words))
    if result < 0:
        raise StepFailed(f"{name}: {os.strerror(-result)}")


def _libc_call(address: int) -> int:
    """What the machine code's run() does, through libc."""
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


def _libc_serve(rows: int, table: int, record: int) -> int:
    """What the machine code's serve() does, through libc."""
    receive, report, forget = (
        (ctypes.c_long * WORDS).from_address(rows + place * WORDS * 8) for place in range(3)
    )
    while _one(receive) > 0:
        result = _libc_call(table)
        if result == 0 or result >= MAX_PID:
            return result
        ctypes.c_long.from_address(record).value = result
        _one(report)
        _one(forget)
    return NO_MORE


def _one(row: ctypes.Array[ctypes.c_long]) -> int:
    result = _libc.syscall(*(ctypes.c_long(word) for word in row))
    return -ctypes.get_errno() if result == -1 else result


def move_text_into_huge_pages() -> int:
    """Move the interpreter's own machine code into huge pages; returns how many bytes were moved.

    File mappings are not in a fresh clone's page table: every child would fault some dozen times
    to run the same code, and unmap a thousand pages when it exits. An anonymous page of two
    megabytes is shared with a clone by one entry. Without such pages nothing changes.
    """
    start, end = _text_range()
    first, last = -(-start // HUGE) * HUGE, end // HUGE * HUGE
    if first >= last:
        return 0
    size = last - first
    libc = ctypes.CDLL(None, use_errno=True)
    pointer, length, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    libc.mmap.restype = libc.mremap.restype = pointer
    libc.mmap.argtypes = [pointer, length, number, number, number, ctypes.c_long]
    libc.mremap.argtypes = [pointer, length, length, number, pointer]
    libc.mprotect.argtypes = libc.madvise.argtypes = [pointer, length, number]
    libc.munmap.argtypes = [pointer, length]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    room = libc.mmap(None, size + HUGE, PROT_READ | PROT_WRITE, flags, -1, 0)
    if room in (None, pointer(-1).value):
        return 0
    copy = -(-room // HUGE) * HUGE
    ctypes.memmove(copy, first, size)
    if libc.madvise(copy, size, MADV_COLLAPSE) or libc.mprotect(copy, size, PROT_READ | PROT_EXEC):
        libc.munmap(room, size + HUGE)
        return 0
    # The copy replaces the code that is running right now.
    return size if libc.mremap(copy, size, size, MREMAP_MAYMOVE_FIXED, first) == first else 0


def _text_range() -> tuple[int, int]:
    """Where the program's read-only mappings of its own file start and end."""
    start = end = 0
    name = ""
    with open("/proc/self/maps") as maps:  # noqa: PTH123
        for line in maps:
            place, rights, _, _, _, *path = line.split()
            first, last = (int(number, 16) for number in place.split("-"))
            if not path or "w" in rights:
                continue
            name = name or path[0]
            # The program's own mappings come first and are contiguous.
            if path[0] == name and (not end or first == end):
                start, end = start or first, last
    return start, end
