"""JUnit XML: one suite per run, and a case per test and trial.

It is valid by the schemas of Jenkins and of Ant, which differ: Ant's has no attributes on
`testsuites` and no time zone in `timestamp`, and needs everything that is written here on
`testsuite`. The cases are written to a temporary file first, so that the counts are those of the
cases, and memory does not grow with the outputs.

A case fails by the fault of the agent and has an error by that of the infrastructure. It is skipped
if people have yet to judge it, or if it failed while its test was quarantined.
"""

import re
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC
from tempfile import TemporaryFile
from typing import BinaryIO, Literal
from xml.sax.saxutils import escape

from arena import __version__
from arena.cli import output
from arena.cli.conversation import plain_text
from arena.cli.export.exported import CUT, ExportedRun, cut, output_of
from arena.cli.run_report import provenance_text, workspace_text
from arena.models.step import step_line
from arena.runs.differences import few
from arena.runs.run import QuarantinedTest, Result, Run, RunError
from arena.text import to_unicode

MAX_MESSAGE = 300
MAX_REASON = 4000
MAX_OUTPUT = 4000
MOST_STEPS = 20
"""Characters of a failure's text; CI systems show them in a list."""

INVALID = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, even escaped."""
IN_ATTRIBUTE = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}

Kind = Literal["passed", "failure", "error", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One `testcase`."""

    test_id: str
    trial: int | None = None
    category: str
    kind: Kind = "passed"
    type: str = ""
    message: str = ""
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """Where a case was written, and what is counted."""

    order: tuple[str, str, int]
    kind: Kind
    seconds: float
    start: int
    length: int


async def pieces(exported: ExportedRun) -> AsyncIterator[str]:
    """The whole file: its head with the counts, then the cases by category, test and trial."""
    run = exported.details.run
    with TemporaryFile() as file:
        written: list[_Written] = []
        async for case in _cases(exported):
            written.append(_write(file, run, case))
        yield _head(exported, written)
        for one in sorted(written, key=lambda one: one.order):
            file.seek(one.start)
            yield file.read(one.length).decode()
    yield "    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n"


async def _cases(exported: ExportedRun) -> AsyncIterator[Case]:
    details = exported.details
    is_repeated = details.trials is not None or any(one.trial > 1 for one in details.errors)
    count = 0
    async for result in exported.results():
        count += 1
        yield _case(result, exported.quarantined.get(result.test_id), is_repeated)
    for error in details.errors:
        yield _errored(error, is_repeated)
    missing = details.run.total_tests - count - len(details.errors)
    if missing > 0:
        yield _missing(details.run, missing)


def _case(result: Result, quarantined: QuarantinedTest | None, is_repeated: bool) -> Case:
    kind: Kind = "passed"
    reason = text = type_ = ""
    if result.passed is None:
        kind, reason = "skipped", "waits for people to judge it"
    elif not result.passed:
        kind, type_ = "failure", "failed" if result.status == "completed" else result.status
        reason = result.failure_reason or "failed"
        text = "\n\n".join(_explained(result))
        if quarantined is not None:
            kind, type_ = "skipped", ""
            why = f" ({quarantined.reason})" if quarantined.reason else ""
            reason = f"quarantined until {quarantined.until}{why}; failed: {reason}"
    return Case(
        test_id=result.test_id,
        trial=result.trial if is_repeated else None,
        category=result.category,
        kind=kind,
        type=type_,
        message=reason,
        text=text,
        seconds=result.duration_seconds,
    )


def _explained(result: Result) -> Iterator[str]:
    yield cut(result.failure_reason or "failed", MAX_REASON)
    if result.messages:
        said = plain_text(result.messages, result.steps or ())
        # Its end: that is where a conversation fails.
        yield f"conversation:\n{said if len(said) <= MAX_OUTPUT else CUT + said[-MAX_OUTPUT:]}"
    elif answer := output_of(result):
        yield f"output:\n{cut(answer, MAX_OUTPUT)}"
    if result.steps:
        lines = [f"{n}. {step_line(one)}" for n, one in enumerate(result.steps[:MOST_STEPS], 1)]
        lines += [f"and {len(result.steps) - MOST_STEPS:,} more"] * (len(result.steps) > MOST_STEPS)
        yield "steps:\n" + "\n".join(cut(line, MAX_MESSAGE) for line in lines)
    if result.workspace is not None:
        yield f"files: {cut(workspace_text(result.workspace), MAX_REASON)}"


