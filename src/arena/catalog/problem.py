"""What is wrong with a test file, and where."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

MAX_PROBLEMS = 200
"""After so many problems a file is given up: the first few of them are mended first anyway."""


class Place(NamedTuple):
    """Where something stands in a file; both count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with one file, in words that say how to mend it."""

    file: str
    line: int = 1
    """Line 1 is named too where the file as a whole is meant: it cannot be opened, say."""
    column: int = 1
    message: str
    served: Literal["last good", "nothing"] = "nothing"
    """What the catalog offers of this file meanwhile."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


TOP = Place(1, 1)
"""The place of a problem that a file has as a whole."""


class GivenUp(Exception):
    """A file cannot be read any further; its last problem says why."""


class ProblemList:
    """Collects the problems of one file, in the order they were met."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[Problem] = []

    def add(self, place: Place, message: str) -> None:
        """Write a problem down; past the limit, give the file up."""
        line, column = place
        self._found.append(Problem(file=self.file, line=line, column=column, message=message))
        if len(self._found) == MAX_PROBLEMS:
            told = f"there may be more problems; these are the first {MAX_PROBLEMS}"
            self._found.append(Problem(file=self.file, line=line, column=column, message=told))
            raise GivenUp

    def give_up(self, place: Place, message: str) -> GivenUp:
        """Write down the problem that ends the reading; the caller raises what it gets."""
        self.add(place, message)
        return GivenUp(message)

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> tuple[Problem, ...]:
        """All of them, from the top of the file to its end."""
        return tuple(sorted(self._found, key=lambda found: (found.line, found.column)))
