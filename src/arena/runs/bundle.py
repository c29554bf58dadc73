"""A bundle: a completed run as one document that another Arena can check.

JSON lines, each of them canonical JSON, so that a run has exactly one bundle:

    {"kind": "arena.run/1", "run": …, "suite": …}      the header
    {"test": …, "trials": 1}                           each test of the run, in order
    {"result": …, "record": …}                         each result, in the order of recording
    {"other_test": …}                                  tests of the suite that are not in the run
    {"end": {"sha256": …, "lines": …, "checks": …}}    what everything before it hashes to

The other tests show that they do not apply to the agent. They come last because they are not part
of the run: which of them are still known may change between two exports of the same run.
"""

import functools
import hashlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from pydantic import Field, TypeAdapter, ValidationError

from arena.catalog.keys import TEST_ID, Label, SuiteName
from arena.content.canonical import canonical, read_canonical
from arena.content.errors import NotCanonical
from arena.documents.problem import KeyPath
from arena.documents.validation import dotted, faults_of
from arena.errors import InvalidInput
from arena.fields import MAX_TEST_ID
from arena.runs.run import Result, Run

KIND = "arena.run/1"
CHECK_DIGITS = 8
"""Of each line's hash, in the last line: enough to say which line was changed."""
MAX_LINES = 250_000
NUL = b"\\u0000"

Part = TypeVar("Part")
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TestId = Annotated[str, Field(pattern=TEST_ID, max_length=MAX_TEST_ID)]
Count = Annotated[int, Field(ge=1, le=MAX_LINES)]


