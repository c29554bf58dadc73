"""A sequence of tests, some of which are rows of data that are read when they are needed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from arena.catalog.test import Test
from arena.errors import NotFound

if TYPE_CHECKING:
    from arena.catalog.data_test import DataTest

    Part = Test | DataTest


class Tests(Sequence[Test]):
    """The tests of these parts, in order; a part is a test or a data set of tests."""

    __slots__ = ("parts",)
    __test__ = False  # keeps pytest from collecting the class

    def __init__(self, parts: "Iterable[Part]") -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return sum(map(size_of, self.parts))

    def __iter__(self) -> Iterator[Test]:
        for part in self.parts:
            if isinstance(part, Test):
                yield part
            else:
                yield from part

    @overload
    def __getitem__(self, index: int) -> Test: ...
    @overload
    def __getitem__(self, index: slice) -> "Tests": ...
    def __getitem__(self, index: int | slice) -> "Test | Tests":
        if isinstance(index, slice):
            start, stop, _ = index.indices(len(self))
            return Tests(self._cut(start, stop))
        place = index + len(self) if index < 0 else index
        for test in Tests(self._cut(place, place + 1)):
            return test
        raise IndexError(index)

    def _cut(self, start: int, stop: int) -> "Iterator[Part]":
        first = 0
        for part in self.parts:
            size = size_of(part)
            begin, end = max(start - first, 0), min(stop - first, size)
            if begin < end:
                yield part if isinstance(part, Test) else part.slice(begin, end)
            first += size


class TestsById(Mapping[str, Test]):
    """Tests by their ids; those of a data set are looked up in its index."""

    __test__ = False

    def __init__(self, parts: "Mapping[str, Part]") -> None:
        self.parts = parts

    def __getitem__(self, test_id: str) -> Test:
        part = self.parts[test_id.partition("[")[0]]
        found = part if isinstance(part, Test) else part.test(test_id)
        if found is None or found.id != test_id:
            raise KeyError(test_id)
        return found

    def __contains__(self, test_id: object) -> bool:
        if not isinstance(test_id, str):
            return False
        part = self.parts.get(test_id.partition("[")[0])
        if part is None or isinstance(part, Test):
            return part is not None and part.id == test_id
        return test_id in part

    def __iter__(self) -> Iterator[str]:
        for part in self.parts.values():
            if isinstance(part, Test):
                yield part.id
            else:
                yield from part.ids()

    def __len__(self) -> int:
        return sum(map(size_of, self.parts.values()))

    def unknown(self, test_id: str) -> NotFound:
        """The error for an id that no test has."""
        base, bracket, row = test_id.partition("[")
        part = self.parts.get(base)
        if part is None or isinstance(part, Test):
            return NotFound.among("test", test_id, self.parts)
        first = next(part.ids())
        if not bracket:
            return NotFound(f"{test_id!r} is a data set of {len(part)} tests; its first is {first}")
        name = row.removesuffix("]")
        return NotFound(
            f"{base!r} has {len(part)} tests, none of them called {name!r}; its first is {first}"
        )


def joined(parts: "Iterable[Part]") -> Sequence[Test]:
    """The tests of these parts; a tuple if none of them is a data set."""
    tests: list[Test] = []
    every = tuple(parts)
    for part in every:
        if not isinstance(part, Test):
            return Tests(every)
        tests.append(part)
    return tuple(tests)


def parts_of(tests: Iterable[Test]) -> "Iterable[Part]":
    """The parts of a sequence: each test, or a whole data set at once."""
    return tests.parts if isinstance(tests, Tests) else tests


def size_of(part: "Part") -> int:
    """How many tests a part is."""
    return 1 if isinstance(part, Test) else len(part)


def ids_of(tests: Iterable[Test]) -> Iterator[str]:
    """The id of each test; rows of data are not read."""
    for part in parts_of(tests):
        if isinstance(part, Test):
            yield part.id
        else:
            yield from part.ids()


def with_ids(part: "Part", test_ids: Collection[str]) -> "Part | None":
    """Of a part, the tests with these ids; None if there are none."""
    if isinstance(part, Test):
        return part if part.id in test_ids else None
    return part.with_ids(test_ids) or None


def with_different(tests: Iterable[Test], *keys: str) -> Iterator[Test]:
    """The tests; of a data set whose rows have the same values of these keys, only the first."""
    for part in parts_of(tests):
        if isinstance(part, Test):
            yield part
        elif part.varies(*keys):
            yield from part
        else:
            yield part.first


def filtered(tests: Iterable[Test], keep: Callable[[Any], bool], *keys: str) -> Sequence[Test]:
    """The tests that meet a condition, which looks at the values of these keys."""

    def kept() -> "Iterator[Part]":
        for part in parts_of(tests):
            if isinstance(part, Test) or not part.varies(*keys):
                if keep(part if isinstance(part, Test) else part.first):
                    yield part
            elif found := part.filtered(keep):
                yield found

    return joined(kept())
