"""A bundle is read as it was written, and any other byte is refused."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.catalog.suite import version_of
from arena.content.canonical import canonical
from arena.evaluation.verdict import Finding
from arena.models.step import Step
from arena.runs.bundle import (
    BundleWriter,
    Header,
    InvalidBundle,
    OtherTestLine,
    ResultLine,
    SuitePart,
    TestLine,
    open_bundle,
    read_line,
)
from arena.runs.run import Result, Run, RunStatus
from arena.scoring.history import ExecutionStatus
from factories import a_result, a_test

MOMENT = datetime(2026, 5, 1, 12, 30, 15, 123456, UTC)
TEST = a_test(trials=1)

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
moments = st.datetimes(
    min_value=datetime(2000, 1, 1),  # noqa: DTZ001, hypothesis adds the zone
    timezones=st.just(UTC),
)
numbers = st.floats(0, 100)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
steps = st.builds(Step, tool=texts, arguments=values, result=values, time=st.none() | moments)
findings = st.builds(
    Finding, criterion=texts, passed=st.booleans(), reason=texts, evidence=st.none() | texts
)
results = st.builds(
    Result,
    id=st.uuids(),
    sequence=st.integers(1, 9),
    test_id=texts,
    trial=st.integers(1, 1000),
    category=texts,
    status=st.sampled_from(ExecutionStatus),
    passed=st.booleans(),
    score=numbers,
    points_earned=numbers,
    points_possible=numbers,
    actual_output=st.none() | st.fixed_dictionaries({"output": texts}),
    failure_reason=st.none() | texts,
    findings=st.lists(findings, max_size=2),
    steps=st.none() | st.lists(steps, min_size=1, max_size=2),
    duration_seconds=numbers,
    attempts=st.integers(1, 9),
    input_tokens=st.none() | st.integers(0, 10**9),
    output_tokens=st.none() | st.integers(0, 10**9),
    model=st.none() | texts,
    cost_usd=st.none() | numbers,
    created_at=moments,
    verdict_cid=st.none() | texts,
)
result_lines = st.builds(ResultLine, result=results, record=st.none() | texts)
RUN = Run(
    id=UUID(int=7),
    agent_id="parrot",
    agent_version="1.0.0",
    team_id="",
    status=RunStatus.COMPLETED,
    total_tests=1,
    completed_tests=1,
    passed_tests=1,
    failed_tests=0,
    errored_tests=0,
    score_percent=100.0,
    points_earned=1.0,
    points_possible=1.0,
    points_percent=100.0,
    is_full=True,
    environment={"arena": "1", "retries": 2, "judge": ["m"], "max_wait_seconds": 0.5},
    trials=None,
    concurrency=None,
    category=None,
    input_tokens=None,
    output_tokens=None,
    cost_usd=None,
    costed_tests=0,
    duration_seconds=1.5,
    error_message=None,
    created_at=MOMENT,
    started_at=MOMENT,
    completed_at=MOMENT,
)


def a_header(**changes: Any) -> Header:
    manifest = {TEST.id: TEST.fingerprint}
    suite = SuitePart(
        name="s", version=version_of(sorted(manifest.items())), label=None, manifest=manifest
    )
    return Header(**{"run": RUN, "suite": suite, "tests": 1, "results": 1, **changes})


def a_result_line() -> ResultLine:
    return ResultLine(result=a_result(id=UUID(int=8), created_at=MOMENT), record=None)


def written(header: Header, *lines: Any) -> bytes:
    writer = BundleWriter()
    return b"".join([writer.line(header), *map(writer.line, lines), writer.end()])


def a_bundle() -> bytes:
    return written(a_header(), TestLine(test=TEST.as_json(), trials=1), a_result_line())


@given(st.lists(result_lines, min_size=1, max_size=4))
def test_any_results_are_read_as_they_were_written(lines: list[ResultLine]):
    test = TestLine(test=TEST.as_json(), trials=1)
    other = OtherTestLine(id="other", other_test={"agents": ["a"]})
    data = written(a_header(results=len(lines)), test, *lines, other)
    bundle = open_bundle(data)
    assert bundle.header == a_header(results=len(lines))
    for kind, numbers, expected in (
        (TestLine, bundle.tests, [test]),
        (ResultLine, bundle.results, lines),
        (OtherTestLine, bundle.other_tests, [other]),
    ):
        for size in (1, 10**6):
            chunks = [
                read_line(kind, first + place, line)
                for first, part in bundle.chunks(numbers, size)
                for place, line in enumerate(part)
            ]
            assert chunks == expected
    assert data == written(a_header(results=len(lines)), test, *lines, other)


def test_every_flipped_byte_is_refused():
    data = a_bundle()
    open_bundle(data)
    for place in range(len(data)):
        for bit in (1, 32):
            changed = bytearray(data)
            changed[place] ^= bit
            with pytest.raises(InvalidBundle):
                open_bundle(bytes(changed))


def test_every_missing_and_every_added_byte_is_refused():
    data = a_bundle()
    for place in range(len(data)):
        with pytest.raises(InvalidBundle):
            open_bundle(data[:place] + data[place + 1 :])
        with pytest.raises(InvalidBundle):
            open_bundle(data[:place] + b" " + data[place:])
    for end in range(len(data)):
        with pytest.raises(InvalidBundle):
            open_bundle(data[:end])


def edited(data: bytes, change: Any) -> bytes:
    lines = data.splitlines(keepends=True)
    change(lines)
    return b"".join(lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines.__setitem__(1, lines[1].replace(b"Say", b"Cry")), "line 2: changed"),
        (lambda lines: lines.insert(2, b"{}\n"), "line 3: .* missing or were added"),
        (lambda lines: lines.pop(1), "line 2: .* missing or were added"),
        (lambda lines: lines.insert(1, lines.pop(2)), "line 2: changed"),
        (lambda lines: lines.pop(), "line 3: not the last line"),
        (lambda lines: lines.append(b"{}\n"), "line 5: not the last line"),
        (
            lambda lines: lines.__setitem__(3, re.sub(rb'6":"[0-9a-f]{2}', b'6":"00', lines[3])),
            "line 4: the hash in the last line",
        ),
    ],
)
def test_a_refusal_says_what_was_changed_and_where(change: Any, message: str):
    with pytest.raises(InvalidBundle, match=message):
        open_bundle(edited(a_bundle(), change))


def test_a_header_that_announces_more_than_follows_is_refused():
    with pytest.raises(InvalidBundle, match="announces 1 tests and 3 results, but 2 lines follow"):
        open_bundle(
            written(a_header(results=3), TestLine(test=TEST.as_json(), trials=1), a_result_line())
        )


def test_the_digest_of_a_run_does_not_cover_the_other_tests():
    lines = TestLine(test=TEST.as_json(), trials=1), a_result_line()
    other = OtherTestLine(id="other", other_test={"agents": ["a"]})
    digests = [
        open_bundle(data).run_digest
        for data in (
            written(a_header(), *lines),
            written(a_header(), *lines, other),
            written(a_header(tests=2, results=1), *lines, other),
        )
    ]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line | {"trials": 1.0}, "trials is unknown here"),
        (lambda line: line | {"trials": True}, "trials is unknown here"),
        (lambda line: line | {"trials": "1"}, "trials is unknown here"),
        (lambda line: line | {"more": None}, "more is unknown here"),
        (lambda line: {"test": line["test"]}, "needs the key 'trials'"),
        (lambda line: line | {"test": []}, "test: must be a mapping"),
    ],
)
def test_a_line_has_only_the_known_keys_with_values_of_their_types(change: Any, message: str):
    line = {"test": TEST.as_json(), "trials": 1}
    assert read_line(TestLine, 1, canonical(line)) == TestLine(**line)
    with pytest.raises(InvalidBundle, match=f"line 2: .*{message}"):
        read_line(TestLine, 1, canonical(change(line)))


def test_endless_lines_are_refused_by_their_number():
    with pytest.raises(InvalidBundle, match="has 300,000 lines"):
        open_bundle(b"\n" * 300_000)
