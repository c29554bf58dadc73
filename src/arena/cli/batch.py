"""Judges a file of submissions concurrently; a line that has a verdict is skipped."""

import asyncio
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from arena.cli.verdict_file import VerdictFile
from arena.content.canonical import canonical, read_json
from arena.errors import ArenaError, CallerError, Conflict, InvalidInput, nearest
from arena.operations.evaluation import EvaluationOperations

PASSED, FAILED, INVALID, NOT_JUDGED = 0, 1, 2, 3
"""Exit codes, by the worst outcome of a line."""
MAX_LINE = 16 * 1024 * 1024
KEYS = {"standard", "submission", "language", "answers", "fresh", "sealed", "record"}
"""The keys of a line besides its id: the parameters of the operation."""

Line = tuple[int, bytes | None]
"""The number of a line and its bytes; None if it is too long."""


class Batch:
    """The lines of a file, and the output for their verdicts.

    It reads and writes line by line, so that its memory does not grow with the file. With an output
    file an interrupted batch is resumed: lines that have a verdict there are skipped, lines with an
    error are retried.
    """

    def __init__(
        self, source: Path, to: Path | None, concurrency: int, *, fresh: bool = False
    ) -> None:
        self._source = source
        self._to = to
        self._concurrency = concurrency
        # No records unless a line requests one: each is several files on the disk.
        self._defaults: dict[str, Any] = {"fresh": fresh, "record": False}
        self._outcomes: set[int] = set()
        self._seen: set[str] = set()

    async def judge(self, arena: EvaluationOperations) -> int:
        """Judge every line and write a verdict for each; returns the exit code."""
        try:
            source = self._source.open("rb")
        except OSError as error:
            raise _unreadable(self._source, error) from None
        with source, VerdictFile(self._to, source=self._source) as verdicts:
            try:
                await self._judge_all(arena, source, verdicts)
            except* ArenaError as failed:
                raise failed.exceptions[0] from None
        return max(self._outcomes, default=PASSED, key=(PASSED, FAILED, NOT_JUDGED, INVALID).index)

    async def _judge_all(
        self, arena: EvaluationOperations, source: BinaryIO, verdicts: VerdictFile
    ) -> None:
        with _bar() as bar:
            task = bar.add_task("judged", total=None if bar.disable else self._count(source))
            lines = self._lines(source)

            async def work() -> None:
                # Workers share the iterator: each takes the next line when it has finished one.
                for number, line in lines:
                    await self._line(arena, number, line, verdicts)
                    bar.advance(task)
                    # A plain validator never awaits, and signals are handled only between steps.
                    await asyncio.sleep(0)

            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(work())

    async def _line(
        self, arena: EvaluationOperations, number: int, line: bytes | None, verdicts: VerdictFile
    ) -> None:
        """Judge one line, unless it has a verdict, and write the result."""
        name: str | None = None
        try:
            name, body = _read(line)
            if name in self._seen:
                raise InvalidInput(f"the id {name!r} is also in an earlier line")
            self._seen.add(name)
            digest = _digest(body)
            known = verdicts.known.get(name)
            if known is None:
                verdict = await arena.evaluate(**(self._defaults | body))
                verdicts.write(name, verdict, digest)
                passed = verdict.passed
            elif known.digest in (None, digest):
                passed = known.passed
            else:
                raise InvalidInput(
                    f"the verdict on {name!r} in {self._to} is for another content: the line has "
                    "changed; remove that verdict, or name another file"
                )
        except ArenaError as error:
            is_callers = isinstance(error, CallerError) and not isinstance(error, Conflict)
            self._outcomes.add(INVALID if is_callers else NOT_JUDGED)
            verdicts.write_error(name, error, number)
        else:
            self._outcomes.add(PASSED if passed else FAILED)

    def _count(self, source: BinaryIO) -> int | None:
        """How many lines there are; None for a pipe, which can be read only once."""
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            return None
        count = sum(1 for _ in self._lines(source))
        source.seek(0)
        return count

    def _lines(self, source: BinaryIO) -> Iterator[Line]:
        """Each line that is not blank, with its number; the rest of a too long one is skipped."""
        try:
            for number, start in enumerate(iter(lambda: source.readline(MAX_LINE), b""), start=1):
                rest = start
                while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                    rest = source.readline(MAX_LINE)
                if rest is not start:
                    yield number, None
                elif start.strip():
                    yield number, start
        except OSError as error:
            raise _unreadable(self._source, error) from None


def _read(line: bytes | None) -> tuple[str, dict[str, Any]]:
    """The id of a line and the rest of it."""
    if line is None:
        raise InvalidInput(f"the line is longer than {MAX_LINE // 1024**2} MiB")
    document = read_json(line)
    if not isinstance(document, dict):
        raise InvalidInput("a line is an object with id, standard and submission")
    body = cast(dict[str, Any], document)
    name = body.pop("id", None)
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name:
        raise InvalidInput("needs an id: a text that no other line has")
    for key in body.keys() - KEYS:
        raise InvalidInput(f"{key}: unknown field{nearest(key, KEYS)}")
    for key in ("standard", "submission"):
        if key not in body:
            raise InvalidInput(f"{key}: is missing")
    return name, body


def _digest(body: dict[str, Any]) -> str:
    """A hash of everything that decides the verdict: a changed line is a new one."""
    deciding: dict[str, Any] = {"language": None, "answers": (), **body}
    for key in ("fresh", "sealed", "record"):
        deciding.pop(key, None)
    if all(isinstance(answer, dict) for answer in deciding["answers"]):
        blank = {"note": "", "reviewer": ""}
        deciding["answers"] = [blank | answer for answer in deciding["answers"]]
    return hashlib.sha256(canonical(deciding)).hexdigest()


def _unreadable(source: Path, error: OSError) -> InvalidInput:
    return InvalidInput(f"{source} cannot be read: {error.strerror}")


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
