"""Reads the tests of one YAML file, or all its problems."""

import contextlib
import hashlib
import re
import sys
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from arena.catalog.test import DEFAULT_VALIDATION, Test
from arena.documents.problem import (
    TOP,
    FileProblem,
    GivenUp,
    KeyPath,
    Place,
    ProblemList,
    read_content,
)
from arena.documents.validation import Fault, faults_of, type_name
from arena.documents.yaml_reader import Member, Node, YamlReader
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard
from arena.fields import MAX_NAME_LENGTH, STRICT

MAX_FILE_BYTES = 1024 * 1024
"""A test file may be this large: some five thousand tests."""

NOT_BLANK = r"\S"
PRINTABLE_LINE = r"^[^\x00-\x1f\x7f-\x9f]*\S[^\x00-\x1f\x7f-\x9f]*$"
ONE_LINE = r"^[^\r\n]*\S[^\r\n]*$"
IDENTIFIER = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
PATTERNS = {
    NOT_BLANK: "text that is not empty",
    ONE_LINE: "one line of text that is not empty",
    PRINTABLE_LINE: "one line of text that is not empty, without control characters",
    IDENTIFIER: "letters, digits, '_', '.' or '-', the first a letter or digit",
}
"""The description of each pattern in messages."""

Text = Annotated[str, StringConstraints(pattern=NOT_BLANK)]
Word = Annotated[str, StringConstraints(pattern=ONE_LINE, max_length=MAX_NAME_LENGTH)]
Label = Annotated[str, StringConstraints(pattern=PRINTABLE_LINE, max_length=MAX_NAME_LENGTH)]
AgentId = Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=MAX_NAME_LENGTH)]
SuiteName = Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=MAX_NAME_LENGTH)]
ABSENT: Any = None
"""The value of a key that a file does not have; its test has the default of `Test`."""


DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
"""Stricter than `date.fromisoformat`, which also takes weeks and dates without dashes."""
NO_DATE = "must be a date like 2026-12-31"


def _check_date(text: str) -> str:
    try:
        if DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass  # a day that does not exist
    raise ValueError(NO_DATE)


class QuarantineKeys(BaseModel):
    """The keys of a quarantine."""

    model_config = STRICT

    until: Annotated[str, AfterValidator(_check_date)]
    reason: Annotated[str, StringConstraints(pattern=ONE_LINE, max_length=200)] | None = None


def _read_quarantine(value: object, handler: ValidatorFunctionWrapHandler) -> QuarantineKeys:
    """A quarantine, from its mapping or only its date."""
    if isinstance(value, str):
        return QuarantineKeys.model_construct(until=_check_date(value), reason=None)
    if not isinstance(value, dict):
        raise ValueError(f"{NO_DATE}, or a mapping with until and reason, is {type_name(value)}")
    return handler(value)


