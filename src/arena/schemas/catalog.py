"""Tests on the wire."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from arena.catalog.test import Test
from arena.schemas.scores import Interval
from arena.schemas.wire import Wire


class TestList(Wire):
    """A page of tests."""

    tests: list[Test]
    count: int = Field(description="How many are in this answer.", examples=[17])
    total: int = Field(description="How many there are in all.", examples=[17])
    next_cursor: str | None = Field(default=None, description="Where the next page begins.")


class CatalogSource(Wire):
    """A file the catalog was read from."""

    file: str
    tests: int
    state: Literal["good", "last_good", "bad"] = Field(
        description="last_good: the file is bad now, its last good content is served."
    )


class CatalogProblem(Wire):
    """Something wrong with a test file."""

    file: str
    line: int
    column: int
    message: str


class CatalogState(Wire):
    """What the catalog holds, and what is wrong with its files."""

    digest: str
    loaded_at: datetime
    tests: int
    sources: list[CatalogSource]
    problems: list[CatalogProblem]


class AuditFinding(Wire):
    """Why a test measures nothing."""

    test_id: str = Field(examples=["bench_nav_001"])
    agent: str = Field(
        description="The agent that passes without understanding; `nobody`: no answer can pass.",
        examples=["echo"],
    )
    answer: str = Field(description="What it said; at most 500 characters.")
    reason: str = Field(description="Why that is enough, in the words of the verdict.")


class TestAudit(Wire):
    """Which tests can be passed by an agent that does nothing; no model is asked."""

    digest: str = Field(description="Of the catalog that was looked at.")
    findings: list[AuditFinding]
    audited: int = Field(description="How many active tests were looked at.")
    left_out: list[str] = Field(description="Tests that only a model or a person can judge.")
    pending: int = Field(description="How many are still to be looked at: ask again.")


class StandingRow(Wire):
    """How a test went with one agent version in its latest full run."""

    agent_id: str
    agent_version: str
    run_id: UUID
    result_id: UUID = Field(description="The trial to look at: the first that failed, if any.")
    trials: int
    passed: int
    rest_percent: float | None = Field(description="What it passed of the run's other tests.")
    is_current: bool = Field(description="Whether the test said then what it says now.")


class Standing(Wire):
    """What is known of a test: how hard it is, and whether it tells agents apart."""

    test_id: str
    rows: list[StandingRow]
    counted: int = Field(description="Rows behind the statistics: those of the present test.")
    pass_percent: float | None
    interval: Interval | None = Field(description="Of that percentage.")
    discrimination: float | None = Field(
        description="Correlation of passing it with passing the rest, from -1 to 1; null where "
        "fewer than three agents were asked, or all did the same."
    )
