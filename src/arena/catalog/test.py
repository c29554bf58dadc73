"""One test: a prompt, the standard its answer is held to, and its limits."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena.documents.problem import FileProblem

if TYPE_CHECKING:
    from arena.evaluation.standard import Standard

DEFAULT_TOKENS_PER_POINT = 2000
"""The token budget of a test that names none: this times its points."""


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
    validation: Annotated[str, Field(alias="validation_type", examples=["contains"])] = "contains"
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
    """Null leaves it to the validation: `exact` minds case, the others do not."""
    whole_word: bool = False
    pass_score: float | None = None
    """The score that is enough; null leaves it to the standard."""

    @property
    def standard(self) -> "Standard":
        """What an answer is held to. Made on demand: thousands of tests stay small in memory."""
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
        """The standard as a document of its own, as `read_standard_document` takes it."""
        body = dict(self.expected)
        if self.pass_score is not None and self.validation in GRADED:
            body["pass_score"] = self.pass_score
        document: dict[str, object] = {"validation": self.validation, "expected": body}
        if self.case_sensitive is not None:
            document["case_sensitive"] = self.case_sensitive
        if self.whole_word:
            document["whole_word"] = True
        return document

    @property
    def token_budget(self) -> float:
        """The tokens an answer may take before it counts as wasteful."""
        if self.budget_tokens is not None:
            return float(self.budget_tokens)
        return DEFAULT_TOKENS_PER_POINT * self.points

    def is_for(self, agent_id: str) -> bool:
        """Whether this agent is to answer it."""
        return self.active and (self.agents is None or agent_id in self.agents)

    def as_json(self) -> dict[str, object]:
        """The test as it is stored with a run, in values JSON can hold."""
        body = {name: getattr(self, name) for name in FIELDS}
        body["agents"] = None if self.agents is None else list(self.agents)
        body["tags"] = list(self.tags)
        return body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "Test":
        """The test that `as_json` wrote."""
        values = dict(body)
        for name in ("agents", "tags"):
            if values[name] is not None:
                values[name] = tuple(values[name])
        return cls(**values)

    @property
    def digest(self) -> str:
        """A hash of all that the test says: two tests with one digest are one test."""
        return digest_of(self.as_json())


def digest_of(body: Mapping[str, object]) -> str:
    """The digest of the test that `as_json` gave this body of."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


GRADED = ("test_cases", "judge_prompt", "checklist", "all_of")
"""Validations whose body may carry the test's `pass_score`."""

FIELDS = tuple(field.name for field in fields(Test))


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
    """How many tests it offers."""
    state: Literal["good", "last_good", "bad"]
    """last_good: the file is bad now, its last good tests are served. bad: it offers none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogState:
    """What the catalog holds, and what is wrong with its files."""

    digest: str
    loaded_at: datetime
    tests: int
    sources: list[CatalogSource]
    problems: list[FileProblem]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """Why a test measures nothing."""

    test_id: Annotated[str, Field(examples=["bench_nav_001"])]
    agent: Annotated[str, Field(examples=["echo"])]
    """The null agent that passes the test; `nobody` if no answer at all can."""
    answer: str
    """What the null agent said; at most 500 characters."""
    reason: str
    """Why that is enough, in the words of the verdict; or why nothing is."""

    def __str__(self) -> str:
        return f"{self.test_id}: {self.agent} can pass it: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TestAudit:
    """Which tests can be passed by an agent that does nothing; no model is asked."""

    __test__: ClassVar[bool] = False

    digest: str
    """Of the catalog that was audited."""
    findings: list[AuditFinding]
    audited: int
    """How many active tests were audited."""
    left_out: list[str]
    """Tests that only a model or a person can judge, or that could not be judged here."""
    pending: int
    """How many are still to be audited: ask again."""
