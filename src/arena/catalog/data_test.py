"""A test with a data set or a matrix: one template, of which every row is a test.

The rows stay in their file. What is kept of each is where it begins, what it is called and the
fingerprint of its test: some 60 bytes, however large the row is.
"""

import hashlib
import heapq
import itertools
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.catalog.dataset import DataFile, Row
from arena.catalog.template import Template
from arena.catalog.test import Test, cluster_of, fingerprint_of, place_number
from arena.catalog.variants import DIGEST_DIGITS, NO_MATRIX, Variant, shortened
from arena.fields import MAX_NAME_LENGTH

SORTED_AT_ONCE = 16_384
HASH_BYTES = 32

Build = Callable[[dict[str, Any], bool], Test]
"""Makes a test of a body, raises if it is not one; faster if it is known to be one."""


ONLY_ROW = Row({}, 1, 0)
"""The row of a matrix without a data set."""


@dataclass(slots=True, kw_only=True)
class Plan:
    """What the tests of a data test are made of."""

    id: str
    template: Template
    defaults: Mapping[str, Any]
    """The variables of the file and of the test."""
    variants: tuple[Variant, ...] = NO_MATRIX
    data: DataFile | None = None
    build: Build
    category: str = ""
    suite: str = ""

    @property
    def has_matrix(self) -> bool:
        """Whether a row is several tests."""
        return self.variants is not NO_MATRIX

    def suffix(self, row: str, variant: Variant) -> str:
        """What is between the brackets of an id."""
        if not self.has_matrix:
            return row
        return shortened(f"{row},{variant.label}" if row else variant.label)

    def make(
        self, row: str, values: Mapping[str, object], variant: Variant, *, is_known: bool = False
    ) -> Test:
        """The test of a row and a combination; raises `NoValue` or what `build` raises.

        `is_known` says that it was made before, of the same values.
        """
        body = self.template.render({**self.defaults, **values, **variant.values})
        if body.get("group") == "":
            body["group"] = None  # an empty cell: the row is in no group
        if self.has_matrix and body.get("group") is None:
            body["group"] = self._group(row)
        test = self.build(body, is_known)
        # It was made just now and nobody else has it: a copy would cost as much as the rest.
        object.__setattr__(test, "id", f"{self.id}[{self.suffix(row, variant)}]")
        object.__setattr__(test, "category", self.category)
        object.__setattr__(test, "suite", self.suite)
        return test

    def _group(self, row: str) -> str:
        """The group of the variants of a row."""
        name = f"{self.id}[{row}]" if row else self.id
        if len(name) <= MAX_NAME_LENGTH:
            return name
        return f"{self.id}[{hashlib.sha256(row.encode()).hexdigest()[:DIGEST_DIGITS]}]"


