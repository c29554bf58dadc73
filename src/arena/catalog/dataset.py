"""Data files: rows of CSV, JSONL or YAML, read one after the other and never held together.

A row is found again by its offset in the file. A file that is not what it was when it was first
read is refused: the tests made of it would be others.
"""

import csv
import hashlib
import io
import json
import os
import stat
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from arena.catalog.template import NotJson, read_json, texts_in
from arena.documents.problem import (
    BYTE_ORDER_MARK,
    TOP,
    YAML_SUFFIXES,
    Place,
    ProblemList,
)
from arena.errors import Conflict
from arena.text import text_problem

MAX_ROW_BYTES = 1024 * 1024
"""A longer row is a problem: usually a quote that is never closed."""
ROW_TOO_LONG = f"is longer than {MAX_ROW_BYTES // 1024**2} MiB; is a quote not closed?"
BUFFER_BYTES = 64 * 1024
ENDINGS = ".csv, .jsonl, .yaml or .yml"

Signature = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its values by name, and where it is."""

    values: dict[str, object]
    line: int
    offset: int


class Rows(Protocol):
    """A format: CSV, or lines of JSON."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The columns that every row has; None if rows differ."""
        ...

    def __iter__(self) -> Iterator[Row]: ...


class DataFile:
    """The rows of one file, which stays open: a file that replaces it does not change them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.digest = ""
        """The SHA-256 of its bytes, once all rows were read."""
        self.signature: Signature | None = None
        """Of the file when it was opened; None if it could not be."""
        self._columns: Sequence[str] | None = None
        self._descriptor: int | None = None
        self._has_copy = False
        """Whether the descriptor is of a copy as lines of JSON: an item of YAML has no offset."""

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    @property
    def is_unchanged(self) -> bool:
        """Whether the rows are still those that were read at first."""
        if self._descriptor is None or self.signature is None:
            return False
        now = signature_of(os.fstat(self._descriptor))
        return self._has_copy or _content_part(now) == _content_part(self.signature)

    def first_rows(self, problems: ProblemList) -> Iterator[Row]:
        """Every row, when the file is read for the first time; problems are added to the list.

        Raises `GivenUp` if reading cannot continue.
        """
        self._descriptor = _opened(self.path, problems)
        self.signature = signature_of(os.fstat(self._descriptor))
        lines = Lines(_Positioned.buffered(self._descriptor))
        if self.path.suffix in YAML_SUFFIXES:
            rows = self._copied(lines, problems)
        else:
            rows = self._format(lines, problems)
        count = 0
        for count, row in enumerate(rows, start=1):
            if count == 1:
                self._columns = rows.columns
            yield row
        if not count and not problems:
            raise problems.give_up(TOP, "has no rows")
        self.digest = lines.digest

    def rows(self) -> Iterator[Row]:
        """Every row again."""
        yield from self._format(Lines(self._again()), None)
        self._check()

    def rows_at(self, offsets: Iterator[int]) -> Iterator[dict[str, object]]:
        """The values of the rows at these offsets."""
        file = self._again()
        for offset in offsets:
            file.seek(offset)
            yield next(iter(self._format(Lines(file, offset), None, self._columns))).values
        self._check()

    def _format(
        self,
        lines: "Lines",
        problems: ProblemList | None,
        columns: Sequence[str] | None = None,
    ) -> Rows:
        is_csv = self.path.suffix == ".csv"
        return CsvRows(lines, problems, columns) if is_csv else JsonLines(lines, problems)

    def _copied(self, lines: "Lines", problems: ProblemList) -> Rows:
        """The rows of a YAML file, from a copy."""
        assert self._descriptor is not None
        for _ in _checked(lines, problems):
            lines.begin()
        places = array("L")
        items = _yaml_rows(_Positioned.buffered(self._descriptor), problems)
        copy = _copy(items, problems, places)
        os.close(self._descriptor)
        self._descriptor, self._has_copy = copy, True
        return JsonLines(Lines(_Positioned.buffered(copy)), problems, places)

    def _again(self) -> BinaryIO:
        self._check()
        assert self._descriptor is not None
        return _Positioned.buffered(self._descriptor)

    def _check(self) -> None:
        if not self.is_unchanged:
            raise Conflict(f"{self.path} was changed while it was used; try again")


def signature_of(status: os.stat_result) -> Signature:
    """What changes when a file does."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _content_part(signature: Signature) -> tuple[int, int]:
    """What changes with the content; removing a name of the file changes the rest."""
    return signature[0], signature[2]


class Lines:
    """The lines of a file as text, for a reader that takes as many as a row has."""

    def __init__(self, file: BinaryIO, offset: int = 0) -> None:
        """`offset` is where the first line begins in the whole file."""
        self._file = file
        self._hash = hashlib.sha256()
        self._size = 0
        self._next = 1
        self.line = 1
        """Where the row begins that is being read."""
        self.offset = offset
        self._end = offset

    @property
    def digest(self) -> str:
        """Of all lines so far."""
        return self._hash.hexdigest()

    def begin(self) -> None:
        """Say that a row begins."""
        self._size, self.line, self.offset = 0, self._next, self._end

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        data = self._file.readline(MAX_ROW_BYTES + 1)
        if not data:
            raise StopIteration
        self._hash.update(data)
        size = len(data)
        self._size += size
        if self._size > MAX_ROW_BYTES:
            raise BadRow(ROW_TOO_LONG, self.line)
        if not self._end:
            data = data.removeprefix(BYTE_ORDER_MARK)
        self._end += size
        self._next += 1
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            byte = f"0x{data[error.start]:02x}"
            message = f"is not UTF-8: the byte {byte}; save the file as UTF-8"
            raise BadRow(message, self._next - 1) from error
        if "\0" in text:
            raise BadRow("must not contain NUL", self._next - 1)
        return text


