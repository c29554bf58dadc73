"""Tests on the wire."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from arena.catalog.test import Test
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
