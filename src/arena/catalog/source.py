"""One file of tests, as it was read."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from arena.catalog.problem import Place, Problem
from arena.catalog.test import Test


class TestPlaces:
    """Where each test of a file stands, in eight bytes a test: thousands must stay small."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class
    __slots__ = ("_columns", "_lines")

    def __init__(self) -> None:
        self._lines = array("I")
        self._columns = array("I")

    def append(self, place: Place) -> None:
        """Add the place of the next test."""
        self._lines.append(place.line)
        self._columns.append(place.column)

    def __getitem__(self, index: int) -> Place:
        return Place(self._lines[index], self._columns[index])

    def __len__(self) -> int:
        return len(self._lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file's tests; or what is wrong with it, and then it has no tests."""

    path: Path
    tests: tuple[Test, ...] = ()
    places: TestPlaces = field(default_factory=TestPlaces)
    problems: tuple[Problem, ...] = ()
    bad_ids: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """The ids of a file with problems, as far as they can be read, and where each stands."""
    category: str = ""
    description: str | None = None
    content_digest: str = ""
    """The SHA-256 of the file's bytes; empty where it could not be read."""
