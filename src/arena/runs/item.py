"""Items of a run and their results, together with the tests they are of."""

from dataclasses import dataclass
from uuid import UUID

from arena.catalog.test import Test
from arena.runs.run import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to do in a run: a test, in one of its trials."""

    test: Test
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """An item's result on its way to the database, with the test it answers."""

    test: Test
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedResult:
    """A result with the test it answers, and its neighbours among the results wanted."""

    result: Result
    test: Test
    previous_id: UUID | None
    next_id: UUID | None
