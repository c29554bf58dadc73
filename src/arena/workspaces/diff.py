"""The difference of two sets of files as a unified diff, bounded in size and effort."""

import difflib
import hashlib
from collections.abc import Iterator, Mapping

from arena.workspaces.collected import Change, File
from arena.workspaces.names import path_problem, shown

MAX_DIFF_CHARACTERS = 200_000
MAX_COMPARED = 250_000
"""The product of the lines of both sides: comparing more could take minutes on hostile input."""
MAX_COMPARED_OF_ALL = 2_000_000
CONTEXT = 3


def changes_between(before: Mapping[str, File], after: Mapping[str, File]) -> tuple[Change, ...]:
    """Every file that was added, changed or deleted."""
    found: list[Change] = []
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            found.append(Change(path=path, kind="added"))
        elif path not in after:
            found.append(Change(path=path, kind="deleted"))
        elif before[path] != after[path]:
            found.append(Change(path=path, kind="changed"))
    return tuple(found)


def unified_diff(before: Mapping[str, File], after: Mapping[str, File]) -> str:
    """The diff of all files; what is too long or not text is only named, with its size."""
    differ = _Differ()
    text: list[str] = []
    size = 0
    for change in changes_between(before, after):
        part = differ.file(change.path, before.get(change.path), after.get(change.path))
        size += len(part)
        if size > MAX_DIFF_CHARACTERS:
            text.append("… the rest of the diff is not kept: it is too long\n")
            break
        text.append(part)
    return "".join(text)


class _Differ:
    """Compares file by file, with a limit on the work for all of them."""

    def __init__(self) -> None:
        self._left = MAX_COMPARED_OF_ALL

    def file(self, path: str, old: File | None, new: File | None) -> str:
        """The diff of one file."""
        name = shown(path) if path_problem(path) else path
        names = f"a/{name}" if old else "/dev/null", f"b/{name}" if new else "/dev/null"
        head = "--- {}\n+++ {}\n".format(*names)
        if old and new and old.content == new.content:
            mode = "executable" if new.is_executable else "not executable"
            return f"{head}# now {mode}\n"
        sides = [_text(side) for side in (old, new)]
        if None in sides or sum(len(side or "") for side in sides) > MAX_DIFF_CHARACTERS:
            return head + f"# {_size(old)} -> {_size(new)}\n"
        left, right = ((side or "").split("\n") for side in sides)
        return head + "\n".join(self._lines(_whole(left), _whole(right))) + "\n"

    def _lines(self, left: list[str], right: list[str]) -> Iterator[str]:
        same = 0
        for one, other in zip(left, right, strict=False):
            if one != other:
                break
            same += 1
        tail = 0
        while tail < min(len(left), len(right)) - same and left[-1 - tail] == right[-1 - tail]:
            tail += 1
        effort = (len(left) - same - tail) * (len(right) - same - tail)
        if effort > min(MAX_COMPARED, self._left):
            return _block(left, right, same, tail)
        self._left -= effort
        first = max(0, same - CONTEXT)
        last = max(0, tail - CONTEXT)
        lines = difflib.unified_diff(
            left[first : len(left) - last], right[first : len(right) - last], lineterm="", n=CONTEXT
        )
        return _moved(lines, first)


def _whole(lines: list[str]) -> list[str]:
    """Lines of a text that was split at its line breaks."""
    if lines[-1]:
        return [*lines[:-1], f"{lines[-1]}\n\\ No newline at end of file"]
    return lines[:-1]


def _block(left: list[str], right: list[str], same: int, tail: int) -> Iterator[str]:
    """Everything between the first and the last difference as one replacement."""
    old, new = left[same : len(left) - tail], right[same : len(right) - tail]
    yield f"@@ -{same + 1},{len(old)} +{same + 1},{len(new)} @@"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)


def _moved(lines: Iterator[str], by: int) -> Iterator[str]:
    """The lines of a diff without its names, with the numbers of its hunks raised."""
    for number, line in enumerate(lines):
        if number < 2:
            continue
        if line.startswith("@@ ") and by:
            ranges = (_raised(word, by) for word in line.split()[1:3])
            line = f"@@ {' '.join(ranges)} @@"
        yield line


def _raised(word: str, by: int) -> str:
    start, comma, length = word[1:].partition(",")
    return f"{word[0]}{int(start) + by}{comma}{length}"


def _text(file: File | None) -> str | None:
    """The text of a file; None if it is not text."""
    if file is None:
        return ""
    if b"\0" in file.content[:8000]:
        return None
    try:
        return file.content.decode()
    except UnicodeDecodeError:
        return None


def _size(file: File | None) -> str:
    if file is None:
        return "no file"
    digest = hashlib.sha256(file.content).hexdigest()[:12]
    return f"{len(file.content):,} bytes (sha256 {digest}…)"
