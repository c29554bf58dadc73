"""Where a batch writes its verdicts: one line each, by one writer at a time.

A batch that was interrupted goes on from what stands there. Lines that had an error, and the one
that was torn when the writer was killed, are dropped and judged again; anybody else's text is not.
"""

import fcntl
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from arena.errors import Conflict, InfrastructureError, InvalidInput
from arena.files import atomic_file

BEGINNING = b'{"id": '
"""How every line of ours begins, by which a torn one is known."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict that stands in the file already."""

    passed: bool
    digest: str | None
    """A hash of what was judged."""


class VerdictFile:
    """The output of a batch; without a path it is standard output."""

    def __init__(self, path: Path | None, *, source: Path) -> None:
        # Through a link to the file itself: what is replaced must be that, not the link.
        self._path = path.resolve() if path else None
        self._source = source
        self._open = ExitStack()
        self.known: dict[str, Judged] = {}
        """The verdicts that stood there, by the ids of their lines."""

    def __enter__(self) -> Self:
        try:
            with self._open:
                self._sink = self._opened()
                self._open = self._open.pop_all()
        except OSError as wrong:
            raise InvalidInput(f"{self._path} cannot be written: {wrong.strerror}") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Every line was flushed when it was written; what is left is one that could not be.
        with suppress(OSError):
            self._open.close()

    def write(self, told: dict[str, Any]) -> None:
        """Add a line."""
        # Half of a surrogate pair becomes the escape that JSON has for it.
        line = json.dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        try:
            self._sink.write(line)
            self._sink.flush()
        except OSError as wrong:
            place = self._path or "standard output"
            raise InfrastructureError(
                f"the verdicts cannot be written to {place}: {wrong.strerror}", retryable=False
            ) from None

    def _opened(self) -> BinaryIO:
        if self._path is None:
            return self._open.enter_context(open(sys.stdout.fileno(), "wb", closefd=False))
        if self._path.exists() and not stat.S_ISREG(self._path.stat().st_mode):
            return self._open.enter_context(self._path.open("wb"))  # a pipe: nothing stands there
        if self._path.exists() and self._path.samefile(self._source):
            raise InvalidInput(f"{self._path} is the batch itself: name another file for verdicts")
        file = self._open.enter_context(self._path.open("a+b"))
        self._lock(file)
        file.seek(0)
        lines = file.readlines()
        kept = list(self._kept(lines))
        return file if kept == lines else self._replaced(kept)

    def _lock(self, file: BinaryIO) -> None:
        assert self._path is not None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_the_file = os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except BlockingIOError:
            is_the_file = False
        if not is_the_file:  # or another writer has replaced it since it was opened
            raise Conflict(f"another batch is writing to {self._path}")

    def _kept(self, lines: list[bytes]) -> Iterator[bytes]:
        """The lines with verdicts; `known` is filled with them."""
        for number, line in enumerate(lines, start=1):
            if number == len(lines) and not line.endswith(b"\n"):
                is_ours = line.startswith(BEGINNING) or BEGINNING.startswith(line)
                told = None
            else:
                told = _line(line)
                is_ours = told is not None
            if not is_ours:
                raise InvalidInput(
                    f"{self._path}:{number} is no verdict of a batch: the file is left as it is, "
                    "name another one"
                )
            if told is not None and isinstance(told.get("passed"), bool) and "score" in told:
                self.known[told["id"]] = Judged(told["passed"], told.get("digest"))
                yield line

    def _replaced(self, kept: list[bytes]) -> BinaryIO:
        """The file with these lines only; it is there whole, or as it was."""
        assert self._path is not None
        with atomic_file(self._path) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.writelines(kept)
            # A duplicate shares the lock and the position, so the file is never there unlocked.
            return self._open.enter_context(os.fdopen(os.dup(file.fileno()), "wb"))


def _line(line: bytes) -> dict[str, Any] | None:
    """What a line of ours tells, a verdict or an error; None where it is none."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    told = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    is_verdict = isinstance(told.get("id"), str) and "score" in told
    is_error = "id" in told and isinstance(told.get("error"), dict)
    return told if is_verdict or is_error else None
