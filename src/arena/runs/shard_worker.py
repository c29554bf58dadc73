"""Executes shards of queued runs on this machine.

    ShardWorker.execute     the handler of a job: take the shard, execute it, give it back
    OpenRun                 what the shards of one run share in this process (`open_run.py`)

A shard is written under its token: as soon as another worker has taken it, nothing of this one is
accepted any more. Whatever the database does not answer is tried again until it does.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from arena.agents.agent import AgentDefinition
from arena.agents.frozen import thaw
from arena.agents.placement import is_bundled
from arena.errors import ArenaError, InfrastructureError
from arena.evaluation.verdict import Submission, Verdict
from arena.models.budget import metered
from arena.pools.slots import Slots
from arena.queue.job import Postponed
from arena.runs.engine import Engine
from arena.runs.environment import agent_digest
from arena.runs.item import Item
from arena.runs.item_loop import GiveUp, ItemLoop, first_error
from arena.runs.open_run import HeldShard, OpenRun
from arena.runs.patience import AWAY_SECONDS, Patience
from arena.runs.records.results import pending_page
from arena.runs.records.shards import (
    TakenShard,
    end_run_early,
    end_shard,
    refuse_shard,
    take_shard,
)
from arena.runs.run import Run
from arena.runs.verdicts import Recorder
from arena.store.database import StoreUnavailable
from arena.team import working_for

if TYPE_CHECKING:
    from arena.queue.queue import JobQueue
    from arena.settings import Settings

log = logging.getLogger(__name__)

SLICE_SECONDS = 30.0
"""After this time a shard goes to the end of its queue, if others wait there."""
LINGER_SECONDS = 3.0
"""How long the session of a run stays open after its last shard here: the next may follow."""
FIRST_REFUSAL_SECONDS = 1.0
LEAVE_SECONDS = 0.5
"""How often it is looked whether the time of a shard is over."""
KEEP_ATTEMPTS = 5
"""How often the record of a verdict is stored again before the shard is given back."""


Execution = tuple[UUID, datetime]
"""A run, and since when it is executed."""


class CannotExecuteHere(Exception):
    """The shard cannot be executed on this machine; another one may."""


class PatientRecorder(Recorder):
    """Stores verdict records; if that fails for long, another machine has to execute the item."""

    async def keep(
        self, document: Mapping[str, object], submission: Submission, verdict: Verdict
    ) -> str:
        """Store the record of a verdict by this standard; returns its CID."""
        for attempt in range(1, KEEP_ATTEMPTS + 1):
            try:
                return await super().keep(document, submission, verdict)
            except InfrastructureError as error:
                if attempt == KEEP_ATTEMPTS or not error.retryable:
                    raise CannotExecuteHere(error.message) from error
                await asyncio.sleep(AWAY_SECONDS * attempt)
        raise AssertionError("the last attempt returns or raises")


class ShardWorker:
    """Executes the shards whose jobs are delivered to this process."""

    def __init__(
        self,
        engine: Engine,
        jobs: "JobQueue",
        settings: "Settings",
        *,
        name: str,
        queues: Sequence[str],
        questions: int,
        report: Callable[[str], None],
    ) -> None:
        recorder = engine.recorder
        if recorder is not None:
            recorder = PatientRecorder(store=recorder.store, sandbox=recorder.sandbox)
        self.engine = replace(engine, recorder=recorder)
        self._jobs = jobs
        self._settings = settings
        self.name = name
        self.queues = queues
        self._slots = Slots(questions)
        self._report = report
        self._open: dict[Execution, OpenRun] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._patience = Patience()
        self.busy = 0
        self.done_shards = 0
        self._written = 0
        """Results of runs that are closed here."""

    @property
    def done_results(self) -> int:
        """Results that were written from here."""
        return self._written + sum(opened.written for opened in self._open.values())

    def stop(self) -> None:
        """Ask nothing more; shards are given back as soon as their questions are answered."""
        self._patience.stop()

    async def close(self) -> None:
        """Close what is still open."""
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        for opened in list(self._open.values()):
            await opened.close()

    async def execute(self, arguments: Mapping[str, Any]) -> None:
        """Take the shard of a job and execute it, unless there is nothing to do."""
        run_id, number = UUID(arguments["run_id"]), int(arguments["number"])
        if self._patience.is_stopping:
            raise Postponed(0)
        try:
            taken = await take_shard(self.engine.database, run_id, number, self.name)
        except StoreUnavailable:
            raise Postponed(AWAY_SECONDS) from None
        if taken is None:
            return
        if taken.is_ending:
            await self._patience.wait_for(
                lambda: end_shard(self.engine.database, self._jobs, taken, is_done=False)
            )
            return
        self.busy += 1
        try:
            await self._execute(taken)
        except CannotExecuteHere as error:
            await self._refuse(taken, str(error))
        finally:
            self.busy -= 1

    async def _execute(self, taken: TakenShard) -> None:
        began = time.monotonic()
        async with self._opened(taken) as opened:
            held = opened.hold(taken)
            loop = ItemLoop(
                run_id=taken.run.id,
                session=opened.session,
                resources=self.engine.resources,
                recorder=self.engine.recorder,
                page=lambda after: self._page(taken, after),
                add=lambda executed: opened.add(held, executed),
                add_error=lambda error: opened.add_error(held, error),
                may_go_on=lambda: self._may_go_on(opened, held, began),
                slots=self._slots,
            )
            try:
                with working_for(taken.run.team_id), metered(opened.meter):
                    held.task = asyncio.create_task(loop.execute(taken.questions))
                leaving = asyncio.create_task(self._leave_when_over(opened, held, loop, began))
                try:
                    await self._finish(opened, held, loop)
                finally:
                    leaving.cancel()
            finally:
                # Unless the same shard was delivered here once more.
                if opened.held.get(taken.number) is held:
                    del opened.held[taken.number]
        outcome = "lost" if held.is_lost else f"{time.monotonic() - began:.1f} s"
        self.done_shards += not held.is_lost
        self._report(f"run {taken.key}: {outcome}")

    async def _finish(self, opened: OpenRun, held: HeldShard, loop: ItemLoop) -> None:
        """Wait for the loop of a shard, write its results, and give the shard back."""
        error = await _error_of(held)
        await opened.writer.flush()
        error = error or opened.failure
        if held.is_lost:
            return
        if isinstance(error, CannotExecuteHere):
            raise error
        if isinstance(error, InfrastructureError) and error.code == StoreUnavailable.code:
            raise CannotExecuteHere(error.message) from error
        if error is not None:
            reason = str(error)
            if not isinstance(error, GiveUp | ArenaError):
                # The edge of a run: a bug must end it, or its watchers would wait for ever.
                log.error("run %s stopped", opened.run.id, exc_info=error)
                reason = _internal(error)
            await self._end_early(opened, reason)
        elif loop.exceeded is not None:
            await self._end_early(opened, loop.exceeded, is_exceeded=True)
        is_done = loop.is_at_end and error is None and loop.exceeded is None
        ended = await self._patience.wait_for(
            lambda: end_shard(
                self.engine.database,
                self._jobs,
                held.taken,
                is_done=is_done,
                has_errors=loop.has_errors,
            )
        )
        if ended is not None:
            self._report(f"run {str(ended.id)[:8]} is {ended.status}")
        self.engine.notify(opened.run)

    async def _end_early(self, opened: OpenRun, reason: str, *, is_exceeded: bool = False) -> None:
        opened.is_ending = True
        await self._patience.wait_for(
            lambda: end_run_early(
                self.engine.database, opened.run.id, reason, is_exceeded=is_exceeded
            )
        )

    async def _page(self, taken: TakenShard, after: int) -> tuple[list[Item], int | None]:
        return await self._patience.wait_for(
            pending_page, self.engine.database, taken.run.id, after, (), taken.shard
        )

    async def _may_go_on(self, opened: OpenRun, held: HeldShard, began: float) -> bool:
        if opened.is_blind:
            await self._patience.wait_for(opened.look)
        is_over = opened.others_wait and time.monotonic() - began > SLICE_SECONDS
        is_stopping = self._patience.is_stopping
        return not (held.is_lost or is_stopping or opened.is_ending or is_over)

    async def _leave_when_over(
        self, opened: OpenRun, held: HeldShard, loop: ItemLoop, began: float
    ) -> None:
        """An agent with a low rate must not keep a shard here whose time is over."""
        while await self._may_go_on(opened, held, began):
            await asyncio.sleep(LEAVE_SECONDS)
        loop.leave_unasked()

    @asynccontextmanager
    async def _opened(self, taken: TakenShard) -> AsyncGenerator[OpenRun]:
        """The run of a shard, shared with its other shards here and kept open for a moment."""
        key = taken.run.id, taken.executing_since
        opened = self._open.get(key)
        if opened is None:
            opened = self._open[key] = self._open_run(taken)
        opened.users += 1
        try:
            yield opened
        finally:
            opened.users -= 1
            task = asyncio.create_task(self._close_later(key, opened))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _open_run(self, taken: TakenShard) -> OpenRun:
        """Open a run, if this machine can execute it; says why not before the first question."""
        try:
            agent = thaw(taken.agent_body)
            if problem := self._problem(taken.run, agent):
                raise CannotExecuteHere(problem)
            return OpenRun(
                self.engine, taken.run, agent, queues=self.queues, patience=self._patience
            )
        except CannotExecuteHere:
            raise
        except ArenaError as error:
            raise CannotExecuteHere(error.message) from error
        except Exception as error:
            # The edge of a run: whatever it is, its watchers must not wait for ever.
            log.exception("run %s could not be opened", taken.run.id)
            raise CannotExecuteHere(_internal(error)) from error

    def _problem(self, run: Run, agent: AgentDefinition) -> str | None:
        """What this machine lacks to execute a run."""
        environment = run.environment or {}
        if agent.source is not None and not is_bundled(agent.source):
            found = agent_digest(agent)
            needs_files = agent.connector.type in ("command", "python")
            if needs_files and found is None:
                return f"the agent's file {agent.source} is not on this machine"
            if needs_files and run.agent_digest not in (None, found):
                return (
                    f"{agent.source} or a program beside it differs from the copy on the machine "
                    "that started the run"
                )
        settings = self._settings
        known = {*settings.judge_models, *settings.judge_allowed_models}
        missing = [name for name in environment.get("judge") or () if name not in known]
        if missing and "*" not in known:
            return f"the judge models {', '.join(missing)} are not set up (ARENA_JUDGE_MODELS)"
        if environment.get("user") and environment["user"] != settings.user_model:
            return f"the model of simulated users is not {environment['user']} (ARENA_USER_MODEL)"
        if environment.get("sandbox") != settings.sandbox:
            return f"the sandbox provider is not {environment.get('sandbox')} (ARENA_SANDBOX)"
        return None

    async def _close_later(self, key: Execution, opened: OpenRun) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(LINGER_SECONDS)
        if opened.users or self._open.get(key) is not opened:
            return
        del self._open[key]
        self._written, opened.written = self._written + opened.written, 0
        await opened.close()
        self._written += opened.written

    async def _refuse(self, taken: TakenShard, problem: str) -> None:
        """Let another worker try the shard; after several the run fails."""
        self._report(f"run {taken.key} cannot be executed here: {problem}")
        failures = await self._patience.wait_for(
            refuse_shard, self.engine.database, taken, self.name, problem
        )
        self.engine.notify(taken.run)
        raise Postponed(FIRST_REFUSAL_SECONDS * max(failures, 1))


def _internal(error: Exception) -> str:
    return f"internal error: {(str(error).splitlines() or [''])[0]}"


async def _error_of(held: HeldShard) -> Exception | None:
    """Wait for the loop of a shard; returns what stopped it."""
    assert held.task is not None
    try:
        await held.task
    except asyncio.CancelledError:
        if held.is_lost:
            return None
        held.task.cancel()
        raise
    except BaseExceptionGroup as group:
        return first_error(group)
    return None
