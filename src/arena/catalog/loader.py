"""Reads the tests of one YAML file, or all its problems."""

import contextlib
import hashlib
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import (
    ValidationError,
)

from arena.catalog.conversation import (
    Desugared,
    script_of,
    turn_texts,
)
from arena.catalog.folders import TASK_FILE
from arena.catalog.inlining import Inlining
from arena.catalog.keys import (
    DATA_KEYS,
    FILE_KEYS,
    NEEDED_KEYS,
    NO_MARK,
    PATTERNS,
    FileKeys,
    QuarantineKeys,
    TestKeys,
    keys_at,
)
from arena.catalog.looks import look_of
from arena.catalog.source import Source, TestPlaces
from arena.catalog.test import DEFAULT_VALIDATION, Test
from arena.documents.problem import (
    TOP,
    FileProblem,
    GivenUp,
    Place,
    ProblemList,
    read_content,
)
from arena.documents.validation import Fault, faults_of, type_name
from arena.documents.yaml_reader import Member, Node, YamlReader
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard

if TYPE_CHECKING:
    from arena.catalog.data_reading import DataReading
    from arena.catalog.tests import Part

MAX_FILE_BYTES = 1024 * 1024
"""A test file may be this large: some five thousand tests."""


def read_source(path: Path, suite: str = "") -> Source:
    """The tests of the file, or all its problems; never raises because of a file's content.

    `suite` is the suite of a file that names none.
    """
    if path.name == TASK_FILE:
        return _read_harbor(path, suite)
    reading = _Reading(path, suite)
    with contextlib.suppress(GivenUp):  # the last problem says why
        reading.read(read_content(path, reading.problems, max_bytes=MAX_FILE_BYTES))
    return reading.result()


def check_apart(
    file: "_Reading", path: Path, node: Node, is_known: bool
) -> Test | tuple[FileProblem, ...]:
    """The test in a mapping, or its problems, which are not added to those of the file.

    The standard of a test that `is_known` was checked before.
    """
    reading = _Reading(path, "")
    test = None
    with contextlib.suppress(GivenUp):
        test = reading.checked(node, is_known=is_known)
    if not is_known:
        file.note_files(reading)
    return test or reading.problems.in_order()


def _read_harbor(path: Path, suite: str) -> Source:
    """The test of a Harbor task folder."""
    # Imported here: few folders are Harbor tasks.
    from arena.catalog.harbor import read_task

    look = {path.parent: look_of(path.parent)}
    task = read_task(path)
    if task.problems:
        return Source(
            path=path,
            problems=tuple(task.problems),
            content_digest=task.digest,
            suite=suite,
            looks=look,
        )
    reading = _Reading(path, suite)
    with contextlib.suppress(GivenUp):
        reading.read_mapping(task.keys, task.category)
    return replace(reading.result(), content_digest=task.digest, looks=look)


