"""Reads tests with variables, data sets and matrices: finds their problems, indexes their rows."""

import hashlib
from array import array
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import BaseModel, Field, ValidationError

from arena.catalog.data_test import ONLY_ROW, Build, DataTest, Plan, RowIndex
from arena.catalog.dataset import ENDINGS, DataFile, Row
from arena.catalog.template import NoValue, Template, missing
from arena.catalog.test import Test
from arena.catalog.variants import (
    MAX_VARIANTS,
    NO_MATRIX,
    Variant,
    digest_label,
    label_of,
    variants_of,
)
from arena.documents.problem import FileProblem, GivenUp, Place, ProblemList
from arena.documents.validation import faults_of, type_name
from arena.documents.yaml_reader import Node
from arena.fields import STRICT

if TYPE_CHECKING:
    from arena.catalog.tests import Part

FIXED = ("id", "active", "agents")
"""Keys that are the same for all rows: they decide which tests there are."""
SUFFIXES = (".csv", ".jsonl", ".yaml", ".yml")

Check = Callable[[Path, Node, bool], "Test | tuple[FileProblem, ...]"]
"""The test in a mapping, or its problems; faster for one that is known to have none."""


class DataKeys(BaseModel):
    """The keys that make a template of a test."""

    model_config = STRICT

    vars: dict[str, Any] = Field(default_factory=dict)
    dataset: str | None = None
    matrix: (
        Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], Field(min_length=1)] | None
    ) = None


DATA_KEYS = tuple(DataKeys.model_fields)


class NotATest(Exception):
    """A rendered body is not a test."""

    def __init__(self, problems: tuple[FileProblem, ...]) -> None:
        super().__init__(str(problems[0]))
        self.problems = problems


class DataReading:
    """The data sets of one test file."""

    def __init__(self, path: Path, problems: ProblemList, check: Check) -> None:
        self._path = path
        self._problems = problems
        self._check = check
        self.files: dict[Path, DataFile] = {}
        self.problems: list[FileProblem] = []
        """Of the data files."""

    def digest(self, of_file: str) -> str:
        """The digest of the test file together with its data files."""
        if not self.files:
            return of_file
        lines = (of_file, *(f"{path.name} {one.digest}" for path, one in self.files.items()))
        return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()

    @property
    def file_name(self) -> str:
        """The name of the test file."""
        return self._path.name

    def read(self, node: Node, of_file: Mapping[str, Any] | None, category: str) -> "Part | None":
        """The tests of a template; None (and problems) if there is a mistake in it.

        `of_file` are the variables of the file, `category` is its category as far as is known.
        """
        body = cast(dict[str, Any], node.value)
        keys = self._keys(node, {key: body[key] for key in DATA_KEYS if key in body})
        test_id = body.get("id")
        if keys is None:
            return None
        own = {key: value for key, value in body.items() if key not in DATA_KEYS}
        template, defaults = Template(own, FIXED), {**(of_file or {}), **keys.vars}
        if keys.dataset is None and keys.matrix is None:
            return self._only_test(node, template, defaults)
        if not isinstance(test_id, str):
            rendered = self._check(self._path, Node(value=own, marks=node.marks), False)
            self._report(rendered if isinstance(rendered, tuple) else ())
            return None
        plan = Plan(
            id=test_id,
            template=template,
            defaults=defaults,
            variants=NO_MATRIX if keys.matrix is None else variants_of(keys.matrix),
            data=self._data_file(node, keys.dataset),
            build=_builder(self._path, node, self._check),
            category=category,
        )
        if keys.dataset is not None and plan.data is None:
            return None
        return _DataTestReading(self, node, plan).read()

    def _only_test(self, node: Node, template: Template, values: dict[str, Any]) -> Test | None:
        """The test of a template that has neither rows nor combinations."""
        if self.misses(node, template, values):
            return None
        try:
            body = template.render(values)
        except NoValue as error:
            self.add(node.place(error.path), error.message)
            return None
        marks, key_marks = node.marks, node.key_marks
        checked = self._check(self._path, Node(value=body, marks=marks, key_marks=key_marks), False)
        if isinstance(checked, Test):
            return checked
        self._report(checked)
        return None

    def misses(self, node: Node, template: Template, known: Mapping[str, Any]) -> bool:
        """Whether a variable is used that is not known; each use is a problem."""
        unknown = [use for use in template.uses if not use.is_in(known)]
        for use in unknown:
            self.add(node.place(use.path), missing(use.name, known))
        return bool(unknown)

    def add(self, place: Place, message: str) -> None:
        """Add a problem of the test file."""
        self._problems.add(place, message)

    def _report(self, problems: tuple[FileProblem, ...]) -> None:
        for one in problems:
            self.add(Place(one.line, one.column), one.message)

    def _keys(self, node: Node, given: dict[str, Any]) -> DataKeys | None:
        try:
            keys = DataKeys.model_validate(given)
        except ValidationError as error:
            for fault in faults_of(error, lambda _: DATA_KEYS, {}):
                self.add(fault.place(node), str(fault))
            return None
        count = 1
        for values in (keys.matrix or {}).values():
            count *= len(values)
        if count > MAX_VARIANTS:
            message = f"matrix: has {count:,} combinations, at most {MAX_VARIANTS:,} are allowed"
            self.add(node.place(("matrix",)), message)
            return None
        return keys

    def _data_file(self, node: Node, name: str | None) -> DataFile | None:
        if name is None:
            return None
        path = self._path.parent / name
        if path.suffix not in SUFFIXES:
            message = f"dataset: must be a file whose name ends in {ENDINGS}"
            self.add(node.place(("dataset",)), message)
            return None
        # A file that several tests share is read for each of them: its rows are other tests.
        self.files[path] = data = DataFile(path)
        return data


