"""A file of submissions, judged many at a time; what was judged once is not judged again."""

import asyncio
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from arena import schemas
from arena.cli.verdict_file import Judged, VerdictFile
from arena.client import Client
from arena.content.canonical import canonical, read_json
from arena.errors import ArenaError, CallerError, Conflict, InvalidInput

PASSED, FAILED, WRONG, NOT_JUDGED = 0, 1, 2, 3
MAX_LINE = 16 * 1024 * 1024

Line = tuple[int, bytes | None]
"""The number of a line and its bytes; None where it is too long to be read."""


class Batch:
    """The lines of a file, and where their verdicts go.

    With an output file a batch that was interrupted goes on: lines that have a verdict there are
    skipped, lines that had an error are tried again.
    """

    def __init__(
        self, source: Path, to: Path | None, concurrency: int, *, fresh: bool = False
    ) -> None:
        self._source = source
        self._to = to
        self._concurrency = concurrency
        # A batch may have very many lines; a record is several files on the disk.
        self._defaults = {"fresh": fresh, "record": False}
        self._outcomes: set[int] = set()
        self._seen: set[str] = set()

    async def judge(self, client: Client) -> int:
        """Judge every line and write a verdict for each; the exit code says how it went."""
        try:
            source = self._source.open("rb")
        except OSError as wrong:
            raise _unreadable(self._source, wrong) from None
        with source, VerdictFile(self._to, source=self._source) as verdicts:
            try:
                await self._judge_all(client, source, verdicts)
            except* ArenaError as failed:
                raise failed.exceptions[0] from None
        return max(self._outcomes, default=PASSED, key=(PASSED, FAILED, NOT_JUDGED, WRONG).index)

    async def _judge_all(self, client: Client, source: BinaryIO, verdicts: VerdictFile) -> None:
        with _bar() as bar:
            task = bar.add_task("judged", total=self._count(source))
            lines: asyncio.Queue[Line] = asyncio.Queue(maxsize=2 * self._concurrency)

            async def work() -> None:
                while True:
                    number, line = await lines.get()
                    try:
                        told = await self._line(client, number, line, verdicts.known)
                        if told is not None:
                            verdicts.write(told)
                        bar.advance(task)
                    finally:
                        lines.task_done()

            async with asyncio.TaskGroup() as group:
                workers = [group.create_task(work()) for _ in range(self._concurrency)]
                for entry in self._lines(source):
                    await lines.put(entry)
                await lines.join()
                for worker in workers:
                    worker.cancel()

    async def _line(
        self, client: Client, number: int, line: bytes | None, known: dict[str, Judged]
    ) -> dict[str, Any] | None:
        """What is to be written for one line; None where its verdict is there already."""
        name: str | None = None
        try:
            name, body = _read(line)
            if name in self._seen:
                raise InvalidInput(f"the id {name!r} stands in an earlier line too")
            self._seen.add(name)
            request = _request(self._defaults | body)
            digest = _digest(request)
            judged = known.get(name)
            if judged is not None:
                if judged.digest not in (None, digest):
                    raise InvalidInput(
                        f"the verdict on {name!r} in {self._to} is on something else: the line was "
                        "changed since; take that verdict out, or name another file"
                    )
                self._outcomes.add(PASSED if judged.passed else FAILED)
                return None
            verdict = await client.evaluate(request)
        except ArenaError as wrong:
            is_callers = isinstance(wrong, CallerError) and not isinstance(wrong, Conflict)
            self._outcomes.add(WRONG if is_callers else NOT_JUDGED)
            error = {"code": wrong.code, "message": wrong.message, "line": number}
            return {"id": name, "error": error}
        self._outcomes.add(PASSED if verdict.passed else FAILED)
        return {"id": name, **verdict.model_dump(mode="json"), "digest": digest}

    def _count(self, source: BinaryIO) -> int | None:
        """How many lines there are; None for a pipe, which can be read only once."""
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            return None
        count = sum(1 for _ in self._lines(source))
        source.seek(0)
        return count

    def _lines(self, source: BinaryIO) -> Iterator[Line]:
        """Each line that is not empty, with its number; the rest of one too long is skipped."""
        try:
            for number, start in enumerate(iter(lambda: source.readline(MAX_LINE), b""), start=1):
                rest = start
                while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
                    rest = source.readline(MAX_LINE)
                if rest is not start:
                    yield number, None
                elif start.strip():
                    yield number, start
        except OSError as wrong:
            raise _unreadable(self._source, wrong) from None


def _read(line: bytes | None) -> tuple[str, dict[str, Any]]:
    """The id of a line and the rest of it."""
    if line is None:
        raise InvalidInput(f"the line is longer than {MAX_LINE // 1024**2} MiB")
    told = read_json(line)
    if not isinstance(told, dict):
        raise InvalidInput("a line is an object with id, standard and submission")
    body = dict(cast(dict[str, Any], told))
    name = body.pop("id", None)
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name:
        raise InvalidInput("needs an id: a text that no other line has")
    return name, body


def _request(body: dict[str, Any]) -> schemas.Evaluate:
    try:
        return schemas.Evaluate.model_validate(body)
    except ValidationError as wrong:
        faults = (f"{fault['loc'][0]}: {fault['msg']}" for fault in wrong.errors()[:5])
        raise InvalidInput("; ".join(faults)) from None


def _digest(request: schemas.Evaluate) -> str:
    """A hash of what decides the verdict: a line that was changed is another one."""
    deciding = request.model_dump(mode="json", exclude={"fresh", "record", "sealed"})
    return hashlib.sha256(canonical(deciding)).hexdigest()


def _unreadable(source: Path, wrong: OSError) -> InvalidInput:
    return InvalidInput(f"{source} cannot be read: {wrong.strerror}")


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
