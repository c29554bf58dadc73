"""Rows of the queue as workers and runs write them, for tests of what is shown of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Engine, create_engine, insert, text

from arena.clock import now
from arena.store.tables.queue import Chores, LimitPlaces, QueueTotals, RunShards, Workers
from arena.store.tables.runs import Results, Runs


class QueueRows:
    """Inserts rows into a database."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, table: Any, **values: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(insert(table.__table__).values(**values))

    def execute(self, statement: str, **values: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(text(statement), values)

    def ago(self, seconds: float) -> datetime:
        """A moment of the past; the database runs on this machine, and so has its clock."""
        return now() - timedelta(seconds=seconds)

    def worker(self, name: str, *, silent: float = 0, **values: Any) -> UUID:
        """A worker whose last heartbeat is `silent` seconds ago, or a minute ahead.

        Ahead, so that a live worker of a test is alive however slow the machine is.
        """
        known: dict[str, Any] = {
            "id": uuid4(),
            "name": name,
            "host": f"{name}.example",
            "pid": 4711,
            "version": "0.1.0",
            "queues": ["shards"],
            "labels": [],
            "judges": [],
            "shards": 4,
            "questions": 20,
            "has_sandbox": True,
            "started_at": self.ago(600),
            "seen_at": self.ago(silent) if silent else self.ago(-3600),
        }
        self.add(Workers, **known | values)
        return (known | values)["id"]

    def run(self, agent_id: str = "scribe", *, team_id: str = "default", **values: Any) -> UUID:
        """A run that workers execute."""
        run_id = uuid4()
        known: dict[str, Any] = {
            "id": run_id,
            "team_id": team_id,
            "agent_id": agent_id,
            "agent_version": "1.0.0",
            "status": "running",
            "total_tests": 100,
            "points_possible": 100.0,
            "suite": "custom",
            "suite_version": "0" * 64,
            "suite_tests": 100,
            "test_count": 100,
            "is_full": True,
            "dispatch": "queued",
            "created_at": self.ago(300),
            "started_at": self.ago(300),
        }
        self.add(Runs, **known | values)
        return run_id

    def shards(self, run_id: UUID, *states: str, **values: Any) -> None:
        """Shards of a run, numbered after those it has; `w1` as a state: that worker has it."""
        with self.engine.begin() as connection:
            query = "SELECT count(*) FROM agent_run_shards WHERE run_id = :run"
            first = connection.execute(text(query), {"run": run_id}).scalar_one()
        for number, state in enumerate(states, first):
            worker = None if state in ("waiting", "queued", "done") else state
            known: dict[str, Any] = {
                "run_id": run_id,
                "number": number,
                "first_position": number * 10,
                "last_position": number * 10 + 9,
                "needs_sandbox": False,
                "queue": "shards",
                "state": "queued" if worker else state,
                "worker": worker,
                "queued_at": None if state == "waiting" else self.ago(42),
                "taken_at": self.ago(30) if worker else None,
            }
            self.add(RunShards, **known | values)

    def results(self, run_id: UUID, ages: Sequence[float]) -> None:
        """Results of a run, recorded so many seconds ago, the oldest first."""
        for number, age in enumerate(sorted(ages, reverse=True), 1):
            self.add(
                Results,
                id=uuid4(),
                run_id=run_id,
                sequence=number,
                test_id=f"test_{number}",
                category="custom",
                status="success",
                passed=True,
                score=100.0,
                points_earned=1.0,
                points_possible=1.0,
                findings=[],
                duration_seconds=0.1,
                attempts=1,
                created_at=self.ago(age),
            )

    def chore(self, kind: str, state: str, *, waited: float = 0) -> None:
        """Requested work."""
        values = {"id": uuid4(), "team_id": "default", "arguments": {}}
        self.add(Chores, **values, kind=kind, state=state, created_at=self.ago(waited))

    def pause(self, place: str, *, seconds: float) -> None:
        """An endpoint that asked for a pause."""
        self.add(LimitPlaces, place=place, paused_until=self.ago(-seconds))

    def total(self, name: str, count: int) -> None:
        """A counter of the queue."""
        self.add(QueueTotals, name=name, count=count)


@contextmanager
def queue_rows(url: str) -> Iterator[QueueRows]:
    """Inserts rows into the PostgreSQL database at this address."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://", 1))
    yield QueueRows(engine)
    engine.dispose()
