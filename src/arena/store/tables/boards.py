"""Suites, the boards of their shown versions, the log of every board, and archived things."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Float, Index, String
from sqlalchemy.orm import Mapped

from arena.store.tables.table import AnyJson, Table, column

BOARD = ("team_id", "suite", "kind", "name")
"""The columns that name a board: of a whole suite, of a category or of a tag."""


class TeamBoards(Table):
    """What a team has decided about its boards."""

    __tablename__ = "agent_team_boards"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    default_suite: Mapped[str | None] = column(String(100))
    """Of the first complete run, until somebody chooses another."""
    ranks_reported: Mapped[bool] = column(default=False)
    """Whether runs that were pushed from elsewhere are ranked."""


class Suites(Table):
    """A suite that has a board."""

    __tablename__ = "agent_suites"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    suite: Mapped[str] = column(String(100), primary_key=True)
    shown_version: Mapped[str] = column(String(64))
    """Its newest version with a complete run."""


class SuiteVersions(Table):
    """A version of a suite that was run."""

    __tablename__ = "agent_suite_versions"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    suite: Mapped[str] = column(String(100), primary_key=True)
    version: Mapped[str] = column(String(64), primary_key=True)
    label: Mapped[str | None] = column(String(100))
    tests: Mapped[int]
    groups_digest: Mapped[str | None] = column(String(64))
    """Of category, tags and cluster of each test, as they were last; None if not known."""
    folder: Mapped[str | None] = column(String(64))
    """The digest of the path that gave the suite its name; None if its files or a project do."""
    is_claimed: Mapped[bool] = column(default=False)
    """Whether it is known from pushed runs only: never newer than what the tests here were."""
    created_at: Mapped[datetime]
    current_since: Mapped[datetime]
    """When it last became the suite's current version: the latest is the newest version."""


class SuiteTests(Table):
    """A test of a version of a suite, whether it was run or not."""

    __tablename__ = "agent_suite_tests"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    suite: Mapped[str] = column(String(100), primary_key=True)
    version: Mapped[str] = column(String(64), primary_key=True)
    test_id: Mapped[str] = column(String(120), primary_key=True)
    fingerprint: Mapped[str] = column(String(64))
    category: Mapped[str | None] = column(String(100))
    """As it was last, like tags and cluster; None if they are not known."""
    tags: Mapped[str | None]
    """A list, as JSON: text, so that it can be grouped by."""
    cluster: Mapped[str | None] = column(String(110))


class BoardEntries(Table):
    """An agent version on the board of a suite's shown version, or of a category or tag of it."""

    __tablename__ = "agent_board_entries"
    __table_args__ = (
        Index("ix_agent_board_entries_overall", *BOARD, "is_ranked", "overall_score"),
        Index("ix_agent_board_entries_low", *BOARD, "is_ranked", "overall_low"),
        Index("ix_agent_board_entries_high", *BOARD, "is_ranked", "overall_high"),
        Index("ix_agent_board_entries_agent", "team_id", "agent_id", "agent_version"),
    )

    team_id: Mapped[str] = column(String(100), primary_key=True)
    suite: Mapped[str] = column(String(100), primary_key=True)
    kind: Mapped[str] = column(String(10), primary_key=True)
    """`whole`, `category` or `tag`."""
    name: Mapped[str] = column(String(100), primary_key=True)
    agent_id: Mapped[str] = column(String(100), primary_key=True)
    agent_version: Mapped[str] = column(String(20), primary_key=True)
    run_id: Mapped[UUID]
    is_ranked: Mapped[bool]
    overall_score: Mapped[float | None]
    overall_low: Mapped[float | None] = column(Float)
    overall_high: Mapped[float | None] = column(Float)
    coverage: Mapped[float]
    run: Mapped[dict[str, Any]]
    """The run that it rests on, with its sums; see `arena.scoring.board.BoardRun`."""


class BoardEvents(Table):
    """Why a board changed; never changed or deleted."""

    __tablename__ = "agent_board_events"
    __table_args__ = (Index("ix_agent_board_events_at", "team_id", "at"),)

    team_id: Mapped[str] = column(String(100), primary_key=True)
    number: Mapped[int] = column(primary_key=True, autoincrement=False)
    """1, 2, 3… per team."""
    at: Mapped[datetime]
    kind: Mapped[str] = column(String(30))
    reason: Mapped[str]
    by: Mapped[str | None] = column(String(100))
    agent_id: Mapped[str | None] = column(String(100))
    agent_version: Mapped[str | None] = column(String(20))
    suite: Mapped[str | None] = column(String(100))
    suite_version: Mapped[str | None] = column(String(64))
    run_id: Mapped[UUID | None]
    before: Mapped[dict[str, Any] | None] = column(AnyJson)
    """Rank and scores of the agent version before it: on the board of its suite, else on the
    default one; None if it had none."""
    after: Mapped[dict[str, Any] | None] = column(AnyJson)


class BoardStates(Table):
    """What an event changed: the value of a key from that event on."""

    __tablename__ = "agent_board_states"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    key: Mapped[str] = column(String(300), primary_key=True)
    """See `arena.scoring.records.log`."""
    number: Mapped[int] = column(primary_key=True, autoincrement=False)
    value: Mapped[dict[str, Any] | None] = column(AnyJson)


class Archive(Table):
    """An agent version or a run that was archived or deleted, by whom, when and why."""

    __tablename__ = "agent_archive"
    __table_args__ = (
        Index("ix_agent_archive_agent", "team_id", "agent_id", "agent_version"),
        Index("ix_agent_archive_run", "run_id"),
    )

    id: Mapped[UUID] = column(primary_key=True)
    team_id: Mapped[str] = column(String(100))
    agent_id: Mapped[str] = column(String(100))
    agent_version: Mapped[str] = column(String(20))
    run_id: Mapped[UUID | None]
    """None: the agent version itself."""
    is_deleted: Mapped[bool]
    by: Mapped[str] = column(String(100))
    reason: Mapped[str]
    at: Mapped[datetime]
    summary: Mapped[dict[str, Any] | None] = column(AnyJson)
    """Of a deleted run: its suite, score and times."""


class Baselines(Table):
    """A run with a name that later runs of its suite version are compared with."""

    __tablename__ = "agent_baselines"

    team_id: Mapped[str] = column(String(100), primary_key=True)
    suite: Mapped[str] = column(String(100), primary_key=True)
    name: Mapped[str] = column(String(100), primary_key=True)
    run_id: Mapped[UUID]
    suite_version: Mapped[str] = column(String(64))
    set_at: Mapped[datetime]
    set_by: Mapped[str] = column(String(100))
