"""The results of a pushed run: only what the engine can have recorded, added up again."""

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from arena.agents.connector import MAX_OUTPUT_BYTES
from arena.catalog.keys import NOT_BLANK
from arena.catalog.test import Test
from arena.evaluation.standard import MAX_TURNS
from arena.fields import MAX_NAME_LENGTH
from arena.models.step import BadSteps, as_json, kept_steps, read_steps
from arena.runs.bundle import Bundle, Header, InvalidBundle, ResultLine, first_fault, read_line
from arena.runs.claimed_tests import CLOCK_SKEW, ClaimedTests, read_chunks
from arena.runs.run import Result, Run
from arena.runs.verdicts import answered_in
from arena.runs.workspace import MAX_LISTED
from arena.scoring.components import MICROPOINTS, share_score
from arena.scoring.history import ExecutionStatus

EXECUTED = (ExecutionStatus.COMPLETED, ExecutionStatus.FAILED, ExecutionStatus.TIMEOUT)
"""How an item of a run can end."""
MAX_INTEGER = 2_000_000_000
MAX_NUMBER = 10**12
"""Fits every column, and exceeds what any run has."""
MAX_MODEL_LENGTH = 200


class PlayedUser(BaseModel, extra="forbid", strict=True):
    """What is kept about a simulated user."""

    model: Annotated[str, Field(max_length=MAX_MODEL_LENGTH)] | None
    ended: Literal["finished", "max_turns", "agent_failed"]
    turns: Annotated[int, Field(ge=0, le=MAX_TURNS)]
    score: Annotated[float, Field(ge=0, le=100)]
    findings: Annotated[list[dict[str, str | bool]], Field(max_length=MAX_TURNS)]
    answers: Annotated[int, Field(ge=0, le=MAX_INTEGER)]
    input_tokens: Annotated[int, Field(ge=0, le=MAX_INTEGER)] | None
    output_tokens: Annotated[int, Field(ge=0, le=MAX_INTEGER)] | None
    cost_usd: Annotated[float, Field(ge=0, le=MAX_NUMBER)] | None
    judge_score: Annotated[float, Field(ge=0, le=100)] | None = None
    judge_reason: str = ""
    judge_error: str = ""


class Output(BaseModel, extra="forbid", strict=True):
    """An answer, as a result has it."""

    output: Annotated[str, Field(pattern=NOT_BLANK)]
    truncated: Literal[True] = True
    language: Annotated[str, Field(max_length=MAX_NAME_LENGTH)] = ""
    steps_problem: str = ""
    user: PlayedUser | None = None


class NoOutput(BaseModel, extra="forbid", strict=True):
    """What is kept of a conversation that failed."""

    user: PlayedUser


class KeptChange(BaseModel, extra="forbid", strict=True):
    """One changed file of a workspace."""

    path: str
    kind: Literal["added", "changed", "deleted"]


