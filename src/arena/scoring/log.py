"""The log of the boards: every change with its reason, and the board of a past moment.

An event says why something changed; with it, states are stored: the new value of each key that it
changed. The states up to an event are all that a board at that moment needs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from arena.scoring.board import (
    BoardEntry,
    BoardRun,
    Candidate,
    Intervals,
    rank,
    unranked_because,
)
from arena.scoring.components import average_rating
from arena.scoring.history import Subject
from arena.scoring.scorecard import DEFAULT_WEIGHTS, Scorecard, Weights
from arena.scoring.sums import Sums

TEAM_KEY = "team"
"""The key of what a team has decided, and of the weights."""


class BoardEventKind(StrEnum):
    """What changed a board."""

    RUN_COMPLETED = "run_completed"
    RUN_ENDED = "run_ended"
    """A run that does not count, or that did not complete: its executions count."""
    VOTE = "vote"
    EXECUTIONS_REPORTED = "executions_reported"
    TASK_EXECUTED = "task_executed"
    TASK_UNDONE = "task_undone"
    """A reorganisation of the chain took back what a task had added."""
    TESTS_EDITED = "tests_edited"
    WEIGHTS_CHANGED = "weights_changed"
    DEFAULT_CHANGED = "default_changed"
    REPORTED_RANKED = "reported_ranked"
    """The team decided whether reported runs are ranked."""
    ARCHIVED = "archived"
    RESTORED = "restored"
    DELETED = "deleted"
    RECALCULATED = "recalculated"
    UPGRADED = "upgraded"
    """The boards of a database from before there was a log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where an agent version stood on the board of an event's suite, else on the default one."""

    rank: int | None
    overall_score: float | None
    benchmark_score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a board changes."""

    kind: BoardEventKind
    reason: str
    by: str | None = None
    run_id: UUID | None = None
    suite: str | None = None
    suite_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEvent:
    """A change of a board, with its reason."""

    number: int
    """1, 2, 3… per team."""
    at: datetime
    kind: BoardEventKind
    reason: str
    by: str | None
    agent_id: str | None
    agent_version: str | None
    suite: str | None
    suite_version: str | None
    run_id: UUID | None
    before: Position | None
    """On the board of its suite, else on the default board; null if it was not there, or if the
    event is of no single agent."""
    after: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardLog:
    """A page of events, newest first."""

    events: list[BoardEvent]
    count: int
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamBoard:
    """What a team has decided about its boards, and the weights."""

    default_suite: str | None = None
    ranks_reported: bool = False
    weights: Weights = DEFAULT_WEIGHTS

    def as_json(self) -> dict[str, Any]:
        """As a state."""
        return asdict(self) | {"weights": self.weights.parts}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "TeamBoard":
        """The inverse of `as_json`."""
        return cls(
            default_suite=body["default_suite"],
            ranks_reported=body["ranks_reported"],
            weights=Weights.from_parts(**body["weights"]),
        )


def suite_key(suite: str) -> str:
    """The key of a suite's shown version."""
    return f"suite {suite}"


def agent_key(subject: Subject) -> str:
    """The key of an agent version's sums."""
    return f"agent {subject.agent_id}@{subject.version}"


def archive_key(subject: Subject) -> str:
    """The key of whether an agent version is archived."""
    return f"archive {subject.agent_id}@{subject.version}"


def run_key(subject: Subject, suite: str, version: str) -> str:
    """The key of the run that an agent version has on a version of a suite."""
    return f"run {suite} {version} {subject.agent_id}@{subject.version}"


def agent_state(subject: Subject, sums: Sums) -> dict[str, Any]:
    """The value for `agent_key`."""
    return {"agent_id": subject.agent_id, "agent_version": subject.version, **asdict(sums)}