class _DataTestReading:
    """Reads every row of one data test once."""

    def __init__(self, reading: DataReading, node: Node, plan: Plan) -> None:
        self._reading = reading
        self._node = node
        self._plan = plan
        self._index = RowIndex(plan)
        self._lines = array("I")
        self._first: Test | None = None
        self._has_ids = False
        self._matrix = frozenset(plan.variants[0].values)
        uses = [use.path for use in plan.template.uses]
        self._varying = {node.place(path) for path in uses}
        self._around = {node.place(path[:n]) for path in uses for n in range(1, len(path))}
        """The places of the values that variables are used in."""

    def read(self) -> DataTest | None:
        data = self._plan.data
        problems = ProblemList("" if data is None else str(data.path))
        try:
            rows = (ONLY_ROW,) if data is None else data.first_rows(problems)
            for row in rows:
                self._read_row(row, problems)
            if not problems:
                self._find_duplicates(problems)
        except GivenUp:
            pass  # the last problem says why
        if problems:
            self._report(problems)
        if problems or self._first is None:
            return None
        return DataTest(self._plan, self._index, self._first)

    def _read_row(self, row: Row, problems: ProblemList) -> None:
        plan, index = self._plan, self._index
        if not self._lines:
            self._check_variables(row)
        self._lines.append(row.line)
        label = self._label(row, problems)
        if label is None:
            return
        for name in self._matrix & row.values.keys():
            problems.add(Place(row.line, 1), f"{name!r} is also a name of the matrix: rename one")
        index.add_row(label, row.offset)
        for variant in plan.variants:
            test = self._made(row, label, variant, problems)
            if test is not None and not problems:
                self._first = self._first or test
                index.add_test(test)

    def _check_variables(self, row: Row) -> None:
        """Stop if the template uses what the first row does not have: it is misspelt there."""
        plan = self._plan
        known = {**plan.defaults, **row.values, **plan.variants[0].values}
        if self._reading.misses(self._node, plan.template, known):
            raise GivenUp

    def _label(self, row: Row, problems: ProblemList) -> str | None:
        if self._plan.data is None:
            return ""
        if "id" not in row.values:
            return digest_label(row.values)
        self._has_ids = True
        value = row.values["id"]
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            message = f"id: must be a text or a whole number, is {type_name(value)}"
            problems.add(Place(row.line, 1), message)
        elif not value.strip():
            problems.add(Place(row.line, 1), "id: is empty; give the row an id")
        else:
            return label_of(value.strip())
        return None

    def _made(self, row: Row, label: str, variant: Variant, problems: ProblemList) -> Test | None:
        try:
            return self._plan.make(label, row.values, variant)
        except NoValue as error:
            self._add(row, problems, error.message, self._node.place(error.path))
        except NotATest as error:
            for one in error.problems:
                self._add(row, problems, one.message, Place(one.line, one.column))
        return None

    def _add(self, row: Row, problems: ProblemList, message: str, used: Place) -> None:
        """Add a problem of a row, or of the template if it does not depend on the row."""
        data = self._plan.data
        if data is None or used not in self._varying:
            # Perhaps the row's fault, perhaps the template's.
            with_row = (
                f" (with {data.path.name}:{row.line})" if data and used in self._around else ""
            )
            self._reading.add(used, f"{message}{with_row}")
            raise GivenUp
        where = f"{self._reading.file_name}:{used.line}:{used.column}"
        problems.add(Place(row.line, 1), f"{message} (used at {where})")

    def _find_duplicates(self, problems: ProblemList) -> None:
        variants = len(self._plan.variants)
        for one, other in self._index.sort():
            first, second = sorted((one, other))
            name = self._index.suffix(first)
            if first // variants == second // variants:
                message = f"matrix: two combinations are called {name!r}; change a value"
                self._reading.add(self._node.place(("matrix",)), message)
                raise GivenUp
            line = self._lines[first // variants]
            message = f"duplicate id {name!r}; first: line {line}"
            if not self._has_ids:
                message = f"is the same row as line {line}; to keep both, add a column 'id'"
            problems.add(Place(self._lines[second // variants], 1), message)

    def _report(self, problems: ProblemList) -> None:
        self._reading.problems += problems.in_order()
        name = self._plan.data.path.name if self._plan.data else ""
        self._reading.add(self._node.place(("dataset",)), f"dataset: {name} has problems")


def _builder(path: Path, node: Node, check: Check) -> Build:
    marks, key_marks = node.marks, node.key_marks

    def build(body: dict[str, Any], is_known: bool) -> Test:
        checked = check(path, Node(value=body, marks=marks, key_marks=key_marks), is_known)
        if not isinstance(checked, Test):
            raise NotATest(checked)
        return checked

    return build
