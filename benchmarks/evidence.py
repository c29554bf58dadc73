"""Generates a team with a long history and bulk-loads it into a database.

Every agent version has runs of 100 tests with five trials each, an execution per result, and
ratings, one in five of them replaced. Arena itself then computes the scores.
"""

import json
import random
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

from arena.catalog.suite import Suite
from arena.catalog.test import Test
from arena.scoring.components import cost_contribution

TEAM = "bench"
SUITE = "words"
TESTS = 100
TRIALS = 5
START = datetime(2026, 1, 1, tzinfo=UTC)

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The amount of data."""

    versions: int
    results: int
    ratings: int

    @property
    def runs_per_version(self) -> int:
        """Full runs per agent version."""
        return self.results // (self.versions * TESTS * TRIALS)

    def divided(self, by: int) -> "Size":
        """The same with every number divided by `by`."""
        return Size(
            versions=self.versions // by, results=self.results // by, ratings=self.ratings // by
        )


class Generator:
    """Generates the rows of the team; deterministic."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self._random = random.Random(5109)
        self._tests = [
            Test(
                id=f"test-{number:03}",
                name=f"Test {number}",
                prompt=f"Say it {number}",
                expected={"contains": ["it"]},
                category=f"category-{number % 5}",
                tags=("even",) if number % 2 == 0 else (),
                points=1.0 + number % 3,
                trials=TRIALS,
            )
            for number in range(TESTS)
        ]
        self._digests = [test.digest for test in self._tests]
        self._suite = Suite(name=SUITE, tests=tuple(self._tests))

    def tables(self) -> Iterator[tuple[str, Sequence[str], Iterator[Row]]]:
        """Each table's name, columns and rows, in an order that satisfies the foreign keys."""
        runs = [
            (version, self._uuid(), self._random.uniform(0.3, 0.99))
            for version in range(self._size.versions)
            for _ in range(self._size.runs_per_version)
        ]
        yield "agent_team_boards", ("team_id", "default_suite", "ranks_reported"), self._team()
        yield "agent_suites", ("team_id", "suite", "shown_version"), self._suites()
        yield "agent_suite_versions", VERSION_COLUMNS, self._versions()
        yield "agent_benchmark_tests", ("digest", "body", "fingerprint", "cluster"), self._frozen()
        yield "agent_benchmark_runs", RUN_COLUMNS, (self._run(*run) for run in runs)
        columns = ("run_id", "position", "test_id", "digest", "trials")
        yield "agent_benchmark_run_tests", columns, self._run_tests([run[1] for run in runs])
        yield "agent_benchmark_results", RESULT_COLUMNS, self._results(runs)
        yield "agent_execution_history", EXECUTION_COLUMNS, self._executions(runs)
        yield "agent_feedback", FEEDBACK_COLUMNS, self._feedback()

    def _team(self) -> Iterator[Row]:
        yield TEAM, SUITE, False

    def _suites(self) -> Iterator[Row]:
        yield TEAM, SUITE, self._suite.version

    def _versions(self) -> Iterator[Row]:
        when, manifest = self._moment(), json.dumps(self._suite.manifest)
        yield TEAM, SUITE, self._suite.version, TESTS, manifest, when, when

    def _frozen(self) -> Iterator[Row]:
        for digest, test in zip(self._digests, self._tests, strict=True):
            yield digest, json.dumps(test.as_json()), test.fingerprint, test.cluster

    def _run(self, version: int, run_id: str, _skill: float) -> Row:
        total, points = TESTS * TRIALS, TRIALS * sum(test.points for test in self._tests)
        when = self._moment()
        counts = (total, total, 0, total, 0, 0, 0.0, points, 0, 0.0)
        suite = SUITE, self._suite.version, TESTS, TESTS, total
        ended = "completed", *counts, *suite, True, when, when, when
        return (run_id, TEAM, *name(version), *ended)

    def _run_tests(self, run_ids: Sequence[str]) -> Iterator[Row]:
        for run_id in run_ids:
            for position, (digest, test) in enumerate(zip(self._digests, self._tests, strict=True)):
                yield run_id, position, test.id, digest, TRIALS

    def _results(self, runs: Sequence[tuple[int, str, float]]) -> Iterator[Row]:
        when = self._moment()
        for _, run_id, skill in runs:
            sequence = 0
            for test in self._tests:
                for trial in range(1, TRIALS + 1):
                    sequence += 1
                    passed = self._random.random() < skill
                    tokens = self._random.randrange(200, 9000)
                    cost = cost_contribution(test.points, test.token_budget, tokens)
                    assert cost is not None
                    yield (
                        *(self._uuid(), run_id, sequence, test.id, trial, test.category),
                        *("completed", passed, 100.0 if passed else 0.0),
                        *(test.points if passed else 0.0, test.points, "[]", 0.1, 1, tokens, 0),
                        cost.earned_micropoints if passed else None,
                        cost.possible_micropoints if passed else None,
                        when,
                    )

    def _executions(self, runs: Sequence[tuple[int, str, float]]) -> Iterator[Row]:
        when = self._moment()
        for version, _, skill in runs:
            for _ in range(TESTS * TRIALS):
                status = "completed" if self._random.random() < 0.5 + skill / 2 else "timeout"
                yield self._uuid(), TEAM, *name(version), "benchmark", status, when

    def _feedback(self) -> Iterator[Row]:
        per_version = self._size.ratings // self._size.versions
        for version in range(self._size.versions):
            mean = self._random.uniform(1, 5)
            for number in range(per_version):
                rating = min(5, max(1, round(self._random.gauss(mean, 1))))
                is_standing = number % 5 != 0
                user = f"user-{number if is_standing else number + 1}"
                row = (self._uuid(), TEAM, *name(version), user, rating, is_standing)
                yield (*row, self._moment())

    def _uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def _moment(self) -> str:
        moment = START + timedelta(seconds=self._random.randrange(10**7))
        return moment.strftime("%Y-%m-%d %H:%M:%S.000000")