def run_state(subject: Subject, suite: str, run: BoardRun) -> dict[str, Any]:
    """The value for `run_key`."""
    names = {"agent_id": subject.agent_id, "agent_version": subject.version, "suite": suite}
    return names | {"run": run.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """Everything a board needs of one agent version."""

    subject: Subject
    sums: Sums
    run: BoardRun | None
    is_archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """The states of a team at some moment."""

    team_id: str
    values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    @property
    def team(self) -> TeamBoard:
        """What the team had decided."""
        value = self.values.get(TEAM_KEY)
        return TeamBoard.from_json(value) if value else TeamBoard()

    @property
    def suites(self) -> list[str]:
        """The suites that had a board."""
        prefix = suite_key("")
        return sorted(key.removeprefix(prefix) for key in self.values if key.startswith(prefix))

    def shown_version(self, suite: str) -> str | None:
        """The version of a suite that was shown."""
        value = self.values.get(suite_key(suite))
        return value["shown"] if value else None

    def board(self, suite: str | None, version: str | None) -> list[BoardEntry]:
        """The entries of a suite's board, in order; None: the default suite."""
        team = self.team
        suite = suite or team.default_suite
        version = version or (self.shown_version(suite) if suite else None)
        return board_entries(
            self._contestants(suite, version, is_default=suite == team.default_suite), team
        )

    def _contestants(
        self, suite: str | None, version: str | None, *, is_default: bool
    ) -> Iterator[Contestant]:
        for key, value in self.values.items():
            if not key.startswith("agent "):
                continue
            subject = Subject(
                team_id=self.team_id, agent_id=value["agent_id"], version=value["agent_version"]
            )
            run = None
            if suite and version:
                run = self.values.get(run_key(subject, suite, version))
            # An agent without a run of the suite is listed on the default board only.
            if run is not None or is_default:
                yield Contestant(
                    subject=subject,
                    sums=Sums.from_json(value),
                    run=BoardRun.from_json(run["run"]) if run else None,
                    is_archived=bool(self.values.get(archive_key(subject))),
                )


def board_entries(contestants: Iterable[Contestant], team: TeamBoard) -> list[BoardEntry]:
    """The entries of a board: the ranked ones, then the others, each best first."""
    entries: dict[str, BoardEntry] = {}
    candidates: list[Candidate] = []
    for one in contestants:
        card = one.sums.scorecard(one.run, team.weights)
        reason = unranked_because(one.run, ranks_reported=team.ranks_reported)
        if card.overall.score is None:
            continue
        entry = board_entry(one, card, reason)
        entries[entry.name] = entry
        if reason is None:
            candidates.append(
                Candidate(key=entry.name, score=card.overall.score, interval=card.overall_interval)
            )
    for one in rank(candidates):
        entries[one.candidate.key] = replace(
            entries[one.candidate.key],
            rank=one.rank,
            rank_low=one.rank_low,
            rank_high=one.rank_high,
        )
    return sorted(entries.values(), key=_order)


def _order(entry: BoardEntry) -> tuple[bool, bool, float, str, str]:
    """Ranked entries first, then those with a run, each best first and equals by name."""
    # Sorted by `agent:version`, `a-b` would come before `a`.
    is_last = entry.benchmark_run_id is None
    score = -(entry.overall_score or 0.0)
    return entry.rank is None, is_last, score, entry.agent_id, entry.agent_version


def board_entry(one: Contestant, card: Scorecard, reason: str | None) -> BoardEntry:
    """The entry of an agent version, not ranked yet."""
    sums, run = one.sums, one.run
    average = average_rating(sums.rating_sum, sums.rating_count)
    return BoardEntry(
        rank=None,
        rank_low=None,
        rank_high=None,
        agent_id=one.subject.agent_id,
        agent_version=one.subject.version,
        **card.scores(),
        avg_user_rating=None if average is None else float(average),
        coverage=float(card.overall.coverage),
        provisional=card.overall.provisional,
        feedback_count=sums.rating_count,
        execution_count=sums.execution_count,
        benchmark_run_id=run.run_id if run else None,
        intervals=Intervals.of_card(card),
        unranked_because=reason,
        tests=run.tests if run else None,
        suite_tests=run.suite_tests if run else None,
        runs=run.runs if run else 0,
        runs_lowest=run.lowest if run else None,
        runs_highest=run.highest if run else None,
        provenance=run.provenance if run else None,
        error_rate=run.error_rate if run else None,
        judge_family=run.judge_family if run else None,
        is_other_file=run.is_other_file if run else False,
        is_archived=one.is_archived,
    )
