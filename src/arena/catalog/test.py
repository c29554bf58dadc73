"""One test: a prompt, its standard and its limits."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena.documents.problem import FileProblem

if TYPE_CHECKING:
    from arena.evaluation.standard import Standard

DEFAULT_VALIDATION = "contains"
DEFAULT_TOKENS_PER_POINT = 2000
"""The token budget of a test that sets none: this times its points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test of the catalog."""

    __test__: ClassVar[bool] = False  # keeps pytest from collecting the class

    id: Annotated[str, Field(alias="test_id", examples=["bench_nav_001"])]
    name: Annotated[str, Field(examples=["List User Interfaces"])]
    prompt: Annotated[str, Field(alias="input_prompt")]
    expected: Annotated[
        dict[str, Any],
        Field(alias="expected_output", examples=[{"contains": ["userinterface", "list"]}]),
    ]
    """The body of the standard, as written in the file."""
    validation: Annotated[str, Field(alias="validation_type", examples=["contains"])] = (
        DEFAULT_VALIDATION
    )
    category: Annotated[str, Field(examples=["navigation"])] = "custom"
    description: str | None = None
    timeout_seconds: int = 30
    points: float = 1.0
    agents: Annotated[tuple[str, ...] | None, Field(alias="applicable_agent_types")] = None
    """The agents it is meant for; null means every agent, an empty list none."""
    active: bool = True
    tags: tuple[str, ...] = ()
    trials: int = 1
    budget_tokens: int | None = None
    case_sensitive: bool | None = None
    """Null: the default of the validation; only `exact` is case-sensitive."""
    whole_word: bool = False
    pass_score: float | None = None
    """The score to pass; null: that of the standard."""
    suite: str = ""
    """The suite it belongs to."""
    group: str | None = None
    """Tests of one group are not independent: variants of a prompt, rows of a data set."""
    quarantined_until: Annotated[str | None, Field(examples=["2026-12-31"])] = None
    """The last day on which it is quarantined: until then it informs and does not block a gate."""
    quarantine_reason: str | None = None
    turns: tuple[str, ...] | None = None
    """Everything that the user says, turn by turn; the first is the prompt."""
    user: dict[str, Any] | None = None
    """A simulated user, who speaks instead of `turns`."""
    tools: tuple[dict[str, Any], ...] | None = None
    """Tools that Arena plays for the agent."""
    workspace: dict[str, Any] | None = None
    """The folder that the agent works in, and what is collected from it."""
    solution: dict[str, Any] | None = None
    """A right answer, for the audit."""

    @property
    def standard(self) -> "Standard":
        """Its standard. Built on demand, so that thousands of tests stay small in memory."""
        # Imported on first use: lists of tests and of agents need no standard.
        from arena.evaluation.reading import read_standard

        return read_standard(
            self.validation,
            self.expected,
            case_sensitive=self.case_sensitive,
            whole_word=self.whole_word,
            pass_score=self.pass_score,
        )

    @property
    def document(self) -> dict[str, object]:
        """The standard as a document for `read_standard_document`."""
        body = dict(self.expected)
        if self.pass_score is not None:
            body["pass_score"] = self.pass_score
        document: dict[str, object] = {"validation": self.validation, "expected": body}
        if self.case_sensitive is not None:
            document["case_sensitive"] = self.case_sensitive
        if self.whole_word:
            document["whole_word"] = True
        return document

    @property
    def token_budget(self) -> float:
        """The tokens an answer may use before it loses points for cost."""
        if self.budget_tokens is not None:
            return float(self.budget_tokens)
        return DEFAULT_TOKENS_PER_POINT * self.points

    def is_for(self, agent_id: str) -> bool:
        """Whether it is active and for this agent."""
        return self.active and (self.agents is None or agent_id in self.agents)

    def is_quarantined(self, on: date) -> bool:
        """Whether it is quarantined on this day."""
        return is_quarantined(self.quarantined_until, on)

    def as_json(self) -> dict[str, object]:
        """The test as stored with a run, in JSON values."""
        body = {name: getattr(self, name) for name in FIELDS}
        body["agents"] = None if self.agents is None else list(self.agents)
        body["tags"] = list(self.tags)
        for name in LATER_FIELDS:
            if (value := getattr(self, name)) is not None:
                body[name] = value
        for name in ("turns", "tools"):
            if name in body:
                body[name] = [*body[name]]
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Test":
        """The inverse of `as_json`."""
        values = dict(body)
        for name in ("agents", "tags", "turns", "tools"):
            if values.get(name) is not None:
                values[name] = tuple(values[name])
        return cls(**values)

    @property
    def digest(self) -> str:
        """A hash of the whole test: tests with equal digests are the same test."""
        return digest_of(self.as_json())

    @property
    def fingerprint(self) -> str:
        """A hash of everything that can change a verdict or a score, apart from the id."""
        return fingerprint_of(self.as_json())

    @property
    def cluster(self) -> str:
        """What it has in common with tests that are not independent of it."""
        return cluster_of(self.as_json())


def digest_of(body: Mapping[str, object]) -> str:
    """The digest of a test, from the body that `as_json` gives."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_of(body: Mapping[str, Any]) -> str:
    """The fingerprint of a test, from the body that `as_json` gives."""
    return digest_of(deciding_of(body))


