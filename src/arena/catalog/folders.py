"""Where test files are looked for, and in which order."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arena.catalog.problem import Problem

SUFFIXES = (".yaml", ".yml")
BUILTIN_FOLDER = Path(__file__).parent / "builtin"

Origin = Literal["builtin", "home", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file to read, and whose it is."""

    path: Path
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The places of test files, in the order that settles who owns an id: the first one wins."""

    builtin: bool = True
    """Whether the tests that ship with Arena are there."""
    home: Path | None = None
    """The user's own folder. It may not exist yet."""
    named: tuple[Path, ...] = ()
    """Folders (or single files) named for this occasion. They must exist."""

    def in_order(self) -> Iterator[tuple[Origin, Path]]:
        """Every place with its origin."""
        if self.builtin:
            yield "builtin", BUILTIN_FOLDER
        if self.home is not None:
            yield "home", self.home
        for folder in self.named:
            yield "named", folder

    def look(self) -> tuple[list[FoundFile], list[Problem]]:
        """The files there are now, sorted within each folder; and the folders that are no use."""
        found: list[FoundFile] = []
        problems: list[Problem] = []
        seen: set[str] = set()
        for origin, folder in self.in_order():
            try:
                paths = _files_in(folder)
            except FileNotFoundError:
                if origin != "home":
                    problems.append(Problem(file=str(folder), message="there is no such folder"))
                continue
            except OSError as wrong:
                told = f"the folder cannot be read: {wrong.strerror}"
                problems.append(Problem(file=str(folder), message=told))
                continue
            for path in paths:
                # One file under two names (a folder given twice, a link) is one file.
                real = os.path.realpath(path)
                if real not in seen:
                    seen.add(real)
                    found.append(FoundFile(path=path, origin=origin))
        return found, problems


def _files_in(folder: Path) -> Sequence[Path]:
    if folder.is_file():
        return [folder]
    # Hidden files are the scratch paper of editors: locks, swap files, half-written copies.
    paths = [path for path in folder.iterdir() if not path.name.startswith(".")]
    return sorted(path for path in paths if path.name.endswith(SUFFIXES))