class TestKeys(BaseModel):
    """The keys of one test. Only for validation; the catalog keeps a `Test`, which is smaller."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class
    model_config = STRICT

    id: Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=50)]
    name: Annotated[str, StringConstraints(pattern=ONE_LINE, max_length=200)]
    description: Text | None = None
    prompt: Text
    expected: dict[str, Any]
    validation: str = ABSENT
    timeout: int = Field(default=ABSENT, ge=1, le=86_400)
    points: float = Field(default=ABSENT, gt=0, le=1_000_000, allow_inf_nan=False)
    agents: list[AgentId] | None = None
    active: bool = ABSENT
    tags: list[Word] = ABSENT
    trials: int = Field(default=ABSENT, ge=1, le=1000)
    budget_tokens: int | None = Field(default=None, ge=1, le=1_000_000_000)
    case_sensitive: bool | None = None
    whole_word: bool = ABSENT
    pass_score: float | None = Field(default=None, gt=0, le=100, allow_inf_nan=False)
    group: Word | None = None
    quarantine: Annotated[QuarantineKeys, WrapValidator(_read_quarantine)] = ABSENT


class FileKeys(BaseModel):
    """The keys of a file, apart from the tests themselves."""

    model_config = STRICT

    category: Word | None = None
    description: Text | None = None
    suite: SuiteName | None = None
    suite_version: Label | None = None


TEST_KEYS = tuple(TestKeys.model_fields)
QUARANTINE_KEYS = tuple(QuarantineKeys.model_fields)
NEEDED_KEYS = tuple(key for key, field in TestKeys.model_fields.items() if field.is_required())
FILE_KEYS = (*FileKeys.model_fields, "tests")


def _keys_at(path: KeyPath) -> tuple[str, ...]:
    """The keys that are allowed at a path within a test."""
    return QUARANTINE_KEYS if path else TEST_KEYS


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
    tests: tuple[Test, ...] = ()
    places: TestPlaces = field(default_factory=TestPlaces)
    problems: tuple[FileProblem, ...] = ()
    bad_ids: Mapping[str, Place] = field(default_factory=dict[str, Place])
    """The readable ids of a file with problems, and their positions."""
    content_digest: str = ""
    """The SHA-256 of the file's bytes; empty if it could not be read."""
    suite: str | None = ""
    """The suite of its tests; None if the file cannot be read far enough to tell."""
    names_suite: bool = False
    """Whether the file names it."""
    suite_label: str | None = None
    """The label that the file gives to the suite's version."""
    suite_place: Place = TOP
    """Where the label is."""


def read_source(path: Path, suite: str = "") -> Source:
    """The tests of the file, or all its problems; never raises because of a file's content.

    `suite` is the suite of a file that names none.
    """
    reading = _Reading(path, suite)
    with contextlib.suppress(GivenUp):  # the last problem says why
        reading.read(read_content(path, reading.problems, max_bytes=MAX_FILE_BYTES))
    return reading.result()


