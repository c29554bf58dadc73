"""What was read of one file of tests."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from arena.catalog.test import Test
from arena.catalog.tests import joined
from arena.documents.problem import TOP, FileProblem, Place

if TYPE_CHECKING:
    from arena.catalog.dataset import DataFile
    from arena.catalog.tests import Part


class TestPlaces:
    """The positions of a file's tests, in eight bytes per test: there may be thousands."""

    __test__: ClassVar[bool] = False
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
    """A file's tests; or its problems, and then no tests."""

    path: Path
    parts: "tuple[Part, ...]" = ()
    """Its tests; those of a data set are one part."""
    places: TestPlaces = field(default_factory=TestPlaces)
    """Of each part."""
    problems: tuple[FileProblem, ...] = ()
    bad_ids: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """The readable ids of a file with problems, and their positions."""
    content_digest: str = ""
    """The SHA-256 of the file's bytes, and of its data files; empty if it could not be read."""
    data_files: "tuple[DataFile, ...]" = ()
    """The files that its data sets are read from."""
    suite: str | None = ""
    """The suite of its tests; None if the file cannot be read far enough to tell."""
    names_suite: bool = False
    """Whether the file names it."""
    suite_label: str | None = None
    """The label that the file gives to the suite's version."""
    suite_place: Place = TOP
    """Where the label is."""
    looks: Mapping[Path, str] = field(default_factory=dict[Path, str])
    """The files and folders that its tests name, and what they looked like."""

    @property
    def tests(self) -> Sequence[Test]:
        """Its tests."""
        return joined(self.parts)

    @property
    def is_readable(self) -> bool:
        """Whether its rows can still be read: a data file may have been changed since."""
        return all(data.is_unchanged for data in self.data_files)
