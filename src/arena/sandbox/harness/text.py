"""The interpreter's own text in huge pages, so that a clone need not find it page by page.

What is mapped from a file is not there in a fresh clone: every child would fault some dozen times
to run the same code, and unmap a thousand pages at its end. As one anonymous page of two megabytes
it is shared with the clone by one entry. Where the kernel has no such page nothing is changed.
"""

from __future__ import annotations

import ctypes
import mmap

HUGE = 2 << 20
MADV_COLLAPSE = 25
READ, WRITE, EXECUTE = 1, 2, 4
MOVE_THERE = 3  # MREMAP_MAYMOVE | MREMAP_FIXED


def into_huge_pages() -> int:
    """Put the text of the running program where its clones have it for nothing; how much of it."""
    start, end = _text()
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
    room = libc.mmap(None, size + HUGE, READ | WRITE, flags, -1, 0)
    if room in (None, pointer(-1).value):
        return 0
    copy = -(-room // HUGE) * HUGE
    ctypes.memmove(copy, first, size)
    if libc.madvise(copy, size, MADV_COLLAPSE) or libc.mprotect(copy, size, READ | EXECUTE):
        libc.munmap(room, size + HUGE)
        return 0
    # The same bytes take the place of those that are running now.
    return size if libc.mremap(copy, size, size, MOVE_THERE, first) == first else 0


def _text() -> tuple[int, int]:
    """Where the program's code and constants are: what is mapped from its file and not writable."""
    start = end = 0
    name = ""
    with open("/proc/self/maps") as maps:  # noqa: PTH123
        for line in maps:
            place, rights, _, _, _, *path = line.split()
            first, last = (int(number, 16) for number in place.split("-"))
            if not path or "w" in rights:
                continue
            name = name or path[0]
            # The program comes first; its parts follow each other.
            if path[0] == name and (not end or first == end):
                start, end = start or first, last
    return start, end
