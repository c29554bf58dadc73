"""A file of submissions, judged many at a time; what was judged once is not judged again."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, TextIO, cast

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from arena import schemas
from arena.cli.files import write_file
from arena.client import Client
from arena.errors import ArenaError, CallerError, Conflict, InvalidInput

PASSED, FAILED, WRONG, NOT_JUDGED = 0, 1, 2, 3
MAX_LINE = 16 * 1024 * 1024


class Batch:
    """The lines of a file, and where their verdicts go.

    With an output file a batch that was interrupted goes on: lines that have a verdict there are
    skipped, lines that had an error are tried again.
    """

    def __init__(self, source: Path, to: Path | None, concurrency: int) -> None:
        self._source = source
        self._to = to
        self._concurrency = concurrency
        self._outcomes: set[int] = set()

    async def judge(self, client: Client) -> int:
        """Judge every line and write a verdict for each; the exit code says how it went."""
        count = self._count()
        known = self._known()
        with self._sink() as sink, _bar() as bar:
            task = bar.add_task("judged", total=count)
            lines: asyncio.Queue[tuple[int, str]] = asyncio.Queue(maxsize=2 * self._concurrency)

            async def work() -> None:
                while True:
                    number, line = await lines.get()
                    try:
                        told = await self._line(client, number, line, known)
                        if told is not None:
                            sink.write(json.dumps(told, ensure_ascii=False) + "\n")
                            sink.flush()
                        bar.advance(task)
                    finally:
                        lines.task_done()

            async with asyncio.TaskGroup() as group:
                workers = [group.create_task(work()) for _ in range(self._concurrency)]
                async for entry in self._lines():
                    await lines.put(entry)
                await lines.join()
                for worker in workers:
                    worker.cancel()
        return max(self._outcomes, default=PASSED, key=(PASSED, FAILED, NOT_JUDGED, WRONG).index)

    async def _line(
        self, client: Client, number: int, line: str, known: dict[str, bool | None]
    ) -> dict[str, Any] | None:
        """What is to be written for one line; None where its verdict is there already."""
        name: object = None
        try:
            name, request = _read(line)
            if name in known:
                passed = known[name]
                if passed is None:
                    raise InvalidInput(f"the id {name!r} stands in an earlier line too")
                known[name] = None
                self._outcomes.add(PASSED if passed else FAILED)
                return None
            known[name] = None
            verdict = await client.evaluate(request)
        except ArenaError as wrong:
            is_callers = isinstance(wrong, CallerError) and not isinstance(wrong, Conflict)
            self._outcomes.add(WRONG if is_callers else NOT_JUDGED)
            error = {"code": wrong.code, "message": wrong.message, "line": number}
            return {"id": name, "error": error}
        self._outcomes.add(PASSED if verdict.passed else FAILED)
        return {"id": name, **verdict.model_dump(mode="json")}

    def _count(self) -> int:
        try:
            with self._source.open("rb") as file:
                return sum(1 for line in file if line.strip())
        except OSError as wrong:
            raise InvalidInput(f"{self._source} cannot be read: {wrong.strerror}") from None

    async def _lines(self) -> AsyncIterator[tuple[int, str]]:
        """Number and text of each line that is not empty."""
        with self._source.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), b""), start=1):
                if line.strip():
                    yield number, line.decode(errors="replace")

    def _known(self) -> dict[str, bool | None]:
        """The ids that have a verdict, and whether they passed; the rest of the file is dropped."""
        if self._to is None or not self._to.exists():
            return {}
        known: dict[str, bool | None] = {}
        kept: list[str] = []
        for line, told in _verdicts(self._to):
            known[told["id"]] = told["passed"]
            kept.append(line)
        write_file(self._to, "".join(kept).encode())
        return known

    def _sink(self) -> TextIO:
        if self._to is None:
            return open(sys.stdout.fileno(), "w", closefd=False, encoding="utf-8")
        try:
            return self._to.open("a", encoding="utf-8")
        except OSError as wrong:
            raise InvalidInput(f"{self._to} cannot be written: {wrong.strerror}") from None


def _verdicts(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The whole verdict lines of an output file; a torn or foreign line is not one."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                told: object = json.loads(line)
            except ValueError:
                continue
            if isinstance(told, dict) and "score" in told and line.endswith("\n"):
                found = cast(dict[str, Any], told)
                if isinstance(found.get("id"), str) and isinstance(found.get("passed"), bool):
                    yield line, found


def _read(line: str) -> tuple[str, schemas.Evaluate]:
    """The id and the request of a line."""
    try:
        told: object = json.loads(line)
    except (ValueError, RecursionError) as wrong:
        raise InvalidInput(f"not JSON: {wrong}") from None
    if not isinstance(told, dict):
        raise InvalidInput("a line is an object with id, standard and submission")
    body = dict(cast(dict[str, Any], told))
    name = body.pop("id", None)
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name:
        raise InvalidInput("needs an id: a text that no other line has")
    # A batch may have very many lines; a record is several files on the disk.
    body.setdefault("record", False)
    try:
        return name, schemas.Evaluate.model_validate(body)
    except ValidationError as wrong:
        faults = (f"{fault['loc'][0]}: {fault['msg']}" for fault in wrong.errors()[:5])
        raise InvalidInput("; ".join(faults)) from None


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
