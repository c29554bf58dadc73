"""One YAML file to its tests, or to every problem it has."""

import contextlib
import hashlib
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from arena.catalog.problem import TOP, GivenUp, Place, ProblemList
from arena.catalog.schema import ALLOWED, FILE_KEYS, FileKeys, TestKeys, misfits, shown
from arena.catalog.source import Source, TestPlaces
from arena.catalog.test import Test
from arena.catalog.yaml_reader import Member, Node, YamlReader, place_of_byte
from arena.evaluation.fields import InvalidStandard, dotted
from arena.evaluation.reading import read_standard

MAX_FILE_BYTES = 1024 * 1024
"""A test file may be this large: some five thousand tests."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_source(path: Path) -> Source:
    """The tests of the file, or all its problems; never raises for what a file may be."""
    reading = _Reading(path)
    with contextlib.suppress(GivenUp):  # the last problem says why
        reading.read(_content(path, reading.problems))
    return reading.result()


def _content(path: Path, problems: ProblemList) -> bytes:
    """The bytes of a file that is worth parsing."""
    try:
        # Asked before it is opened: opening a named pipe would wait for ever.
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise problems.give_up(TOP, f"is {kind}; a test file is wanted by this name")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as wrong:
        reason = wrong.strerror or str(wrong)
        if isinstance(wrong, FileNotFoundError) and path.is_symlink():
            reason = f"it is a link to {path.readlink()}, which does not exist"
        raise problems.give_up(TOP, f"cannot be read: {reason}") from wrong
    if len(data) > MAX_FILE_BYTES:
        told = f"is larger than {MAX_FILE_BYTES // 1024**2} MiB: split it into several files"
        raise problems.give_up(TOP, told)
    return data


class _Reading:
    """One file while it is read."""

    def __init__(self, path: Path) -> None:
        self.problems = ProblemList(str(path))
        self._path = path
        self._content_digest = ""
        self._tests: list[Test] = []
        self._places = TestPlaces()
        self._first_places: dict[str, Place] = {}
        self._file_keys = FileKeys()
        self._tuples: dict[tuple[str, ...], tuple[str, ...]] = {}

    def read(self, data: bytes) -> None:
        """Go through the file from its top to its end."""
        self._content_digest = hashlib.sha256(data).hexdigest()
        self._check_encoding(data)
        found_tests = False
        reader = YamlReader(data.removeprefix(BYTE_ORDER_MARK), self.problems)
        for member in reader.members("tests"):
            if member.index is not None:
                self._read_test(member.node)
            elif member.key == "tests":
                self._read_repeated_tests(member)
            else:
                self._read_file_key(member)
            found_tests = found_tests or member.key == "tests"
        if not found_tests:
            self.problems.add(TOP, f"has no tests; 'tests' must be {ALLOWED['tests']}")

    def result(self) -> Source:
        """What came of it. A file with a problem gives no tests: half a file would mislead."""
        problems = self.problems.in_order()
        category = sys.intern(self._category)
        tests = (
            test if test.category == category else replace(test, category=category)
            for test in (() if problems else self._tests)
        )
        return Source(
            path=self._path,
            tests=tuple(tests),
            places=TestPlaces() if problems else self._places,
            problems=problems,
            bad_ids=self._first_places if problems else {},
            category=category,
            description=self._file_keys.description,
            content_digest=self._content_digest,
        )

    @property
    def _category(self) -> str:
        return self._file_keys.category or self._path.stem

    def _check_encoding(self, data: bytes) -> None:
        try:
            data.decode()
        except UnicodeDecodeError as wrong:
            told = f"is not UTF-8: the byte 0x{data[wrong.start]:02x} at offset {wrong.start}"
            place = place_of_byte(data, wrong.start)
            raise self.problems.give_up(place, f"{told}; save the file as UTF-8") from wrong

    def _read_file_key(self, member: Member) -> None:
        key = member.key
        if key.startswith("x-"):
            return  # room for anchors that tests refer to
        try:
            given = FileKeys.model_validate({key: member.node.value})
        except ValidationError as wrong:
            for misfit in misfits(wrong, FILE_KEYS):
                place = member.key_place if misfit.of_key else member.node.place(misfit.path[1:])
                self.problems.add(place, misfit.message)
            return
        self._file_keys = self._file_keys.model_copy(update=given.model_dump(exclude_unset=True))

    def _read_repeated_tests(self, member: Member) -> None:
        """`tests` that is not a list written here: an alias of one, or a mistake."""
        tests: object = member.node.value
        place = member.node.place()
        if not isinstance(tests, list) or not tests:
            told = f"tests must be {ALLOWED['tests']}; it is {shown(member.node.value, 'tests')}"
            self.problems.add(place, told)
            return
        for item in cast(list[object], tests):
            self._read_test(Node(value=item, places={(): place}))

    def _read_test(self, node: Node) -> None:
        if not isinstance(node.value, dict):
            known = f"a test must be a mapping with the keys {', '.join(NEEDED_KEYS)}"
            self.problems.add(node.place(), f"{known}; it is {shown(node.value, 'tests')}")
            return
        body = cast(dict[str, object], node.value)
        self._check_id(body.get("id"), node.place(("id",)))
        try:
            keys = TestKeys.model_validate(body)
        except ValidationError as wrong:
            for misfit in misfits(wrong, TEST_KEYS):
                self.problems.add(node.place(misfit.path, of_key=misfit.of_key), misfit.message)
            self._check_standard(body, node)
            return
        if self._check_standard(body, node) and not self.problems:
            self._tests.append(self._test(keys, body))
            self._places.append(node.place(("id",)))

    def _check_id(self, test_id: object, place: Place) -> None:
        if not isinstance(test_id, str):
            return
        first = self._first_places.setdefault(test_id, place)
        if first is not place:
            self.problems.add(place, f"the id {test_id!r} stands here twice; first: {first}")

    def _check_standard(self, body: dict[str, object], node: Node) -> bool:
        """Whether `expected` fits `validation`; each fault is a problem at its own place."""
        validation = body.get("validation", "contains")
        if not isinstance(validation, str) or not isinstance(body.get("expected"), dict):
            return False
        try:
            read_standard(validation, body["expected"], pass_score=_number(body.get("pass_score")))
        except InvalidStandard as wrong:
            for fault in wrong.faults:
                place = node.place(fault.path, of_key=fault.of_key)
                at = dotted(fault.path[:-1] if fault.of_key else fault.path)
                self.problems.add(place, f"{at}: {fault.message}" if at else fault.message)
            return False
        return True

    def _test(self, keys: TestKeys, body: dict[str, object]) -> Test:
        """The test to keep; what many tests have in common is shared between them."""
        return Test(
            id=keys.id,
            name=keys.name,
            prompt=keys.prompt,
            expected=cast(dict[str, object], body["expected"]),
            validation=sys.intern(keys.validation),
            category=sys.intern(self._category),
            description=keys.description,
            timeout_seconds=keys.timeout,
            points=keys.points,
            agents=None if keys.agents is None else self._shared(keys.agents),
            active=keys.active,
            tags=self._shared(keys.tags),
            trials=keys.trials,
            budget_tokens=keys.budget_tokens,
            case_sensitive=keys.case_sensitive,
            whole_word=keys.whole_word,
            pass_score=keys.pass_score,
        )

    def _shared(self, words: list[str]) -> tuple[str, ...]:
        listed = tuple(map(sys.intern, words))
        return self._tuples.setdefault(listed, listed)


def _number(value: object) -> float | None:
    """The value where it is a number; what is wrong with another is told by the keys' own check."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value


TEST_KEYS = tuple(TestKeys.model_fields)
NEEDED_KEYS = tuple(key for key, field in TestKeys.model_fields.items() if field.is_required())
