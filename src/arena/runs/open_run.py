"""A run of which this process executes shards: its session, its results, its state."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

from arena.agents.agent import AgentDefinition
from arena.models.budget import Spent
from arena.runs.budget import SharedMeter, spent_by
from arena.runs.engine import Engine
from arena.runs.item import Executed
from arena.runs.patience import Patience
from arena.runs.records.shards import (
    RunState,
    TakenShard,
    run_state,
    write_shard_error,
    write_shard_results,
)
from arena.runs.result_writer import ResultWriter, pause
from arena.runs.run import Run, RunError
from arena.runs.session import AgentSession
from arena.store.database import Database, StoreUnavailable

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often the state of a run is read: cancelled, ending, shards taken by others."""
BLIND_SECONDS = 3.0
"""A worker that has not read the state for so long asks nothing before it has: it may have been
stopped, and others may have its shards."""


@dataclass(slots=True, kw_only=True)
class HeldShard:
    """A shard that is executed here."""

    taken: TakenShard
    task: asyncio.Task[None] | None = None
    is_lost: bool = False

    def lose(self) -> None:
        """Another worker has it: ask nothing more.

        Questions under way end first: the agent works on them also when nobody waits for it, and
        their places must not be used meanwhile.
        """
        self.is_lost = True

    def abandon(self) -> None:
        """Its run has ended: stop at once."""
        self.is_lost = True
        if self.task is not None:
            self.task.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShardResult(Executed):
    """A result to be written, with its shard."""

    held: HeldShard


class OpenRun:
    """A run of which this process executes shards."""

    def __init__(
        self,
        engine: Engine,
        run: Run,
        agent: AgentDefinition,
        *,
        queues: Sequence[str],
        patience: Patience,
    ) -> None:
        """`queues` are those of the worker."""
        self._engine = engine
        self._queues = queues
        self._patience = patience
        self.run = run
        self.written = 0
        """Results that were written from here."""
        self.session: AgentSession = engine.sessions.open(agent)
        self.meter = None if run.budget is None else SharedMeter(run.budget, spent_by(run))
        self.writer = ResultWriter(self._write)
        self.held: dict[int, HeldShard] = {}
        self.users = 0
        self.others_wait = False
        self.is_ending = False
        self.failure: Exception | None = None
        """Why results could not be written."""
        self._looked_at = -BLIND_SECONDS
        self._looking = asyncio.Lock()
        self._closed = asyncio.Event()
        self._tasks = [
            asyncio.create_task(self.writer.keep_flushing(self._closed), name="flushing"),
            asyncio.create_task(self._keep_looking(), name="looking"),
        ]

    async def close(self) -> None:
        """Write what is left and close the session."""
        self._closed.set()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        for error in ended:
            if isinstance(error, Exception):
                log.error("run %s: %s", self.run.id, error, exc_info=error)
        await self.session.connector.close()

    def hold(self, taken: TakenShard) -> HeldShard:
        """Execute a shard here from now on.

        The same one may be executed here already, as after a pause of this process that others took
        for its death. Of the two, only the one that was taken later may be written.
        """
        held = HeldShard(taken=taken)
        other = self.held.get(taken.number)
        if other is not None and other.taken.attempt > taken.attempt:
            held.lose()
            return held
        if other is not None:
            other.lose()
        self.held[taken.number] = held
        return held

    async def add(self, held: HeldShard, executed: Executed) -> None:
        """Write a result soon."""
        await self.writer.add(_ShardResult(test=executed.test, result=executed.result, held=held))
        if self.meter is not None:
            # At once: what is paid for must not be paid again if this process is killed.
            await self.writer.flush()

    async def add_error(self, held: HeldShard, error: RunError) -> None:
        """Record that an item could not be executed."""
        number, token = held.taken.number, held.taken.token
        is_held = await self._patience.wait_for(
            write_shard_error, self._database, self.run.id, number, token, error
        )
        if not is_held:
            held.lose()

    async def look(self) -> None:
        """Read the state of the run, unless it was read a moment ago."""
        async with self._looking:
            if time.monotonic() - self._looked_at < LOOK_SECONDS / 2:
                return
            # Before the statement: the state may be older than its answer.
            at = time.monotonic()
            # Only these are compared: a shard may begin while the statement is under way.
            helds = list(self.held.values())
            numbers = [held.taken.number for held in helds]
            state = await run_state(self._database, self.run.id, numbers, self._queues)
            self._apply(state, helds)
            self._looked_at = at

    @property
    def is_blind(self) -> bool:
        """Whether the state of the run was not read for too long to ask anything."""
        return time.monotonic() - self._looked_at > BLIND_SECONDS

    @property
    def _database(self) -> Database:
        return self._engine.database

    def _apply(self, state: RunState, helds: Sequence[HeldShard]) -> None:
        self.others_wait, self.is_ending = state.others_wait, state.is_ending
        for held in helds:
            if not state.is_running:
                held.abandon()
            elif state.tokens.get(held.taken.number) != held.taken.token:
                held.lose()
        if self.meter is not None and state.spent is not None:
            self.meter.learn(state.spent)

    async def _keep_looking(self) -> None:
        while not self._closed.is_set():
            await pause(LOOK_SECONDS, self._closed)
            with contextlib.suppress(StoreUnavailable):
                await self.look()

    async def _write(self, batch: list[Executed]) -> None:
        try:
            await self._write_held(
                [one for one in batch if isinstance(one, _ShardResult) and not one.held.is_lost]
            )
        except Exception as error:
            # The edge of writing: the shards see it and end the run.
            log.exception("results of run %s could not be written", self.run.id)
            self.failure = error

    async def _write_held(self, batch: Sequence[_ShardResult]) -> None:
        helds = {one.held.taken.number: one.held for one in batch}
        tokens = {number: held.taken.token for number, held in helds.items()}
        numbered = [(one.held.taken.number, one) for one in batch]
        spent = None if self.meter is None else self.meter.unreported()
        attempts = 0

        async def write() -> tuple[set[int], Spent | None]:
            nonlocal attempts
            attempts += 1
            return await write_shard_results(
                self._database,
                self.run.id,
                numbered,
                tokens,
                reviewers_needed=self._engine.reviewers_needed,
                spent=spent,
                may_be_written=attempts > 1,
            )

        still_held, total = await self._patience.wait_for(write)
        if self.meter is not None and spent is not None and total is not None:
            self.meter.report(spent, total)
        for number, held in helds.items():
            if number not in still_held:
                held.lose()
        self.written += sum(number in still_held for number, _ in numbered)
        self._engine.notify(self.run)
