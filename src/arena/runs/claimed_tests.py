"""The tests of a pushed run: as valid as those of a file, and those of the suite that it names.

A bundle is hostile until it is proved otherwise. Its lines are read in worker processes if they are
many, and everything that follows from them is computed again: digests, fingerprints and the version
of the suite here, counters, points and scores in `claimed_results.py`. Whether verdicts follow from
their answers is checked in `replaying.py`.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from arena import clock
from arena.agents.agent import ID_PATTERN, VERSION_PATTERN
from arena.catalog.catalog import Catalog
from arena.catalog.keys import PATTERNS, TEST_ID, FileKeys, TestKeys, Word
from arena.catalog.suite import KnownVersion, short_version
from arena.catalog.test import (
    ACTING_FIELDS,
    DECIDING_FIELDS,
    FIELDS,
    LATER_FIELDS,
    Test,
    fingerprint_of,
)
from arena.catalog.tool_reading import check_tools
from arena.errors import Conflict, InvalidInput
from arena.evaluation.request_limits import read_request, refuse_large
from arena.evaluation.standard import TestCases, leaves
from arena.fields import MAX_NAME_LENGTH, MAX_TEST_ID, MAX_VERSION_LENGTH
from arena.pools.effort import BYTES_PER_VALUE
from arena.pools.workers import TooMuchWork, off_loop
from arena.runs.bundle import (
    Bundle,
    Hash,
    Header,
    InvalidBundle,
    OtherTestLine,
    TestLine,
    first_fault,
    read_line,
)
from arena.runs.run import Run, RunStatus
from arena.workspaces.description import read_workspace

CHUNK_BYTES = 512 * 1024
"""Of the lines that are read together."""
CLOCK_SKEW = timedelta(minutes=1)
"""How far the clocks of two machines may differ."""

Fact = (
    Annotated[str, Field(max_length=500)]
    | Annotated[int, Field(ge=-(2**53), le=2**53)]
    | float
    | None
    | Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)]
)
FactName = Annotated[str, Field(pattern=r"^[a-z_]+$", max_length=50)]
Environment = Annotated[dict[FactName, Fact], Field(max_length=50)]


class Names(BaseModel):
    """What a run is called and how it was started: taken as claimed, within the usual limits."""

    agent_id: Annotated[str, Field(pattern=ID_PATTERN, max_length=MAX_NAME_LENGTH)]
    agent_version: Annotated[str, Field(pattern=VERSION_PATTERN, max_length=MAX_VERSION_LENGTH)]
    agent_digest: Hash | None
    trials: Annotated[int, Field(ge=1, le=1000)] | None
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None
    category: Word | None
    judge_family: Annotated[str, Field(max_length=50)] | None
    environment: Environment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTest:
    """A test of a pushed run."""

    test: Test
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTests:
    """The tests of a pushed run, in order, and what they say about it."""

    by_id: Mapping[str, ClaimedTest]
    suite: KnownVersion
    is_full: bool
    """Whether it is proved that every other test of the suite does not apply to the agent."""
    unproved: int
    """Tests of the suite that may apply to the agent, for all that is known."""


async def check_tests(bundle: Bundle) -> ClaimedTests:
    """The tests of a bundle, each as valid as one of a file, and its suite version."""
    header = bundle.header
    suite = check_header(header)
    by_id: dict[str, ClaimedTest] = {}
    async for first, read in read_chunks(bundle, bundle.tests, _read_tests):
        for number, claimed in enumerate(read, start=first):
            _check_test(f"line {number + 1}", header, claimed, by_id)
            by_id[claimed.test.id] = claimed
    count = sum(claimed.trials for claimed in by_id.values())
    if count != header.results:
        raise InvalidBundle(
            f"line 1: the tests have {count} trials in all, and the bundle {header.results} "
            "results: there must be one for each"
        )
    others: dict[str, Mapping[str, Any]] = {}
    async for first, read in read_chunks(bundle, bundle.other_tests, _read_other_tests):
        for number, other in enumerate(read, start=first):
            if other.id in by_id or other.id in others:
                raise InvalidBundle(
                    f"line {number + 1}: {other.id}: the bundle has this test already"
                )
            _check_other(f"line {number + 1}", header, other)
            others[other.id] = other.other_test
    unproved = suite.size - len(by_id) - len(others)
    return ClaimedTests(
        by_id=by_id,
        suite=suite,
        is_full=header.run.is_full and not unproved,
        unproved=unproved if header.run.is_full else 0,
    )


def check_header(header: Header) -> KnownVersion:
    """The suite version of a bundle, if its header is plausible."""
    run, given = header.run, header.suite
    suite = KnownVersion(name=given.name, label=given.label, fingerprints=given.manifest)
    if suite.version != given.version:
        raise InvalidBundle(
            f"line 1: suite.version is {short_version(given.version)}, but the manifest is of "
            f"version {short_version(suite.version)}"
        )
    _check_names(run)
    if run.status is not RunStatus.COMPLETED or run.started_at is None or run.completed_at is None:
        raise InvalidBundle(f"line 1: the run is {run.status}; only a completed one can be pushed")
    if not run.created_at <= run.started_at <= run.completed_at:
        raise InvalidBundle("line 1: a run is created, then started, then completed; not so here")
    if run.completed_at > clock.now() + CLOCK_SKEW:
        raise InvalidBundle(f"line 1: run.completed_at is in the future: {run.completed_at}")
    if run.created_at.year < 2000:
        raise InvalidBundle(f"line 1: run.created_at is too long ago: {run.created_at}")
    return suite


def _check_names(run: Run) -> None:
    try:
        Names.model_validate({name: getattr(run, name) for name in Names.model_fields})
    except ValidationError as error:
        raise InvalidBundle(f"line 1: run.{first_fault(error)}") from None


async def read_chunks(
    bundle: Bundle, numbers: range, read: Any
) -> AsyncIterator[tuple[int, Sequence[Any]]]:
    """The parts of some lines, in chunks; a large chunk is read in a worker process."""
    for first, lines in bundle.chunks(numbers, CHUNK_BYTES):
        size = sum(map(len, lines))
        try:
            yield first, await off_loop(size // BYTES_PER_VALUE, read, first, lines)
        except TooMuchWork as error:
            raise InvalidBundle(f"line {first + 1}: reading it and the next {error}") from None


def _read_other_tests(first: int, lines: Sequence[bytes]) -> list[OtherTestLine]:
    return [read_line(OtherTestLine, number, line) for number, line in enumerate(lines, first)]


def _read_tests(first: int, lines: Sequence[bytes]) -> list[ClaimedTest]:
    return [_read_test(number, line) for number, line in enumerate(lines, first)]


def _read_test(number: int, line: bytes) -> ClaimedTest:
    """A test that a file could hold, within the limits of a caller's standard."""
    read = read_line(TestLine, number, line)
    body, place = read.test, f"line {number + 1}"
    missing = set(FIELDS) - body.keys()
    unknown = body.keys() - {*FIELDS, *LATER_FIELDS}
    if missing or unknown:
        names = ", ".join(sorted(missing or unknown))
        word = "needs the key" if missing else "has the unknown key"
        raise InvalidBundle(f"{place}: a test {word} {names}")
    keys = {name: value for name, value in body.items() if name != "category"}
    keys["id"] = _plain_id(place, body["id"])
    keys["timeout"] = keys.pop("timeout_seconds")
    quarantine = {"until": keys.pop("quarantined_until", None)}
    if reason := keys.pop("quarantine_reason", None):
        quarantine["reason"] = reason
    if quarantine != {"until": None}:
        keys["quarantine"] = quarantine
    try:
        TestKeys.model_validate(keys)
        FileKeys.model_validate({"category": body["category"] or ""})
    except ValidationError as error:
        raise InvalidBundle(f"{place}: {first_fault(error, PATTERNS)}") from None
    test = Test.from_json(body)
    try:
        refuse_large("the test", body)
        if body.get("tools") is not None:
            check_tools(body["tools"])
        if body.get("workspace") is not None:
            read_workspace(body["workspace"])
        _ = test.standard  # as strict as a file
        read_request(test.document)
    except InvalidInput as error:
        raise InvalidBundle(f"{place}: {test.id}: {error.message}") from None
    return ClaimedTest(test=test, trials=read.trials)


