"""A market with a manual clock, injected faults, and keys for its agents."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import event

from arena import clock
from arena.content.store import LocalStore
from arena.content.tree import cid_of
from arena.market.signing import Act, Proof, Signer, commitment_of
from arena.store.database import Database
from market_door import Door

T = TypeVar("T")

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
STANDARD = {"type": "checklist", "items": ["It works"]}
RESULTS = {name: f"the result called {name}".encode() for name in ("one", "two")}
HASHES = {name: cid_of(data) for name, data in RESULTS.items()}


class Crash(Exception):
    """The process died here, as far as the database can tell."""


class World:
    """One database and its market, for many histories: each is a separate team."""

    def __init__(self, url: str, folder: Path) -> None:
        self.runner = asyncio.Runner()
        self.at = START
        self._real_now = clock.now
        clock.now = lambda: self.at
        self.database: Database = Database(url)
        self.content = LocalStore(folder)
        self.market = Door(self.database, self.content)
        self.keys = {name: Ed25519PrivateKey.generate() for name in ("solver", "rival", "third")}
        for data in RESULTS.values():
            self.content.put(data)
        self.statements_left: int | None = None
        self.run(self.database.open())
        engine = self.database._engines.base.sync_engine
        event.listen(engine, "before_cursor_execute", self._before_statement)
        if self.database.dialect == "sqlite":
            self._hurry()

    def run(self, call: Awaitable[T]) -> T:
        async def wait() -> T:
            return await call

        return self.runner.run(wait())

    def _hurry(self) -> None:
        """Turn off durability, and run statements without a thread hop.

        Each statement passes to a thread and back several times, which takes longer than the
        statement. Only BEGIN may have to wait for another transaction: everything else runs
        inline, so calls still race for the lock.
        """

        def any_thread(_dialect: object, _record: object, _args: object, given: Any) -> None:
            given["check_same_thread"] = False

        def hurried(connection: Any, _record: object) -> None:
            cursor = connection.cursor()
            cursor.execute("PRAGMA synchronous = OFF")
            cursor.close()
            driver = connection.driver_connection
            in_thread = driver._execute

            async def execute(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
                if given and str(given[0]).startswith("BEGIN"):
                    return await in_thread(function, *given, **named)
                return function(*given, **named)

            driver._execute = execute

        self.run(self.database.open())
        engine = self.database._engines.base.sync_engine
        event.listen(engine, "do_connect", any_thread)
        event.listen(engine, "connect", hurried)
        self.run(self.database._engines.base.dispose())

    def close(self) -> None:
        self.run(self.database.close())
        self.runner.close()
        clock.now = self._real_now

    def set_time(self, microseconds: int) -> None:
        self.at = START + timedelta(microseconds=microseconds)

    def moment(self, microseconds: int | None) -> datetime | None:
        return None if microseconds is None else START + timedelta(microseconds=microseconds)

    def new_team(self) -> str:
        """A team whose agents are registered."""
        team = f"team-{uuid4().hex}"
        for agent, key in self.keys.items():
            public = Signer(agent, key).public_key
            proof = self.proof(team, Act.REGISTER, None, agent, public)
            self.run(self.market.register_agent(team, agent, public, proof))
        return team

    def proof(
        self,
        team: str,
        act: Act,
        task_id: int | None,
        agent: str,
        content: str = "",
        *,
        signer: str | None = None,
        market: str | None = None,
    ) -> Proof:
        key = self.keys[signer or agent]
        return Signer(agent, key).prove(
            market or self.run(self.market.market_id(team)), act, task_id=task_id, content=content
        )

    def commitment(self, team: str, task_id: int, agent: str, result_hash: str) -> str:
        market = self.run(self.market.market_id(team))
        return commitment_of(market, task_id, agent, result_hash, "salt")

    def crashing(self, call: Callable[[], Awaitable[T]], statements: int) -> T:
        """Make the call and let it crash before its n-th statement."""
        self.statements_left = statements
        try:
            return self.run(call())
        finally:
            self.statements_left = None

    def _before_statement(self, *_: Any) -> None:
        if self.statements_left is None:
            return
        if self.statements_left == 0:
            raise Crash
        self.statements_left -= 1