class _Reading:
    """The state while one file is read."""

    def __init__(self, path: Path, suite: str) -> None:
        self.problems = ProblemList(str(path))
        self._path = path
        self._suite = suite
        self._content_digest = ""
        self._tests: list[Test] = []
        self._places = TestPlaces()
        self._first_places: dict[str, Place] = {}
        self._category: str | None = None
        self._is_suite_known = False
        self._names_suite = False
        self._suite_label: str | None = None
        self._suite_place = TOP
        self._tuples: dict[tuple[str, ...], tuple[str, ...]] = {}

    def read(self, data: bytes) -> None:
        """Read the file from top to bottom."""
        self._content_digest = hashlib.sha256(data).hexdigest()
        found_tests = has_suite = False
        for member in YamlReader(data, self.problems).members("tests"):
            if member.index is not None:
                self._read_test(member.node)
            elif member.key == "tests":
                self._read_repeated_tests(member)
            else:
                self._read_file_key(member)
            found_tests = found_tests or member.key == "tests"
            has_suite = has_suite or member.key == "suite"
        if not found_tests:
            self.problems.add(TOP, "needs the key 'tests': a list of at least one test")
        # To the end, and nothing else names the suite: it is the one of the folder.
        self._is_suite_known = self._is_suite_known or not has_suite

    def result(self) -> Source:
        """The result. A file with a problem gives no tests: half a file would mislead."""
        if self.problems:
            return Source(
                path=self._path,
                problems=self.problems.in_order(),
                bad_ids=self._first_places,
                content_digest=self._content_digest,
                suite=self._suite if self._is_suite_known else None,
                names_suite=self._names_suite,
            )
        # Category and suite may come after the tests.
        category, suite = sys.intern(self._category or self._path.stem), sys.intern(self._suite)
        tests = (
            test
            if test.category == category and test.suite == suite
            else replace(test, category=category, suite=suite)
            for test in self._tests
        )
        return Source(
            path=self._path,
            tests=tuple(tests),
            places=self._places,
            content_digest=self._content_digest,
            suite=self._suite,
            names_suite=self._names_suite,
            suite_label=self._suite_label,
            suite_place=self._suite_place,
        )

    def _read_file_key(self, member: Member) -> None:
        key = member.key
        if key.startswith("x-"):
            return  # room for anchors that tests refer to
        try:
            keys = FileKeys.model_validate({key: member.node.value})
        except ValidationError as error:
            for fault in faults_of(error, lambda _: FILE_KEYS, PATTERNS):
                place = member.key_place if fault.of_key else member.node.place(fault.path[1:])
                self.problems.add(place, str(fault))
            return
        self._category = keys.category or self._category
        self._suite = keys.suite or self._suite
        if keys.suite is not None:
            self._names_suite = self._is_suite_known = True
        if keys.suite_version:
            self._suite_label, self._suite_place = keys.suite_version, member.key_place

    def _read_repeated_tests(self, member: Member) -> None:
        """`tests` that is not a literal list: an alias of one, or a mistake."""
        tests: object = member.node.value
        place = member.node.place()
        if not isinstance(tests, list) or not tests:
            message = (
                f"tests: must be a list of at least one test, is {type_name(member.node.value)}"
            )
            self.problems.add(place, message)
            return
        for item in cast(list[object], tests):
            self._read_test(Node(value=item, marks=member.node.marks))

    def _read_test(self, node: Node) -> None:
        if not isinstance(node.value, dict):
            message = f"a test must be a mapping with the keys {', '.join(NEEDED_KEYS)}"
            self.problems.add(node.place(), f"{message}, is {type_name(node.value)}")
            return
        body = cast(dict[str, Any], node.value)
        place = node.place(("id",))
        self._check_id(body.get("id"), place)
        keys = None
        try:
            keys = TestKeys.model_validate(body)
        except ValidationError as error:
            self._add(node, faults_of(error, _keys_at, PATTERNS))
        if self._check_standard(body, node) and keys is not None and not self.problems:
            self._tests.append(self._test(keys, body))
            self._places.append(place)

    def _check_id(self, test_id: object, place: Place) -> None:
        if not isinstance(test_id, str):
            return
        first = self._first_places.setdefault(test_id, place)
        if first is not place:
            self.problems.add(place, f"duplicate id {test_id!r}; first: {first}")

    def _check_standard(self, body: dict[str, Any], node: Node) -> bool:
        """Whether `expected` fits `validation`; each fault is a problem at its own position."""
        validation, expected = body.get("validation", DEFAULT_VALIDATION), body.get("expected")
        if not isinstance(validation, str) or not isinstance(expected, dict):
            return False
        pass_score = body.get("pass_score")
        if isinstance(pass_score, bool) or not isinstance(pass_score, int | float):
            pass_score = None  # the check of the keys reports it
        try:
            read_standard(validation, cast(dict[str, object], expected), pass_score=pass_score)
        except InvalidStandard as error:
            self._add(node, error.faults)
            return False
        return True

    def _add(self, node: Node, faults: Iterable[Fault]) -> None:
        for fault in faults:
            self.problems.add(fault.place(node), str(fault))

    def _test(self, keys: TestKeys, body: dict[str, Any]) -> Test:
        """The test to keep; strings and tuples that many tests have in common are shared."""
        values: dict[str, Any] = {key: getattr(keys, key) for key in keys.model_fields_set}
        values["expected"] = body["expected"]
        values["category"] = sys.intern(self._category or self._path.stem)
        values["suite"] = sys.intern(self._suite)
        if "timeout" in values:
            values["timeout_seconds"] = values.pop("timeout")
        if "quarantine" in values:
            quarantine: QuarantineKeys = values.pop("quarantine")
            values["quarantined_until"] = sys.intern(quarantine.until)
            values["quarantine_reason"] = quarantine.reason
        if "validation" in values:
            values["validation"] = sys.intern(keys.validation)
        for key in ("agents", "tags"):
            if values.get(key) is not None:
                values[key] = self._shared(values[key])
        return Test(**values)

    def _shared(self, words: list[str]) -> tuple[str, ...]:
        listed = tuple(map(sys.intern, words))
        return self._tuples.setdefault(listed, listed)