class BadRow(Exception):
    """A row cannot be read, nor what comes after it."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message, self.line = message, line


class CsvRows:
    """The rows of a CSV file; its first one names the columns, unless they are given."""

    def __init__(
        self, lines: Lines, problems: ProblemList | None, columns: Sequence[str] | None = None
    ) -> None:
        csv.field_size_limit(MAX_ROW_BYTES)
        self.columns = columns
        self._lines = lines
        self._reader = csv.reader(lines, strict=True)
        self._problems = problems

    def __iter__(self) -> Iterator[Row]:
        lines, columns = self._lines, self.columns or self._header()
        width = len(columns)
        while (cells := self._cells()) is not None:
            if len(cells) == width:
                values = cast(dict[str, object], dict(zip(columns, cells, strict=True)))
                yield Row(values, lines.line, lines.offset)
            elif cells:  # an empty line is no row
                message = f"has {len(cells)} cells, the header has {width}"
                _add(self._problems, lines.line, message)

    def _header(self) -> Sequence[str]:
        names = self._cells()
        if not names:
            raise _stop(self._problems, 1, "is empty; the first row names the columns")
        self.columns = names
        for name in names:
            if not name.strip() or names.count(name) > 1:
                twice = f"two columns are called {name!r}"
                raise _stop(self._problems, 1, twice if name.strip() else "a column has no name")
        return names

    def _cells(self) -> list[str] | None:
        self._lines.begin()
        try:
            return next(self._reader, None)
        except csv.Error as error:
            reason = str(error).partition(" - ")[0]  # then comes advice to a programmer
            raise _stop(self._problems, self._lines.line, f"is not valid CSV: {reason}") from error
        except BadRow as error:
            raise _stop(self._problems, error.line, error.message) from error


class JsonLines:
    """The rows of a file with one JSON object per line."""

    columns = None

    def __init__(
        self, lines: Lines, problems: ProblemList | None, places: Sequence[int] = ()
    ) -> None:
        """`places` has the line of each row, if these lines are not those of the user's file."""
        self._lines = lines
        self._problems = problems
        self._places = places

    def __iter__(self) -> Iterator[Row]:
        lines, places = self._lines, self._places
        while (text := self._text()) is not None:
            if text.isspace():
                continue
            values = self._values(text)
            if values is not None:
                line = places[lines.line - 1] if places else lines.line
                yield Row(values, line, lines.offset)

    def _text(self) -> str | None:
        self._lines.begin()
        try:
            return next(self._lines, None)
        except BadRow as error:
            raise _stop(self._problems, error.line, error.message) from error

    def _values(self, text: str) -> dict[str, object] | None:
        line = self._lines.line
        try:
            value = read_json(text)
        except NotJson as error:
            _add(self._problems, line, f"is not valid JSON: {error}", error.column)
            return None
        if not isinstance(value, dict):
            _add(self._problems, line, "a row must be a JSON object: {…}")
            return None
        values = cast(dict[str, object], value)
        if "\\u" in text:  # only an escape can give what is not valid text
            for found in texts_in(values):
                if problem := text_problem(found):
                    _add(self._problems, line, f"a text {problem}")
                    return None
        return values


def _checked(lines: Lines, problems: ProblemList) -> Iterator[str]:
    try:
        yield from lines
    except BadRow as error:
        raise problems.give_up(Place(error.line, 1), error.message) from error


def _yaml_rows(file: BinaryIO, problems: ProblemList) -> Iterator[tuple[object, Place]]:
    """The items of a YAML list, with their positions."""
    # Imported here: most data sets are CSV or JSONL.
    from arena.documents.yaml_reader import YamlReader

    for node in YamlReader(file, problems, as_json=True).items():
        yield node.value, node.place()


def _copy(rows: Iterator[tuple[object, Place]], problems: ProblemList, places: "array[int]") -> int:
    """The descriptor of a temporary file with the rows; `places` gets the line of each."""
    import tempfile  # only for YAML

    with tempfile.TemporaryFile() as file:
        for value, place in rows:
            if not isinstance(value, dict):
                problems.add(place, "a row must be a mapping")
                continue
            data = json.dumps(value, ensure_ascii=False).encode(errors="replace")
            if len(data) >= MAX_ROW_BYTES:
                problems.add(place, ROW_TOO_LONG)
                continue
            file.write(data + b"\n")
            places.append(place.line)
        file.flush()
        return os.dup(file.fileno())


class _Positioned(io.RawIOBase):
    """Reads a descriptor from a position of its own: several may read it at once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._position = 0

    @classmethod
    def buffered(cls, descriptor: int) -> BinaryIO:
        """A file from its beginning."""
        return io.BufferedReader(cls(descriptor), BUFFER_BYTES)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = offset + (self._position if whence == io.SEEK_CUR else 0)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        data = os.pread(self._descriptor, len(buffer), self._position)
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def _opened(path: Path, problems: ProblemList) -> int:
    try:
        # Checked before opening: opening a named pipe would block for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise problems.give_up(TOP, f"is not a regular file; expected {ENDINGS}")
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        problems.has_system_error = True
        raise problems.give_up(TOP, f"cannot be read: {error.strerror}") from error


def _add(problems: ProblemList | None, line: int, message: str, column: int = 1) -> None:
    if problems is None:
        raise Conflict(f"a data file was changed while it was used: line {line} {message}")
    problems.add(Place(line, column), message)


def _stop(problems: ProblemList | None, line: int, message: str) -> Exception:
    if problems is None:
        return Conflict(f"a data file was changed while it was used: line {line} {message}")
    return problems.give_up(Place(line, 1), message)
