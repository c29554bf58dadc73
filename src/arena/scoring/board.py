"""The leaderboard of a suite: an entry per agent version, its rank and the range of ranks.

Only agents whose run covers at least half of the suite's tests are ranked; the others come after
them, with the reason.

Competition ranking: equal scores share the better rank and the next rank counts them all (1, 1, 3).
The range shows how certain a rank is: `rank_low` counts only agents whose whole interval is above,
`rank_high` all except those whose whole interval is below.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from arena.errors import InvalidInput
from arena.scoring.components import Share
from arena.scoring.intervals import Interval
from arena.scoring.scorecard import COMPONENT_NAMES, Scorecard, Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """The interval of each score; null if there is no data."""

    overall: Interval | None
    benchmark: Interval | None
    user_rating: Interval | None
    success_rate: Interval | None
    cost_efficiency: Interval | None

    @classmethod
    def of_card(cls, card: Scorecard) -> "Intervals":
        """The intervals of a scorecard, rounded for display."""
        known = {**card.intervals, "overall": card.overall_interval}
        rounded = {
            name: interval.rounded() if interval else None for name, interval in known.items()
        }
        return cls(**dict.fromkeys(COMPONENT_NAMES) | rounded)


class Provenance(StrEnum):
    """Where a run was executed."""

    RUN_HERE = "run_here"
    RE_EXECUTED = "re_executed"
    """This server asked the agent again."""
    REPORTED = "reported"
    """Pushed from elsewhere: a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRun:
    """The run that an entry rests on: the latest complete one, never the best."""

    run_id: UUID
    suite_version: str
    tests: int
    suite_tests: int
    """Active tests of the suite version."""
    completed_at: datetime
    provenance: Provenance = Provenance.RUN_HERE
    results: int = 0
    repeated_attempts: int = 0
    judge_family: str | None = None
    is_other_file: bool = False
    """Whether the agent's file changed between runs of this version of the agent."""
    runs: int = 1
    """Complete runs of this agent version on this suite version."""
    lowest: float | None = None
    highest: float | None = None
    benchmark: Share = field(default_factory=Share)
    cost: Share = field(default_factory=Share)

    def as_json(self) -> dict[str, Any]:
        """As stored in the database."""
        body = {one.name: getattr(self, one.name) for one in fields(self)}
        body["run_id"] = str(self.run_id)
        body["completed_at"] = self.completed_at.isoformat()
        return body | {name: getattr(self, name).to_list() for name in ("benchmark", "cost")}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "BoardRun":
        """The inverse of `as_json`."""
        values = dict(body)
        values["run_id"] = UUID(values["run_id"])
        values["completed_at"] = datetime.fromisoformat(values["completed_at"])
        values["provenance"] = Provenance(values["provenance"])
        values |= {name: Share.from_list(values[name]) for name in ("benchmark", "cost")}
        return cls(**values)

    @property
    def error_rate(self) -> float | None:
        """The share of attempts that the infrastructure failed."""
        attempts = self.results + self.repeated_attempts
        return round(self.repeated_attempts / attempts, 4) if attempts else None