VERSION_COLUMNS = (
    *("team_id", "suite", "version", "tests", "manifest", "created_at", "current_since"),
)
RUN_COLUMNS = (
    *("id", "team_id", "agent_id", "agent_version", "status"),
    *("total_tests", "completed_tests", "passed_tests", "failed_tests", "errored_tests"),
    *("awaiting_tests", "points_earned", "points_possible", "costed_tests"),
    "results_duration_seconds",
    *("suite", "suite_version", "suite_tests", "test_count", "counted_results"),
    *("is_full", "created_at", "started_at", "completed_at"),
)
RESULT_COLUMNS = (
    *("id", "run_id", "sequence", "test_id", "trial", "category", "status", "passed", "score"),
    *("points_earned", "points_possible", "findings", "duration_seconds", "attempts"),
    *("input_tokens", "output_tokens", "earned_micropoints", "possible_micropoints"),
    "created_at",
)
EXECUTION_COLUMNS = (
    *("id", "team_id", "agent_id", "agent_version", "source", "status", "created_at"),
)
FEEDBACK_COLUMNS = (
    *("id", "team_id", "agent_id", "agent_version", "user_id", "rating", "is_standing"),
    "created_at",
)


def name(version: int) -> tuple[str, str]:
    """The agent and version with this number; an agent has ten versions."""
    return f"agent-{version // 10:03}", f"1.{version % 10}.0"


def fill_sqlite(path: str, size: Size) -> None:
    """Load the rows into the SQLite database at `path`, whose tables exist."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -500000")
    with connection:
        for table, columns, rows in Generator(size).tables():
            marks = ", ".join("?" * len(columns))
            connection.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
            )
    connection.close()


def fill_postgresql(url: str, size: Size) -> None:
    """Load the rows into a PostgreSQL database, whose tables exist."""
    with psycopg.connect(url) as connection:
        for table, columns, rows in Generator(size).tables():
            copy = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            with connection.cursor() as cursor, cursor.copy(copy) as stream:
                for row in rows:
                    stream.write_row(row)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")  # as autovacuum would do a minute later
