"""Writes an export: in which format, and to which file."""

import os
import pkgutil
import sys
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from arena.cli import output
from arena.cli.export.exported import ExportedRun
from arena.errors import InfrastructureError, InvalidInput
from arena.files import atomic_file
from arena.text import to_unicode

STANDARD_OUTPUT = "-"

FORMATS = {
    "junit": "arena.cli.export.junit:pieces",
    "markdown": "arena.cli.export.markdown:pieces",
    "csv": "arena.cli.export.csv:pieces",
    "jsonl": "arena.cli.export.jsonl:pieces",
    "json": "arena.cli.export.json:pieces",
}
"""By name: the function that yields the text of the file, loaded when it is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A file to write."""

    format: str
    name: str
    """The path of the file, or `-` for standard output."""

    def check(self) -> None:
        """Refuse a file that cannot be written, as far as that is known before writing it."""
        if self.name == STANDARD_OUTPUT:
            return
        path = Path(self.name).resolve()
        if path.is_dir():
            raise InvalidInput(f"{self.name} cannot be written: it is a folder")
        if not path.parent.is_dir():
            raise InvalidInput(f"{self.name} cannot be written: there is no folder {path.parent}")
        if not os.access(_special(path) or path.parent, os.W_OK):
            raise InvalidInput(f"{self.name} cannot be written: permission denied")

    async def write(self, exported: ExportedRun) -> None:
        """Write the file; half a file is never seen at its place."""
        pieces = cast(
            Callable[[ExportedRun], AsyncIterator[str]], pkgutil.resolve_name(FORMATS[self.format])
        )
        if self.name == STANDARD_OUTPUT:
            async for piece in pieces(exported):
                _print(piece)
            return
        try:
            with self._opened() as file:
                async for piece in pieces(exported):
                    file.write(piece.encode())
        except OSError as error:
            raise InfrastructureError(
                f"{self.name} cannot be written: {error.strerror}; the run is kept: "
                f"arena runs export {exported.details.run.id} --format {self.format}"
            ) from None

    def write_text(self, text: str) -> None:
        """Write a file that is known as a whole."""
        if self.name == STANDARD_OUTPUT:
            _print(to_unicode(text))
            return
        try:
            with self._opened() as file:
                file.write(to_unicode(text).encode())
        except OSError as error:
            raise InfrastructureError(f"{self.name} cannot be written: {error.strerror}") from None

    @contextmanager
    def _opened(self) -> Generator[IO[bytes]]:
        path = Path(self.name).resolve()
        special = _special(path)
        with special.open("wb") if special else atomic_file(path, durable=False) as file:
            yield file


def check_targets(targets: Sequence[Target]) -> None:
    """Refuse files that cannot be written, and two exports to the same place."""
    seen: set[str] = set()
    for target in targets:
        target.check()
        place = target.name
        if place != STANDARD_OUTPUT:
            place = str(Path(place).resolve())
        if place in seen:
            raise InvalidInput(f"two exports go to {target.name!r}: name another file for one")
        seen.add(place)


def _special(path: Path) -> Path | None:
    """The path of a device or pipe, which must not be replaced; None for a regular file."""
    return path if path.exists() and not path.is_file() else None


def _print(piece: str) -> None:
    try:
        # The bytes: formats have their own line ends, and are UTF-8 whatever the locale says.
        sys.stdout.buffer.write(piece.encode())
    except BrokenPipeError:
        output.discard_output()