class RowIndex:
    """The names, places and fingerprints of a data test's tests."""

    __slots__ = (
        "_clusters",
        "_ends",
        "_labels",
        "_offsets",
        "_order",
        "_plan",
        "fingerprints",
        "places_sum",
        "tags",
    )

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._labels = bytearray()
        self._ends = array("I", [0])
        self._offsets = array("Q")
        self._order = array("I")
        self.fingerprints = bytearray()
        """Of each test, 32 bytes."""
        self._clusters = bytearray()
        """Of each test that has no group, 32 bytes."""
        self.places_sum = 0
        """Of categories, tags and clusters, with the category that was known when it was made."""
        self.tags: set[str] = set()
        """That some test has."""

    def __len__(self) -> int:
        return len(self._offsets) * len(self._plan.variants)

    def add_row(self, label: str, offset: int) -> None:
        """Add a row; its tests follow."""
        self._labels += label.encode()
        self._ends.append(len(self._labels))
        self._offsets.append(offset)

    def add_test(self, test: Test) -> None:
        """Add the next test of the last row."""
        body = test.as_json()
        self.fingerprints += bytes.fromhex(fingerprint_of(body))
        cluster = cluster_of(body)
        if test.group is None:
            self._clusters += bytes.fromhex(cluster)
        self.places_sum += place_number(test.id, test.category, test.tags, cluster)
        self.tags.update(test.tags)

    def row_label(self, row: int) -> str:
        """What a row is called."""
        return self._labels[self._ends[row] : self._ends[row + 1]].decode()

    def offset(self, row: int) -> int:
        """Where a row begins."""
        return self._offsets[row]

    def suffix(self, unit: int) -> str:
        """What is between the brackets of a test's id."""
        variants = self._plan.variants
        row, place = divmod(unit, len(variants))
        return self._plan.suffix(self.row_label(row), variants[place])

    def fingerprint(self, unit: int) -> str:
        """The fingerprint of a test."""
        return self.fingerprints[HASH_BYTES * unit : HASH_BYTES * (unit + 1)].hex()

    def cluster(self, unit: int) -> str | None:
        """The cluster of a test; None if that is not known because some have a group."""
        if len(self._clusters) != len(self.fingerprints):
            return None
        return self._clusters[HASH_BYTES * unit : HASH_BYTES * (unit + 1)].hex()

    def sort(self) -> Iterator[tuple[int, int]]:
        """Sort the tests by id; yields two tests for each pair that has the same one."""
        # Sorted in parts and merged: all labels at once would take more memory than the index.
        parts = [
            array("I", sorted(range(start, min(start + SORTED_AT_ONCE, len(self))), key=self._key))
            for start in range(0, len(self), SORTED_AT_ONCE)
        ]
        merged = heapq.merge(*parts, key=self._key) if len(parts) > 1 else itertools.chain(*parts)
        self._order = array("I", merged)
        for one, other in itertools.pairwise(self._order):
            if self._key(one) == self._key(other):
                yield one, other

    def in_order(self) -> Sequence[int]:
        """The tests, sorted by id."""
        return self._order

    def find(self, suffix: str) -> int | None:
        """The test with these words between its brackets."""
        place = bisect_left(self._order, f"{suffix}]", key=self._key)
        if place == len(self._order) or self.suffix(self._order[place]) != suffix:
            return None
        return self._order[place]

    def _key(self, unit: int) -> str:
        # With the bracket: it sorts behind a dash, as it does in the whole id.
        return f"{self.suffix(unit)}]"


