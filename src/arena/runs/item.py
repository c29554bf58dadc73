"""Items of a run and their results, together with their tests."""

from dataclasses import dataclass
from uuid import UUID

from arena.catalog.test import Test
from arena.runs.run import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One test in one trial of a run."""

    test: Test
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """A result to be written to the database, with its test."""

    test: Test
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedResult:
    """A result with its test, and its neighbours among the filtered results."""

    result: Result
    test: Test
    previous_id: UUID | None
    next_id: UUID | None
