"""Rows about one agent version, and the weights of all scores."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from arena.scoring.history import Subject
from arena.scoring.scorecard import COMPONENT_NAMES, Weights
from arena.store.tables.scores import ScoreWeights


async def stored_weights(connection: AsyncConnection) -> Weights:
    """The weights of the stored scores."""
    row = (await connection.execute(select(ScoreWeights.__table__))).one()
    return Weights.from_parts(**{name: getattr(row, name) for name in COMPONENT_NAMES})


def is_about(table: Any, subject: Subject) -> list[Any]:
    """The conditions that select a table's rows about the subject."""
    return [getattr(table, name) == value for name, value in subject.columns.items()]