class DataTest:
    """Some or all of the tests of a data set or matrix, in the order of the rows."""

    __slots__ = ("_has_moved", "_index", "_plan", "_units", "first")

    def __init__(
        self, plan: Plan, index: RowIndex, first: Test, units: Sequence[int] | None = None
    ) -> None:
        self._plan = plan
        self._index = index
        self._units = units
        """Which tests; None: all."""
        self._has_moved = False
        """Whether the category is another than the one that the index was made with."""
        self.first = first
        """The first test of the first row, for what all of them have in common."""

    @property
    def id(self) -> str:
        """What the ids of its tests begin with."""
        return self._plan.id

    @property
    def suite(self) -> str:
        """The suite of all of them."""
        return self.first.suite

    @property
    def category(self) -> str:
        """The category of all of them."""
        return self.first.category

    @property
    def tags(self) -> Collection[str]:
        """Every tag that some row of the data set has."""
        return self._index.tags

    @property
    def active(self) -> bool:
        """Whether they are active."""
        return self.first.active

    @property
    def fingerprint(self) -> str:
        """A digest of the ids and fingerprints of the tests."""
        digest = hashlib.sha256()
        for test_id, one in self.fingerprints():
            digest.update(f"{test_id} {one}\n".encode())
        return digest.hexdigest()

    @property
    def places_sum(self) -> int:
        """The sum of `place_number` of all tests."""
        if self._units is None and not self._has_moved:
            return self._index.places_sum
        return sum(place_number(one.id, one.category, one.tags, one.cluster) for one in self)

    def is_for(self, agent_id: str) -> bool:
        """Whether they are active and for this agent."""
        return self.first.is_for(agent_id)

    def varies(self, *keys: str) -> bool:
        """Whether the value of one of these keys depends on the row."""
        return "id" in keys or not self._plan.template.varying.isdisjoint(keys)

    def __len__(self) -> int:
        return len(self._index if self._units is None else self._units)

    def __iter__(self) -> Iterator[Test]:
        return (test for _, test in self._numbered())

    def __contains__(self, test_id: object) -> bool:
        return isinstance(test_id, str) and self._find(test_id) is not None

    def ids(self) -> Iterator[str]:
        """The id of each test; the rows are not read."""
        units = range(len(self._index)) if self._units is None else self._units
        return (f"{self.id}[{self._index.suffix(unit)}]" for unit in units)

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        """The id and the fingerprint of each test, sorted by id; the rows are not read."""
        index = self._index
        kept = None if self._units is None else set(self._units)
        for unit in index.in_order():
            if kept is None or unit in kept:
                yield f"{self.id}[{index.suffix(unit)}]", index.fingerprint(unit)

    def entries(self) -> Iterator[tuple[str, str, str, Sequence[str], str]]:
        """Id, fingerprint, category, tags and cluster of each test.

        The rows are read only if they have tags or groups of their own.
        """
        index, first = self._index, self.first
        if self._units is not None or self.varies("tags", "group") or index.cluster(0) is None:
            for test in self:
                body = test.as_json()
                found = fingerprint_of(body), test.category, test.tags, cluster_of(body)
                yield test.id, *found
            return
        for unit, test_id in enumerate(self.ids()):
            cluster = index.cluster(unit) or ""
            yield test_id, index.fingerprint(unit), first.category, first.tags, cluster

    def test(self, test_id: str) -> Test | None:
        """The test with this id."""
        unit = self._find(test_id)
        return None if unit is None else next(iter(self._only([unit])))

    def slice(self, start: int, stop: int) -> "DataTest":
        """The tests at these positions."""
        units = range(len(self._index)) if self._units is None else self._units
        return self._only(units[start:stop])

    def with_ids(self, test_ids: Collection[str]) -> "DataTest":
        """Those with these ids; its own id stands for all of them."""
        if self.id in test_ids:
            return self
        if len(test_ids) < len(self):
            found = {unit for one in test_ids if (unit := self._unit(one)) is not None}
            # Not `in self._units`: that would search thousands of tests for each of thousands.
            units = sorted(found if self._units is None else found.intersection(self._units))
        else:
            every = range(len(self._index)) if self._units is None else self._units
            pairs = zip(every, self.ids(), strict=True)
            units = [unit for unit, test_id in pairs if test_id in test_ids]
        return self._only(array("I", units))

    def filtered(self, keep: Callable[[Test], bool]) -> "DataTest":
        """Those that meet a condition; every row is read."""
        return self._only(array("I", (unit for unit, test in self._numbered() if keep(test))))

    def placed(self, category: str, suite: str) -> "DataTest":
        """The same tests in a category and a suite, which a file may name after its tests."""
        plan = replace(self._plan, category=category, suite=suite)
        first = replace(self.first, category=category, suite=suite)
        moved = DataTest(plan, self._index, first, self._units)
        moved._has_moved = category != self.category
        return moved

    def _only(self, units: Sequence[int]) -> "DataTest":
        some = DataTest(self._plan, self._index, self.first, units)
        some._has_moved = self._has_moved
        return some

    def _find(self, test_id: str) -> int | None:
        unit = self._unit(test_id)
        if unit is None or self._units is None or unit in self._units:
            return unit
        return None

    def _unit(self, test_id: str) -> int | None:
        """The number of a test, whether or not it is one of these."""
        base, _, rest = test_id.partition("[")
        return self._index.find(rest[:-1]) if base == self.id and rest.endswith("]") else None

    def _numbered(self) -> Iterator[tuple[int, Test]]:
        """Each test with its number; the rows are read one after the other."""
        plan, index, variants = self._plan, self._index, self._plan.variants
        width = len(variants)
        for row, places, values in self._rows(width):
            label = index.row_label(row)
            for place in places:
                test = plan.make(label, values, variants[place], is_known=True)
                yield row * width + place, test

    def _rows(self, width: int) -> Iterator[tuple[int, Iterable[int], Mapping[str, object]]]:
        """The number of each row, which of its variants are wanted, and its values."""
        data = self._plan.data
        if self._units is None:
            every = range(width)
            rows = (ONLY_ROW,) if data is None else data.rows()
            for number, row in enumerate(rows):
                yield number, every, row.values
            return
        values = itertools.repeat(dict[str, object]())
        if data is not None:
            values = data.rows_at(self._index.offset(row) for row, _ in self._wanted(width))
        # The values first: their file is checked once more when they have all been read.
        for one, (row, units) in zip(values, self._wanted(width), strict=False):
            yield row, (unit % width for unit in units), one

    def _wanted(self, width: int) -> Iterator[tuple[int, Iterable[int]]]:
        return itertools.groupby(self._units or (), lambda unit: unit // width)