def _errored(error: RunError, is_repeated: bool) -> Case:
    return Case(
        test_id=error.test_id,
        trial=error.trial if is_repeated else None,
        category=error.category or "not executed",
        kind="error",
        type="infrastructure",
        message=error.reason,
        text=f"not executed after {output.counted(error.attempts, 'attempt')}: {error.reason}",
    )


def _missing(run: Run, count: int) -> Case:
    """One case for everything that has no result: a run that did not finish must not look good."""
    reason = f"{output.counted(count, 'result')} missing: the run is {run.state}"
    return Case(
        test_id="missing results",
        category="run",
        kind="error",
        type="missing",
        message=reason,
        text="\n".join(filter(None, (reason, run.error_message))),
    )


def _write(file: BinaryIO, run: Run, case: Case) -> _Written:
    start = file.tell()
    length = file.write(_element(run, case).encode())
    return _Written(
        order=(case.category, case.test_id, case.trial or 0),
        kind=case.kind,
        seconds=case.seconds,
        start=start,
        length=length,
    )


def _element(run: Run, case: Case) -> str:
    name = case.test_id if case.trial is None else f"{case.test_id} (trial {case.trial})"
    attributes = _attributes(
        classname=f"{run.agent_id}.{case.category}", name=name, time=f"{case.seconds:.3f}"
    )
    if case.kind == "passed":
        return f"    <testcase{attributes}/>\n"
    first = cut(_valid(case.message).strip().partition("\n")[0], MAX_MESSAGE)
    # Ant's schema has no type on `skipped`, and needs one on the others.
    kind = {"type": case.type} if case.type else {}
    inner = f"<{case.kind}{_attributes(**kind, message=first)}>"
    inner += f"{valid_text(case.text)}</{case.kind}>"
    return f"    <testcase{attributes}>{inner}</testcase>\n"


def _head(exported: ExportedRun, written: list[_Written]) -> str:
    run = exported.details.run
    counts = Counter(one.kind for one in written)
    started = (run.started_at or run.created_at).astimezone(UTC)
    suite = _attributes(
        name=run.agent_id,
        package=run.agent_id,
        id="0",
        timestamp=f"{started:%Y-%m-%dT%H:%M:%S}",
        hostname="localhost",
        tests=str(len(written)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
        time=f"{sum(one.seconds for one in written):.3f}",
    )
    properties = "".join(
        f"      <property{_attributes(name=name, value=value)}/>\n"
        for name, value in _properties(exported).items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f"  <testsuite{suite}>\n    <properties>\n{properties}    </properties>\n"
    )


def _properties(exported: ExportedRun) -> dict[str, str]:
    run, gate, compared = exported.details.run, exported.gate, exported.compared
    properties = {
        "agent": run.agent_id,
        "version": run.agent_version,
        "run": str(run.id),
        "suite": run.suite,
        "suite_version": run.suite_version,
        "provenance": provenance_text(run),
        "status": run.state,
        "team": run.team_id,
        "arena": __version__,
    }
    if run.score_percent is not None:
        properties["score_percent"] = f"{run.score_percent:g}"
    if gate is not None:
        properties["gate"] = {True: "met", False: "missed", None: "not decided"}[gate.passed]
        properties["gate_reason"] = "; ".join(map(str, gate.parts))
    if compared is not None:
        properties["baseline"] = compared.name
        properties["baseline_run"] = str(compared.comparison.baseline.id)
        worse = [one.test_id for one in compared.regression.worse]
        properties["worse"] = few(worse) if worse else "0"
    return properties


def _attributes(**values: str) -> str:
    return "".join(
        f' {name}="{escape(_valid(value), IN_ATTRIBUTE)}"' for name, value in values.items()
    )


def valid_text(text: str) -> str:
    """Any text as the content of an element."""
    return escape(_valid(text))


def _valid(text: str) -> str:
    text = to_unicode(text).replace("\r\n", "\n").replace("\r", "\n")
    return INVALID.sub("\N{REPLACEMENT CHARACTER}", text)
