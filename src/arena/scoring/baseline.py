"""Baselines: runs with a name that later runs of their suite are compared with."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
"""Of a baseline: what the names of branches and tags are made of."""
RUN_ID = re.compile(r"[0-9a-fA-F-]{4,}")
"""What could also be the beginning of a run's id."""
LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A run that later runs of its suite are compared with."""

    name: Annotated[str, Field(examples=["main"])]
    """Its name; `agent@version` for the run of an agent version on a board."""
    suite: Annotated[str, Field(examples=["lab"])]
    suite_version: str
    """The version of the suite that the run is of."""
    run_id: UUID
    is_deleted: bool = False
    """Whether the run was deleted since: nothing can be compared with it any more."""
    agent_id: str | None = None
    """Of the run; null if it was deleted."""
    agent_version: str | None = None
    score_percent: float | None = None
    set_at: datetime | None = None
    """When the name was given to this run; null for a run on a board."""
    set_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineList:
    """Baselines, by suite and name."""

    baselines: list[Baseline]
    count: int


def check_name(name: str) -> None:
    """Refuse a name that could mean a run or an agent version instead."""
    if not NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a baseline: it has letters, digits, '.', '_', '-' "
            "and '/', and begins with a letter or digit"
        )
    if name == LATEST or RUN_ID.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot be the name of a baseline: it could also be the name of a run"
        )