def deciding_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that can change a verdict or a score, of the body that `as_json` gives."""
    return _deciding(body, DECIDING_FIELDS)


def cluster_of(body: Mapping[str, Any]) -> str:
    """The cluster of a test: its group, else its prompt and standard, whatever it is worth."""
    group = body.get("group")
    if group is not None:
        return f"group {group}"
    return digest_of(_deciding(body, JUDGED_FIELDS))


def _deciding(body: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields with these names, and those of acting agents where the test has them."""
    later = {name: body[name] for name in ACTING_FIELDS if body.get(name) is not None}
    return {name: body.get(name) for name in names} | later


JUDGED_FIELDS = (
    "prompt",
    "expected",
    "validation",
    "case_sensitive",
    "whole_word",
    "pass_score",
)
"""What is asked, and by which standard the answer is judged."""
DECIDING_FIELDS = (*JUDGED_FIELDS, "timeout_seconds", "points", "agents", "budget_tokens")
"""The fields that can change a verdict or a score."""
ACTING_FIELDS = ("turns", "user", "tools", "workspace")
"""What is asked of agents that do more than answer once."""
LATER_FIELDS = ("group", "quarantined_until", "quarantine_reason", *ACTING_FIELDS, "solution")
"""Left out of the stored body if they are not set, so that older tests keep their digests."""
FIELDS = tuple(field.name for field in fields(Test) if field.name not in {"suite", *LATER_FIELDS})
"""The fields of the stored body. The suite is not among them: a run knows its suite."""


def place_number(test_id: str, category: str, tags: Iterable[str], cluster: str) -> int:
    """A hash of where a test belongs, as a number: the sum of many is that of all, in any order."""
    place = json.dumps([test_id, category, list(tags), cluster])
    return int.from_bytes(hashlib.sha256(place.encode()).digest())


def is_quarantined(until: str | None, on: date) -> bool:
    """Whether a quarantine that ends with the day `until` still holds on a day."""
    return until is not None and on <= date.fromisoformat(until)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestList:
    """A page of tests."""

    __test__: ClassVar[bool] = False

    tests: list[Test]
    count: Annotated[int, Field(examples=[17])]
    """How many are in this page."""
    total: Annotated[int, Field(examples=[17])]
    """How many there are in all."""
    next_cursor: str | None = None
    """Where the next page begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSource:
    """A file the catalog was read from."""

    file: str
    tests: int
    """How many tests it has in the catalog."""
    state: Literal["good", "last_good", "bad"]
    """`last_good`: the file is bad now, its last good tests are served. `bad`: it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogState:
    """The content of the catalog, and the problems in its files."""

    digest: str
    loaded_at: datetime
    tests: int
    sources: list[CatalogSource]
    problems: list[FileProblem]
    categories: list[str]
    tags: list[str]


FindingKind = Literal["null", "cheat", "impossible", "solution"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """Why a test measures nothing, or not what it should."""

    test_id: Annotated[str, Field(examples=["bench_nav_001"])]
    agent: Annotated[str, Field(examples=["echo"])]
    """The null agent or the cheat that passes the test; `nobody` if no answer at all can;
    `solution` if the test's own solution does not."""
    answer: str
    """What it answered or did; at most 500 characters."""
    reason: str
    """Why it passes, from the verdict; or why nothing can, or why the solution does not."""
    kind: FindingKind = "null"
    """`null`: an idle agent passes. `cheat`: one that fools the standard does. `impossible`:
    nothing does. `solution`: the test's own solution does not."""
    hint: str = ""
    """How to close the hole."""

    def __str__(self) -> str:
        if self.kind == "solution":
            return f"{self.test_id}: its solution does not pass: {self.reason}"
        return f"{self.test_id}: {self.agent} can pass it: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAudit:
    """The tests that an agent can pass without doing what they ask, or whose solution fails.

    No model is called unless the request says so.
    """

    __test__: ClassVar[bool] = False

    digest: str
    """Of the catalog that was audited."""
    findings: list[AuditFinding]
    audited: int
    """How many active tests were audited."""
    left_out: list[str]
    """Tests that only a model or a person can judge, or that could not be judged here."""
    pending: int
    """How many are not audited yet: ask again."""
    weaknesses: list[AuditFinding] = field(default_factory=list[AuditFinding])
    """Tests that are passed by whoever repeats the words of their standard without sense."""
    solved: int = 0
    """How many have a solution that passes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTest:
    """A test that was made of something that happened, as a file."""

    test_id: str
    yaml: str
    """The content of the file."""
