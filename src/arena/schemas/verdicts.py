"""Verdict records that were checked, on the wire."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from arena.schemas.wire import Wire


class Difference(Wire):
    """A place where a record does not say what comes out."""

    path: str = Field(examples=["verdict.findings[2].passed"])
    recorded: Any
    recomputed: Any


class MadeWith(Wire):
    """The programs that made a verdict."""

    arena: str
    python: str
    platform: str
    sandbox: str


class Verification(Wire):
    """What became of a verdict record that was checked."""

    cid: str
    outcome: Literal["holds", "differs", "cannot_be_replayed"]
    differences: list[Difference] = Field(description="Where it differs; a hundred at most.")
    obstacles: list[str] = Field(description="What kept a part from being replayed.")
    taken: list[str] = Field(
        description="What nobody can replay and was taken as recorded: what models and people said."
    )
    notes: list[str] = Field(description="What is worded otherwise by other versions.")
    standard_cid: str
    submission_cid: str
    score: float = Field(description="As recorded.")
    passed: bool = Field(description="As recorded.")
    made_at: datetime
    made_with: MadeWith
