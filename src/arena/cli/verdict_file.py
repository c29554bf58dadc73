"""The output file of a batch: one verdict per line, one writer at a time.

An interrupted batch continues from the verdicts in the file. Lines with an error, and a line that
was truncated when the writer was killed, are dropped and judged again. A file with other content is
not touched.
"""

import fcntl
import functools
import json
import os
import stat
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from pydantic import TypeAdapter

from arena.errors import ArenaError, Conflict, InfrastructureError, InvalidInput
from arena.evaluation.verdict import Verdict

BEGINNING = b'{"id": '
"""The start of every line of a batch; a truncated line is recognised by it."""


@dataclass(frozen=True, slots=True)
class KnownVerdict:
    """A verdict that is already in the file."""

    passed: bool
    digest: str | None
    """A hash of what was judged."""


class VerdictFile:
    """The output of a batch; without a path it is standard output."""

    def __init__(self, path: Path | None, *, source: Path) -> None:
        # Follow links: the file must be replaced, not the link.
        self._path = path.resolve() if path else None
        self._source = source
        self._open = ExitStack()
        self.known: dict[str, KnownVerdict] = {}
        """The verdicts in the file when it was opened, by the ids of their lines."""

    def __enter__(self) -> Self:
        try:
            with self._open:
                self._sink = self._opened()
                self._open = self._open.pop_all()
        except OSError as error:
            raise InvalidInput(f"{self._path} cannot be written: {error.strerror}") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Every line was flushed when written; only one that failed can be left.
        with suppress(OSError):
            self._open.close()

    def write(self, name: str, verdict: Verdict, digest: str) -> None:
        """Add the verdict on the line with this id."""
        document = _verdicts().dump_python(verdict, mode="json")
        self._write({"id": name, **document, "digest": digest})

    def write_error(self, name: str | None, error: ArenaError, number: int) -> None:
        """Add the error of a line without a verdict."""
        fault = {"code": error.code, "message": error.message, "line": number}
        self._write({"id": name, "error": fault})

    def _write(self, document: dict[str, Any]) -> None:
        # A lone surrogate becomes its JSON escape.
        line = json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")
        try:
            self._sink.write(line + b"\n")
            self._sink.flush()
        except OSError as error:
            place = self._path or "standard output"
            raise InfrastructureError(
                f"the verdicts cannot be written to {place}: {error.strerror}", retryable=False
            ) from None

    def _opened(self) -> BinaryIO:
        if self._path is None:
            return self._open.enter_context(open(sys.stdout.fileno(), "wb", closefd=False))
        if self._path.exists() and not stat.S_ISREG(self._path.stat().st_mode):
            return self._open.enter_context(
                self._path.open("wb")
            )  # a pipe: it has no earlier verdicts
        if self._path.exists() and self._path.samefile(self._source):
            raise InvalidInput(f"{self._path} is the batch itself: name another file for verdicts")
        file = self._open.enter_context(self._path.open("a+b"))
        self._lock(file)
        file.seek(0)
        if all(self._is_verdict(number, line) for number, line in enumerate(file, start=1)):
            return file
        return self._replaced(file)

    def _lock(self, file: BinaryIO) -> None:
        assert self._path is not None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_the_file = os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except BlockingIOError:
            is_the_file = False
        if not is_the_file:  # or another writer has replaced it since it was opened
            raise Conflict(f"another batch is writing to {self._path}")

    def _is_verdict(self, number: int, line: bytes) -> bool:
        """Whether to keep a line; then adds its verdict to `known`."""
        if not line.endswith(b"\n") and (line.startswith(BEGINNING) or BEGINNING.startswith(line)):
            return False  # truncated
        document = _line(line)
        if document is None or not line.endswith(b"\n"):
            raise InvalidInput(
                f"{self._path}:{number} is not a verdict of a batch: the file was not changed, "
                "name another one"
            )
        if not isinstance(document.get("passed"), bool) or "score" not in document:
            return False
        self.known[document["id"]] = KnownVerdict(document["passed"], document.get("digest"))
        return True

    def _replaced(self, file: BinaryIO) -> BinaryIO:
        """The file with only verdicts; it is replaced atomically."""
        assert self._path is not None
        partial = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        kept = self._open.enter_context(partial.open("w+b"))
        try:
            # Not `atomic_file`: the new file must be locked before it gets its name.
            fcntl.flock(kept, fcntl.LOCK_EX)
            file.seek(0)
            kept.writelines(
                line for number, line in enumerate(file, start=1) if self._is_verdict(number, line)
            )
            kept.flush()
            os.fsync(kept.fileno())
            partial.replace(self._path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return kept


@functools.cache
def _verdicts() -> TypeAdapter[Verdict]:
    return TypeAdapter(Verdict)


def _line(line: bytes) -> dict[str, Any] | None:
    """The verdict or error in a line of a batch; None if it is neither."""
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    document = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    is_verdict = isinstance(document.get("id"), str) and "score" in document
    is_error = "id" in document and isinstance(document.get("error"), dict)
    return document if is_verdict or is_error else None
