"""Problems in a file, with their positions."""

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

MAX_PROBLEMS = 200
"""Reading a file stops after this many problems: people fix the first few first anyway."""
YAML_SUFFIXES = (".yaml", ".yml")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


KeyPath = tuple[str | int, ...]
"""The path from the root of a document to a value: keys and indexes."""


class Place(NamedTuple):
    """A position in a file; line and column count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


TOP = Place(1, 1)
"""The place of a problem with the file as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """One problem in one file."""

    file: str
    line: int = 1
    """Also 1 for a problem with the whole file, such as one that cannot be opened."""
    column: int = 1
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class GivenUp(Exception):
    """Reading the file stopped; its last problem says why."""


class ProblemList:
    """Collects the problems of one file, in the order they are found."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.has_system_error = False
        """Whether the system could not read the file."""
        self._found: list[FileProblem] = []

    def add(self, place: Place, message: str) -> None:
        """Add a problem; raises `GivenUp` at the limit."""
        self._append(place, message)
        if len(self._found) == MAX_PROBLEMS:
            self._append(place, f"there may be more problems; these are the first {MAX_PROBLEMS}")
            raise GivenUp

    def give_up(self, place: Place, message: str) -> GivenUp:
        """Add a problem that reading cannot continue after; the caller raises the result."""
        self.add(place, message)
        return GivenUp(message)

    def _append(self, place: Place, message: str) -> None:
        line, column = place
        self._found.append(FileProblem(file=self.file, line=line, column=column, message=message))

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> tuple[FileProblem, ...]:
        """All problems, sorted by position."""
        # Not in the order found: keys are checked only after a whole test was read.
        return tuple(sorted(self._found, key=lambda found: (found.line, found.column)))


def read_content(path: Path, problems: ProblemList, *, max_bytes: int) -> bytes:
    """The bytes of a regular UTF-8 file, including a byte order mark."""
    try:
        # Checked before opening: opening a named pipe would block for ever.
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise problems.give_up(TOP, f"is {kind}; expected a YAML file")
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)  # one more, to see whether it is too large
    except OSError as error:
        problems.has_system_error = True
        reason = error.strerror or str(error)
        if isinstance(error, FileNotFoundError) and path.is_symlink():
            reason = f"it is a link to {path.readlink().name}, which does not exist"
        raise problems.give_up(TOP, f"cannot be read: {reason}") from error
    if len(data) > max_bytes:
        limit = (
            f"{max_bytes // 1024**2} MiB" if max_bytes >= 1024**2 else f"{max_bytes // 1024} KiB"
        )
        raise problems.give_up(TOP, f"is larger than {limit}: split it into several files")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        message = f"is not UTF-8: the byte 0x{data[error.start]:02x} at offset {error.start}"
        place = place_of_byte(data, error.start)
        raise problems.give_up(place, f"{message}; save the file as UTF-8") from error
    return data


def place_of_byte(data: bytes, offset: int) -> Place:
    """The line and column of the byte at `offset`."""
    before = data[:offset]
    start = before.rfind(b"\n") + 1
    return Place(before.count(b"\n") + 1, len(before[start:].decode(errors="replace")) + 1)