def unranked_because(run: BoardRun | None, *, ranks_reported: bool) -> str | None:
    """Why an agent with this run has no rank on the board of the run's suite; None if it has."""
    if run is None:
        return "no complete run of this version of the suite"
    if 2 * run.tests < run.suite_tests:
        return f"its run covers {run.tests} of {run.suite_tests} tests, fewer than half"
    if run.provenance is Provenance.REPORTED and not ranks_reported:
        return "reported from elsewhere, and this team does not rank reported runs"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardEntry:
    """An agent version on the leaderboard; null means no data, not zero."""

    rank: Annotated[int | None, Field(examples=[1])]
    """Equal scores share a rank; null if it is not ranked."""
    rank_low: int | None
    """The best rank that the intervals allow."""
    rank_high: int | None
    """The worst rank that the intervals allow."""
    agent_id: Annotated[str, Field(examples=["qa-web-manager"])]
    agent_version: Annotated[str, Field(examples=["1.0.0"])]
    overall_score: Annotated[float | None, Field(examples=[85.5])]
    benchmark_score: Annotated[float | None, Field(examples=[100.0])]
    user_rating_score: Annotated[float | None, Field(examples=[75.0])]
    success_rate_score: Annotated[float | None, Field(examples=[80.0])]
    """How many executions were answered without an error, whatever the verdict."""
    cost_efficiency_score: Annotated[float | None, Field(examples=[70.0])]
    avg_user_rating: Annotated[float | None, Field(examples=[4.0])]
    coverage: Annotated[float, Field(examples=[1.0])]
    """The share of the weight that has data."""
    provisional: bool
    """Whether some of the weight has no data yet."""
    feedback_count: int
    execution_count: int
    benchmark_run_id: UUID | None
    """The run behind benchmark and cost: the latest complete one, never the best."""
    intervals: Intervals
    unranked_because: str | None = None
    """Why it has no rank; null if it has one."""
    tests: int | None = None
    """The tests of the suite that its run covers; null without a run."""
    suite_tests: int | None = None
    """How many tests the suite has."""
    runs: int = 0
    """Complete runs of it on this version of the suite."""
    runs_lowest: float | None = None
    """The lowest benchmark score of those runs."""
    runs_highest: float | None = None
    provenance: Provenance | None = None
    """Where its run was executed; null without a run."""
    error_rate: float | None = None
    """The share of the run's attempts that the infrastructure failed, from 0 to 1."""
    judge_family: str | None = None
    """The model family of both the agent and a judge of its run; null if they differ."""
    is_other_file: bool = False
    """Whether the agent's file changed between runs although its version did not."""
    is_archived: bool = False

    @property
    def name(self) -> str:
        """The agent version as `agent:version`."""
        return f"{self.agent_id}:{self.agent_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteVersionRow:
    """A version of a suite."""

    version: str
    """The digest of what can change a verdict."""
    label: str | None
    """What its author calls it."""
    tests: int
    agents: int
    """Agent versions with a complete run of it."""
    current_since: datetime
    """When it last became the current version of the suite."""
    is_shown: bool
    """Whether the board shows it: the newest version with a complete run."""
    is_newer: bool = False
    """Whether it is newer than the version that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A page of the leaderboard of a suite, best first."""

    leaderboard: list[BoardEntry]
    count: int
    total: int
    weights: Weights
    """The weights that the scores were made with."""
    next_cursor: str | None = None
    suite: str | None = None
    """Null until the team has a complete run."""
    suite_version: str | None = None
    suite_label: str | None = None
    suite_tests: int | None = None
    is_default_suite: bool = True
    ranked: int = 0
    """How many entries have a rank, archived ones included."""
    archived: int = 0
    """Entries that are not listed because they are archived; they count for the ranks."""
    newer: list[SuiteVersionRow] = field(default_factory=list[SuiteVersionRow])
    """Newer versions of the suite, which have no complete run yet."""
    suites: list[str] = field(default_factory=list[str])
    """Every suite of the team that has a board."""
    at: datetime | None = None
    """The moment that it shows; null: now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalculated:
    """The agent versions whose scores were recomputed."""

    recalculated: list[str]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardFilter:
    """Which board, and which of its entries."""

    suite: str | None = None
    """None: the default suite of the team."""
    version: str | None = None
    """The beginning of a version, or its label; None: the one that is shown."""
    group: tuple[str, str] | None = None
    """`("category", name)` or `("tag", name)`: only those tests count."""
    min_coverage: float = 0.0
    agent_id: str | None = None
    """Only this agent's versions; their ranks are those on the whole board."""
    with_archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One agent version to be ranked."""

    key: str
    """Identifies the candidate, as `agent:version`; also orders equal scores."""
    score: Decimal | None
    """The overall score as displayed: two that look the same are equal."""
    interval: Interval | None = None
    """None if the uncertainty is unknown: it then excludes no rank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate with its rank; the ranks are None if it has no score."""

    candidate: Candidate
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None


def rank(candidates: Iterable[Candidate]) -> list[Ranked]:
    """The candidates in order: best score first, equals by key, those without a score last."""
    listed = sorted(candidates, key=lambda one: one.key)
    keys = [one.key for one in listed]
    if len(set(keys)) < len(keys):
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise InvalidInput(f"ranked twice: {', '.join(twice)}; give each candidate once")
    scored = [(one, one.score) for one in listed if one.score is not None]
    scored.sort(key=lambda pair: pair[1], reverse=True)
    count = len(scored)
    # With sorted limits each range is two binary searches, so a board of thousands stays fast.
    scores = sorted(score for _, score in scored)
    spans = [_span(one, score) for one, score in scored]
    lows, highs = sorted(low for low, _ in spans), sorted(high for _, high in spans)
    ranked = [
        Ranked(
            candidate=one,
            rank=1 + count - bisect_right(scores, score),
            rank_low=1 + count - bisect_right(lows, high),
            rank_high=count - bisect_left(highs, low),
        )
        for (one, score), (low, high) in zip(scored, spans, strict=True)
    ]
    return ranked + [Ranked(candidate=one) for one in listed if one.score is None]


def _span(candidate: Candidate, score: Decimal) -> tuple[float, float]:
    interval = candidate.interval
    if interval is None:
        # Compatible with every rank.
        return float("-inf"), float("inf")
    # Rounding may put an interval just beside its own score; ranks must not.
    return min(interval.low, float(score)), max(interval.high, float(score))