class KeptFile(BaseModel, extra="forbid", strict=True):
    """One collected file of a workspace."""

    path: str
    size: Annotated[int, Field(ge=0, le=MAX_NUMBER)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class KeptWorkspace(BaseModel, extra="forbid", strict=True):
    """What a result keeps of a workspace."""

    diff: str
    changes: Annotated[list[KeptChange], Field(max_length=MAX_LISTED)]
    problems: Annotated[list[str], Field(max_length=MAX_LISTED)]
    is_protected: bool
    files: Annotated[list[KeptFile], Field(max_length=MAX_LISTED)]


async def read_results(bundle: Bundle) -> AsyncIterator[tuple[int, ResultLine]]:
    """Each result of a bundle, with the number of its line."""
    async for first, read in read_chunks(bundle, bundle.results, _read_results):
        for number, line in enumerate(read, start=first + 1):
            yield number, line


@dataclass(slots=True, kw_only=True)
class Totals:
    """The numbers of a run, added up from its results."""

    passed: int = 0
    failed: int = 0
    points_earned: float = 0.0
    points_possible: float = 0.0
    duration_seconds: float = 0.0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    costed: int = 0
    repeated_attempts: int = 0
    seen: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    def add(self, result: Result, points: float) -> None:
        """Count a result of a test that is worth `points`."""
        self.passed += result.passed is True
        self.failed += result.passed is not True
        self.points_earned += points if result.passed else 0.0
        self.points_possible += points
        self.duration_seconds = round(self.duration_seconds + result.duration_seconds, 6)
        for name in ("input_tokens", "output_tokens", "cost_usd"):
            if (value := getattr(result, name)) is not None:
                setattr(self, name, (getattr(self, name) or 0) + value)
        self.costed += result.cost_usd is not None
        self.repeated_attempts += result.attempts - 1

    @property
    def score_percent(self) -> float:
        """As the engine computes it."""
        return float(share_score(self.passed, self.passed + self.failed) or 0)

    @property
    def points_percent(self) -> float:
        """As the engine computes it."""
        possible = round(self.points_possible * MICROPOINTS)
        # Sums of floats may exceed the whole by a rounding error.
        earned = min(round(self.points_earned * MICROPOINTS), possible)
        return float(share_score(earned, possible) or 0)

    @property
    def columns(self) -> dict[str, float | None]:
        """The numbers of the run, by the names of its fields."""
        count = self.passed + self.failed
        return {
            "total_tests": count,
            "completed_tests": count,
            "passed_tests": self.passed,
            "failed_tests": self.failed,
            "score_percent": self.score_percent,
            "points_earned": self.points_earned,
            "points_possible": self.points_possible,
            "points_percent": self.points_percent,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "costed_tests": self.costed,
            "repeated_attempts": self.repeated_attempts,
            "results_duration_seconds": self.duration_seconds,
        }

    def check(self, run: Run) -> None:
        """Refuse a run whose own numbers are others."""
        if self.repeated_attempts > MAX_INTEGER:
            raise InvalidBundle("the results have more attempts than a run can have")
        for name, value in self.columns.items():
            if name == "repeated_attempts":
                continue  # runs of 0.1 did not count them
            claimed = getattr(run, name)
            if not is_same_number(claimed, value):
                raise InvalidBundle(
                    f"line 1: run.{name} is {claimed}, but its results add up to {value}"
                )


def check_result(place: str, header: Header, tests: ClaimedTests, line: ResultLine) -> Test:
    """The test of a result; refuses what the engine cannot have recorded."""
    result, run = line.result, header.run
    claimed = tests.by_id.get(result.test_id)
    where = f"{place}: {result.test_id}, trial {result.trial}"
    if claimed is None:
        raise InvalidBundle(f"{where}: the run has no such test")
    if result.trial > claimed.trials:
        raise InvalidBundle(f"{where}: the test has {claimed.trials} trials in this run")
    if problem := _contradiction(result, claimed.test):
        raise InvalidBundle(f"{where}: {problem}")
    if (line.record is None) is not (result.verdict_cid is None):
        raise InvalidBundle(f"{where}: a record and its verdict_cid belong together")
    earliest = run.created_at - CLOCK_SKEW
    latest = (run.completed_at or run.created_at) + CLOCK_SKEW
    if not earliest <= result.created_at <= latest:
        raise InvalidBundle(f"{where}: it was recorded at {result.created_at}, not during the run")
    return claimed.test


def _contradiction(result: Result, test: Test) -> str | None:
    """What in a result cannot be, if its other fields are true."""
    if problem := _outside(result):
        return problem
    if result.status not in EXECUTED:
        return f"a test of a run cannot end as {result.status}"
    if result.passed is None or result.score is None:
        return "it has no verdict, and the run is completed"
    if (result.category, result.points_possible) != (test.category, test.points):
        return "its category or points_possible are not those of its test"
    if not is_same_number(result.points_earned, test.points if result.passed else 0.0):
        return f"points_earned is {result.points_earned:g}; the test is worth {test.points:g}"
    if result.passed and result.failure_reason is not None:
        return "it passed, so it can have no failure_reason"
    if problem := _conversation_problem(result, test) or _workspace_problem(result, test):
        return problem
    is_answered = result.status is ExecutionStatus.COMPLETED
    return _answer_problem(result) if is_answered else _silence_problem(result)


def _silence_problem(result: Result) -> str | None:
    """What a result without an answer cannot have."""
    has_steps = result.steps and not result.messages  # an earlier turn may have steps
    if answered_in(result) or has_steps or result.findings or result.passed or result.score:
        return "it has no answer, so it can have neither steps nor a verdict"
    if result.actual_output and (problem := _fault(NoOutput, result.actual_output)):
        return f"it has no answer of the usual form: {problem}"
    return "it has no answer, so it can have no record" if result.verdict_cid else None


def _conversation_problem(result: Result, test: Test) -> str | None:
    """What in the messages of a result does not fit its test or its answer."""
    if test.turns is None and test.user is None:
        return "it has messages, and its test is no conversation" if result.messages else None
    said = [one.content for one in result.messages or () if one.role == "user"]
    if test.turns is not None and tuple(said) != test.turns[: len(said)]:
        return "its user does not say the turns of its test"
    if result.status is ExecutionStatus.COMPLETED:
        last = result.messages[-1] if result.messages else None
        output = (result.actual_output or {}).get("output")
        if last is None or (last.role, last.content) != ("assistant", output):
            return "its answer is not the last message of its conversation"
    return None


def _workspace_problem(result: Result, test: Test) -> str | None:
    """What in the files of a result does not fit its test, or has another form."""
    if result.workspace is None:
        return None
    if test.workspace is None:
        return "it has a workspace, and its test has none"
    problem = _fault(KeptWorkspace, result.workspace)
    return f"its workspace is not of the usual form: {problem}" if problem else None


def _fault(form: type[BaseModel], value: object) -> str | None:
    """Why a value does not have this form; None if it has."""
    try:
        form.model_validate(value)
    except ValidationError as error:
        return first_fault(error)
    return None


def _outside(result: Result) -> str | None:
    """Which number of a result is outside of what can be stored."""
    for one in fields(result):
        value = getattr(result, one.name)
        most = MAX_INTEGER if isinstance(value, int) else MAX_NUMBER
        if isinstance(value, int | float) and not 0 <= value <= most:
            return f"{one.name} must be between 0 and {most:,}"
    if result.attempts < 1 or (result.score or 0) > 100:
        return "attempts must be 1 or more, and score at most 100"
    return "model is too long" if len(result.model or "") > MAX_MODEL_LENGTH else None


def _answer_problem(result: Result) -> str | None:
    """Why a result cannot have this answer."""
    if problem := _fault(Output, result.actual_output):
        return f"it is completed, but has no answer of the usual form: {problem}"
    if len((result.actual_output or {})["output"]) > MAX_OUTPUT_BYTES:
        return f"its answer is longer than {MAX_OUTPUT_BYTES:,} bytes"
    try:
        read_steps([as_json(step) for step in result.steps or ()])
    except BadSteps as error:
        return str(error)
    return kept_steps(result.steps or ())[1]


def _read_results(first: int, lines: Sequence[bytes]) -> list[ResultLine]:
    return [read_line(ResultLine, number, line) for number, line in enumerate(lines, first)]


def is_same_number(claimed: float | None, counted: float | None) -> bool:
    """Whether two numbers are equal but for rounding: sums of floats depend on their order."""
    if claimed is None or counted is None:
        return claimed is counted
    return math.isclose(claimed, counted, rel_tol=1e-9, abs_tol=2e-6)