def _plain_id(place: str, test_id: object) -> object:
    """The id without the row of a data set, which no file has."""
    if not isinstance(test_id, str) or "[" not in test_id:
        return test_id
    if len(test_id) > MAX_TEST_ID or re.match(TEST_ID, test_id) is None:
        raise InvalidBundle(f"{place}: id: must be like id[row], at most {MAX_TEST_ID} characters")
    return test_id.partition("[")[0]


def _check_test(
    place: str, header: Header, claimed: ClaimedTest, known: Mapping[str, ClaimedTest]
) -> None:
    """Refuse a test that the suite version or the run cannot have."""
    test, run = claimed.test, header.run
    where = f"{place}: {test.id}"
    if test.id in known:
        raise InvalidBundle(f"{where}: the run has this test already")
    if test.id not in header.suite.manifest:
        raise InvalidBundle(f"{where}: not a test of the suite, by its manifest")
    if header.suite.manifest[test.id] != test.fingerprint:
        raise InvalidBundle(
            f"{where}: not the test of the suite's manifest: its fingerprint is "
            f"{short_version(test.fingerprint)}"
        )
    if not test.is_for(run.agent_id):
        raise InvalidBundle(f"{where}: not an active test for the agent {run.agent_id}")
    if claimed.trials != (run.trials or test.trials):
        raise InvalidBundle(f"{where}: it has {run.trials or test.trials} trials in such a run")


def _check_other(place: str, header: Header, other: OtherTestLine) -> None:
    """Refuse a test that does not show that it is for other agents."""
    body, where = other.other_test, f"{place}: {other.id}"
    if set(DECIDING_FIELDS) != body.keys() - set(ACTING_FIELDS):
        raise InvalidBundle(f"{where}: must have exactly the keys {', '.join(DECIDING_FIELDS)}")
    if header.suite.manifest.get(other.id) != fingerprint_of(body):
        raise InvalidBundle(f"{where}: not the test of the suite's manifest")
    agents = body["agents"]
    if agents is None or not isinstance(agents, list) or header.run.agent_id in agents:
        raise InvalidBundle(
            f"{where}: it applies to the agent {header.run.agent_id}, but is not in the run"
        )


def refuse_sealed(tests: Sequence[Test], catalog: Catalog) -> None:
    """Refuse pushed tests with hidden cases that are not among the server's own tests.

    A verdict shows the hidden cases: a team could push the commitments of somebody else's standard
    and have them opened with the private parts on this server.
    """
    for test in tests:
        sealed = (leaf for leaf in leaves(test.standard) if isinstance(leaf, TestCases))
        own = catalog.by_id.get(test.id)
        is_own = own is not None and own.fingerprint == test.fingerprint
        if not is_own and any(leaf.sealed for leaf in sealed):
            raise Conflict(
                f"test {test.id} has sealed cases and is not a test of this server: the run "
                "cannot be executed again here"
            )