class _Reading:
    """The state while one file is read."""

    def __init__(self, path: Path, suite: str) -> None:
        self.problems = ProblemList(str(path))
        self._path = path
        self._suite = suite
        self._content_digest = ""
        self._parts: list[Part] = []
        self._places = TestPlaces()
        self._first_places: dict[str, Place] = {}
        self._category: str | None = None
        self._vars: dict[str, Any] | None = None
        self._data: DataReading | None = None
        self._is_suite_known = False
        self._names_suite = False
        self._suite_label: str | None = None
        self._suite_place = TOP
        self._tuples: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._looks: dict[Path, str] = {}

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

    def read_mapping(self, keys: dict[str, Any], category: str) -> None:
        """Read one test that is not in a YAML file."""
        self._category, self._is_suite_known = category, True
        self._read_test(Node(value=keys, marks={(): NO_MARK}))

    def result(self) -> Source:
        """The result. A file with a problem gives no tests: half a file would mislead."""
        data = self._data
        content_digest = self._content_digest if data is None else data.digest(self._content_digest)
        data_files = () if data is None else tuple(data.files.values())
        if self.problems:
            return Source(
                path=self._path,
                problems=(*self.problems.in_order(), *(data.problems if data else ())),
                bad_ids=self._first_places,
                content_digest=content_digest,
                data_files=data_files,
                suite=self._suite if self._is_suite_known else None,
                names_suite=self._names_suite,
                looks=self._looks,
            )
        # Category and suite may come after the tests.
        category, suite = sys.intern(self._category or self._path.stem), sys.intern(self._suite)
        parts = (
            part
            if part.category == category and part.suite == suite
            else replace(part, category=category, suite=suite)
            if isinstance(part, Test)
            else part.placed(category, suite)
            for part in self._parts
        )
        return Source(
            path=self._path,
            parts=tuple(parts),
            places=self._places,
            content_digest=content_digest,
            data_files=data_files,
            suite=self._suite,
            names_suite=self._names_suite,
            suite_label=self._suite_label,
            suite_place=self._suite_place,
            looks=self._looks,
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
        if keys.vars is not None:
            self._vars = keys.vars
            if self._first_places:
                self.problems.add(member.key_place, "vars: must come before the tests that use it")
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
        body, place = cast(dict[str, Any], node.value), node.place(("id",))
        if self._vars is None and body.keys().isdisjoint(DATA_KEYS):
            part: Part | None = self.checked(node)
        else:
            self._check_id(body.get("id"), place)
            category = sys.intern(self._category or self._path.stem)
            part = self._data_reading().read(node, self._vars, category)
        if part is not None and not self.problems:
            self._parts.append(part)
            self._places.append(place)

    def checked(self, node: Node, *, is_known: bool = False) -> Test | None:
        """The test in a mapping; None (and problems) if it is not one."""
        body = self._inlined(cast(dict[str, Any], node.value), node)
        self._check_id(body.get("id"), node.place(("id",)))
        conversation = Desugared(body) if "turns" in body or "user" in body else None
        if conversation is not None:
            body = conversation.body
            self._add(node, conversation.faults)
        keys = None
        try:
            keys = TestKeys.model_validate(body)
        except ValidationError as error:
            self._add(node, faults_of(error, keys_at, PATTERNS))
        is_good = is_known or self._check_standard(body, node, conversation)
        if is_good and keys is not None and not self.problems:
            return self._test(keys, body)
        return None

    def _data_reading(self) -> "DataReading":
        if self._data is None:
            # Imported here: few files have variables or data.
            from arena.catalog.data_reading import DataReading

            self._data = DataReading(self._path, self.problems, partial(check_apart, self))
        return self._data

    def note_files(self, reading: "_Reading") -> None:
        """Note the files that a row of data names."""
        self._looks |= reading._looks
        if reading._content_digest:
            content = self._content_digest + reading._content_digest
            self._content_digest = hashlib.sha256(content.encode()).hexdigest()

    def _inlined(self, body: dict[str, Any], node: Node) -> dict[str, Any]:
        """The test with the files that it names; a change of them is a change of the test."""
        inlining = Inlining(body, self._path.parent)
        self._add(node, inlining.faults)
        self._looks |= inlining.looks
        if inlining.digest:
            content = self._content_digest.encode() + inlining.digest
            self._content_digest = hashlib.sha256(content).hexdigest()
        return inlining.body

    def _check_id(self, test_id: object, place: Place) -> None:
        if not isinstance(test_id, str):
            return
        first = self._first_places.setdefault(test_id, place)
        if first is not place:
            self.problems.add(place, f"duplicate id {test_id!r}; first: {first}")

    def _check_standard(
        self, body: dict[str, Any], node: Node, conversation: Desugared | None
    ) -> bool:
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
            faults = error.faults
            self._add(node, conversation.placed(faults) if conversation else faults)
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
        if "turns" in values:
            values["turns"] = turn_texts(keys.turns)
        if "user" in values:
            values["user"] = script_of(keys.user)
        if "validation" in values:
            values["validation"] = sys.intern(keys.validation)
        if "tools" in values:
            values["tools"] = tuple(body["tools"])
        for key in ("agents", "tags"):
            if values.get(key) is not None:
                values[key] = self._shared(values[key])
        return Test(**values)

    def _shared(self, words: list[str]) -> tuple[str, ...]:
        listed = tuple(map(sys.intern, words))
        return self._tuples.setdefault(listed, listed)