class InvalidBundle(InvalidInput):
    """What was pushed is not a bundle, or does not say the truth."""

    code = "invalid_bundle"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePart:
    """The suite version that the run is of."""

    name: SuiteName
    version: Hash
    label: Label | None
    manifest: Annotated[dict[TestId, Hash], Field(min_length=1, max_length=MAX_LINES)]
    """The fingerprint of each test, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line."""

    kind: Literal["arena.run/1"] = KIND
    run: Run
    suite: SuitePart
    tests: Count
    """How many lines with tests follow."""
    results: Count
    """How many lines with results follow them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestLine:
    """A test of the run, as it was frozen."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    test: dict[str, Any]
    trials: Annotated[int, Field(ge=1, le=1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultLine:
    """A result, with the record of its verdict where there is one."""

    result: Result
    record: str | None
    """The record's canonical JSON, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTestLine:
    """A test of the suite version that is not in the run: only what its fingerprint is of."""

    id: TestId
    other_test: dict[str, Any]


@functools.cache
def _shape(kind: type[object]) -> TypeAdapter[Any]:
    # Built on first use: it takes milliseconds, and most commands use no bundle.
    return TypeAdapter(kind)


class BundleWriter:
    """Makes the lines of a bundle, one after the other."""

    def __init__(self) -> None:
        self._whole = hashlib.sha256()
        self._checks: list[str] = []

    def line(self, part: Header | TestLine | ResultLine | OtherTestLine) -> bytes:
        """The next line."""
        line = canonical(_shape(type(part)).dump_python(part, mode="json")) + b"\n"
        self.count(line)
        return line

    def count(self, line: bytes) -> None:
        """Include a line in the hashes of the last one."""
        self._whole.update(line)
        self._checks.append(_check(line))

    def end(self) -> bytes:
        """The last line."""
        return _last_line(self._whole.hexdigest(), self._checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle whose bytes are those that were written; its lines are read when they are needed."""

    data: bytes
    starts: "array[int]"
    """Where each line begins, and where the last one does."""
    header: Header

    @property
    def run_digest(self) -> str:
        """The SHA-256 of the run: of everything except the other tests and the last line."""
        end = self.starts[1 + self.header.tests + self.header.results]
        return hashlib.sha256(memoryview(self.data)[:end]).hexdigest()

    @property
    def tests(self) -> range:
        """The numbers of the lines with tests, from 0."""
        return range(1, 1 + self.header.tests)

    @property
    def results(self) -> range:
        """The numbers of the lines with results."""
        return range(self.tests.stop, self.tests.stop + self.header.results)

    @property
    def other_tests(self) -> range:
        """The numbers of the lines with tests that are not in the run."""
        return range(self.results.stop, len(self.starts) - 1)

    def chunks(self, numbers: range, size: int) -> Iterator[tuple[int, list[bytes]]]:
        """The lines in chunks of about `size` bytes, each with the number of its first line."""
        first = numbers.start
        while first < numbers.stop:
            last = first + 1
            while last < numbers.stop and self.starts[last + 1] - self.starts[first] <= size:
                last += 1
            yield first, [self._line(number) for number in range(first, last)]
            first = last

    def _line(self, number: int) -> bytes:
        return self.data[self.starts[number] : self.starts[number + 1] - 1]


def open_bundle(data: bytes) -> Bundle:
    """The bundle in these bytes; an error that says what is wrong with them, and where."""
    starts = _check_bytes(data)
    if len(starts) < 2:
        raise InvalidBundle("the bundle has no header: it is empty")
    header = read_line(Header, 0, data[: starts[1] - 1])
    needed = 1 + header.tests + header.results
    if needed > len(starts) - 1:
        raise InvalidBundle(
            f"line 1: the header announces {header.tests} tests and {header.results} results, but "
            f"{len(starts) - 2} lines follow"
        )
    return Bundle(data=data, starts=starts, header=header)


def read_line(kind: type[Part], number: int, line: bytes) -> Part:
    """The part in a line, which must be canonical JSON and of this kind."""
    place, shape = f"line {number + 1}", _shape(kind)
    try:
        document = read_canonical(line)
        part = shape.validate_json(line)
    except NotCanonical as error:
        raise InvalidBundle(f"{place}: {error.message}") from None
    except ValidationError as error:
        raise InvalidBundle(f"{place}: {first_fault(error)}") from None
    # Written again it must be the same: no unknown key, and no value of another type. A key may be
    # missing: an earlier Arena did not know it.
    if path := _unlike(document, shape.dump_python(part, mode="json")):
        raise InvalidBundle(f"{place}: {dotted(path)} is unknown here, or of another type")
    # PostgreSQL cannot store NUL; in canonical JSON it can only be written like this.
    if NUL in line and _has_nul(document):
        raise InvalidBundle(f"{place}: a text must not contain NUL")
    return part


def first_fault(error: ValidationError, patterns: Mapping[str, str] | None = None) -> str:
    """The first of pydantic's errors, with its path; `patterns` describes regexes."""
    return str(next(iter(faults_of(error, lambda _: (), patterns))))


def _unlike(document: object, written: object, at: KeyPath = ()) -> KeyPath | None:
    """The first place where a document has what its value does not have when it is written."""
    if isinstance(document, dict) and isinstance(written, dict):
        pairs = cast("dict[str, object]", document), cast("dict[str, object]", written)
        if unknown := next((key for key in pairs[0] if key not in pairs[1]), None):
            return (*at, unknown)
        inside: Iterator[Any] = ((key, value, pairs[1][key]) for key, value in pairs[0].items())
    elif isinstance(document, list) and isinstance(written, list):
        items = cast("list[object]", document), cast("list[object]", written)
        if len(items[0]) != len(items[1]):
            return at
        inside = zip(range(len(items[0])), *items, strict=True)
    else:
        is_same = type(cast(object, document)) is type(written)
        return None if is_same and document == written else at
    found = (_unlike(ours, theirs, (*at, key)) for key, ours, theirs in inside)
    return next((path for path in found if path is not None), None)


def _check_bytes(data: bytes) -> "array[int]":
    """Where each line begins, if the last line is the one that belongs to the others."""
    count = data.count(b"\n")
    if count > MAX_LINES:
        raise InvalidBundle(f"the bundle has {count:,} lines, at most {MAX_LINES:,} are allowed")
    if not data.endswith(b"\n"):
        raise InvalidBundle(f"the bundle is cut off in line {count + 1}: it has no last line")
    starts, checks, place = array("Q", [0]), list[str](), 0
    for _ in range(count - 1):
        end = data.index(b"\n", place) + 1
        checks.append(_check(memoryview(data)[place:end]))
        starts.append(end)
        place = end
    digest = hashlib.sha256(memoryview(data)[:place]).hexdigest()
    if data[place:] != _last_line(digest, checks):
        raise InvalidBundle(_what_changed(data[place:-1], digest, checks))
    return starts


def _what_changed(last: bytes, digest: str, checks: list[str]) -> str:
    """What is wrong with a bundle whose last line is not the right one."""
    try:
        end: Any = read_canonical(last)
        recorded, count, joined = (end["end"][name] for name in ("sha256", "lines", "checks"))
        was = [joined[n : n + CHECK_DIGITS] for n in range(0, len(joined), CHECK_DIGITS)]
    except (NotCanonical, TypeError, KeyError, ValueError):
        return f"line {len(checks) + 1}: not the last line of a bundle; it is cut off or changed"
    where = next(
        (n for n, pair in enumerate(zip(checks, was, strict=False), start=1) if pair[0] != pair[1]),
        min(len(checks), len(was)) + 1,
    )
    if count != len(checks):
        return (
            f"line {where}: the bundle has {len(checks)} lines before its last one, and was "
            f"written with {count}: lines are missing or were added"
        )
    if digest != recorded and where <= len(checks):
        return f"line {where}: changed since the bundle was written; its hash is another one"
    return f"line {len(checks) + 1}: the hash in the last line is not that of the bundle"


def _last_line(digest: str, checks: list[str]) -> bytes:
    end = {"sha256": digest, "lines": len(checks), "checks": "".join(checks)}
    return canonical({"end": end}) + b"\n"


def _check(line: bytes | memoryview) -> str:
    return hashlib.sha256(line).hexdigest()[:CHECK_DIGITS]


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        value = [*members, *members.values()]
    return isinstance(value, list) and any(map(_has_nul, cast("list[object]", value)))
