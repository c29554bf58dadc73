"""The engine: take an item of a run, ask the agent, judge the answer, record the result.

`Engine.execute` executes one run to its end. `RunExecution` is its loop: workers take items and
record their results. `execute_item` asks and judges. `ResultWriter` writes results to the database
in batches.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID, uuid4

from arena import clock
from arena.agents.agent import AgentDefinition
from arena.catalog.test import Test
from arena.errors import AgentFault, AgentTimedOut, ArenaError, InfrastructureError
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import Resources, ReviewNeeded
from arena.evaluation.standard import is_graded
from arena.evaluation.submission import seen_by
from arena.feed import Feed
from arena.models.budget import BudgetExceeded, check, current_meter, metered
from arena.models.usage import Usage
from arena.runs.budget import meter_of
from arena.runs.item import Executed, Item
from arena.runs.performed import Performed
from arena.runs.performing import perform
from arena.runs.records.lease import LostLease, release, renew
from arena.runs.records.results import add_error, add_results, pending_page
from arena.runs.records.rows import get_run
from arena.runs.records.runs import finish
from arena.runs.run import Result, Run, RunError
from arena.runs.session import AgentSession, AgentSessions, NotExecuted
from arena.runs.verdicts import Recorder, judged_fields
from arena.sandbox.errors import LanguageRefused
from arena.scoring.history import ExecutionStatus
from arena.store.database import Database
from arena.team import working_for
from arena.text import storable

log = logging.getLogger(__name__)

RENEW_SECONDS = 2.0
"""How often an executor renews its lease, and notices that a run was cancelled elsewhere."""
MAX_ERRORS = 5
"""The run stops after this many items in a row that could not be executed."""
BATCH_RESULTS = 500
BATCH_CHARACTERS = 4_000_000
FLUSH_SECONDS = 0.2
"""How long a finished result may wait to be written in a batch."""

AWAITING: dict[str, Any] = {
    "passed": None,
    "score": None,
    "points_earned": 0.0,
    "failure_reason": None,
    "findings": [],
}
"""The fields of `judged_fields` while people have not judged."""


class GiveUp(Exception):
    """The infrastructure is down; more attempts would not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Executes runs in this process."""

    database: Database
    feed: Feed
    """Wakes watchers."""
    token: str
    """The fencing token of this executor in the leases of its runs."""
    sessions: AgentSessions
    resources: Resources
    """For judging answers."""
    reviewers_needed: int = 1
    """Reviewers per item of a checklist."""
    recorder: Recorder | None = None
    """Stores the records of verdicts; None keeps none."""

    async def execute(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        """Execute the pending items of a run whose lease this executor holds; returns the run.

        If `known` is not empty, it has the tests of the run, which are not read again then.
        """
        with working_for(run.team_id), metered(meter_of(run)):
            return await self._execute(run, agent, known)

    async def _execute(self, run: Run, agent: AgentDefinition, known: Sequence[Test]) -> Run:
        execution = RunExecution(self, run, agent, known)
        error_message, is_exceeded = None, False
        try:
            try:
                await execution.execute()
                error_message = execution.exceeded or execution.last_error
                is_exceeded = execution.exceeded is not None
            except (GiveUp, InfrastructureError) as error:
                error_message = str(error)
            except LostLease:
                raise
            except Exception as error:
                # The edge of a run: a bug must end it, or its watchers would wait for ever.
                log.exception("run %s stopped", run.id)
                error_message = f"internal error: {str(_first(error)).splitlines()[0]}"
            return await finish(
                self.database,
                run.id,
                self.token,
                error_message,
                is_exceeded=is_exceeded,
                spent=execution.spent,
            )
        except LostLease:
            # Cancelled, or taken over: the database has the truth.
            return await get_run(self.database, run.id, None)
        except asyncio.CancelledError:
            with contextlib.suppress(LostLease, InfrastructureError):
                await release(self.database, run.id, self.token, execution.spent)
            raise
        finally:
            self.notify(run)

    def notify(self, run: Run) -> None:
        """Wake the watchers of the run and of its team."""
        self.feed.notify(("run", run.id), ("team", run.team_id))


class RunExecution:
    """The execution of one run, from the first pending item to the last."""

    def __init__(
        self, engine: Engine, run: Run, agent: AgentDefinition, known: Sequence[Test]
    ) -> None:
        self._engine = engine
        self._run = run
        self._agent = agent
        self._concurrency = run.concurrency or agent.limits.max_concurrency
        self._known = known
        self._page: deque[Item] = deque()
        self._position: int | None = -1
        """The position after the current page; None after the last page."""
        self._paging = asyncio.Lock()
        self._writer = ResultWriter(self._write)
        self._errors = 0
        """Items in a row that could not be executed."""
        self.last_error: str | None = None
        self.exceeded: str | None = None
        """Which limit of the budget was reached before the last item."""
        self._meter = current_meter()

    @property
    def spent(self) -> Mapping[str, object]:
        """The column of what a run with a budget has spent; empty without one."""
        return {} if self._meter is None else {"spent": self._meter.spent.as_json()}

    async def execute(self) -> None:
        """Execute every pending item and write every result."""
        try:
            session = self._engine.sessions.open(self._agent)
        except InfrastructureError as error:
            raise GiveUp(error.message) from error
        try:
            async with asyncio.TaskGroup() as group:
                done = asyncio.Event()
                group.create_task(self._writer.keep_flushing(done))
                group.create_task(self._keep_renewing(done))
                # Ends with the last worker; flushing and renewing must go on until then.
                async with asyncio.TaskGroup() as workers:
                    for _ in range(self._concurrency):
                        workers.create_task(self._work(session))
                done.set()
        except* (GiveUp, LostLease, InfrastructureError) as group:
            raise _first(group) from None
        finally:
            # Also when cancelled: answers already received are not thrown away.
            try:
                await self._writer.flush()
            finally:
                await session.connector.close()

    async def _take(self) -> Item | None:
        """The next item; None if none is left."""
        if not self._page:
            async with self._paging:  # one worker reads the next page, the others wait for it
                while not self._page and self._position is not None:
                    items, self._position = await pending_page(
                        self._engine.database, self._run.id, self._position, self._known
                    )
                    self._page.extend(items)
        return self._page.popleft() if self._page else None

    async def _work(self, session: AgentSession) -> None:
        """Take an item, ask, judge, record; until no item is left, or the budget is spent."""
        while (item := await self._take()) is not None:
            try:
                check()
                result = await execute_item(
                    session, self._run.id, item, self._engine.resources, self._engine.recorder
                )
            except NotExecuted as error:
                await self._record_error(item, error)
            except BudgetExceeded as error:
                # The item stays pending. The other workers end what they have begun, and see it.
                self.exceeded = str(error)
                return
            else:
                self._errors = 0
                await self._writer.add(Executed(test=item.test, result=result))
                if self._meter is not None:
                    # At once: what is paid for must not be paid again if this process is killed.
                    await self._writer.flush()

    async def _record_error(self, item: Item, error: NotExecuted) -> None:
        """Record an item that could not be executed; give up if it is not the only one."""
        reason = error.cause.message
        recorded = RunError(
            test_id=item.test.id, trial=item.trial, attempts=error.attempts, reason=reason
        )
        await add_error(self._engine.database, self._run.id, self._engine.token, recorded)
        self._errors += 1
        self.last_error = reason
        if not error.cause.retryable or self._errors >= MAX_ERRORS:
            raise GiveUp(reason) from error

    async def _write(self, batch: list[Executed]) -> None:
        engine = self._engine
        await add_results(
            engine.database, self._run.id, engine.token, batch, engine.reviewers_needed, self.spent
        )
        engine.notify(self._run)

    async def _keep_renewing(self, done: asyncio.Event) -> None:
        while not done.is_set():
            await _pause(RENEW_SECONDS, done)
            await renew(self._engine.database, self._run.id, self._engine.token, self.spent)


async def execute_item(
    session: AgentSession,
    run_id: UUID,
    item: Item,
    resources: Resources,
    recorder: Recorder | None = None,
) -> Result:
    """Ask and judge; the result has a verdict, waits for people, or says how the agent failed.

    Raises `NotExecuted` if the infrastructure failed.
    """
    test = item.test
    performed = await perform(session, run_id, item, resources)
    whole = performed.submission
    if whole is None:
        return _failed_result(item, performed)
    standard, cid = test.standard, None
    submission = seen_by(standard, whole)
    try:
        verdict = await evaluate(standard, submission, resources)
        # Not for a plain validator: its verdict follows from the answer and the frozen test, both
        # in the database, and writing thousands of files would cost more than judging.
        if recorder is not None and is_graded(standard):
            cid = await recorder.keep(test.document, submission, verdict)
    except ReviewNeeded:
        return _new_result(item, performed, AWAITING)
    except LanguageRefused as error:
        # Not a verdict: nothing was run. The test is failed, because the answer cannot be used.
        return _new_result(item, performed, _failed_fields(error))
    except InfrastructureError as error:
        # The agent has answered; asking again would not fix the judge or the sandbox.
        raise NotExecuted(performed.reply.attempts, error) from error
    return _new_result(item, performed, judged_fields(test, verdict), verdict_cid=cid)


def _new_result(
    item: Item,
    performed: Performed,
    judged: dict[str, Any],
    *,
    status: ExecutionStatus = ExecutionStatus.COMPLETED,
    verdict_cid: str | None = None,
) -> Result:
    """The result of an item; `judged` has the fields that a verdict decides."""
    test, reply = item.test, performed.reply
    answer = reply.outcome
    usage, output = Usage(), None
    steps = list(performed.steps) or None
    if not isinstance(answer, AgentFault):
        usage = answer.usage
        steps = list(answer.steps) if answer.steps else None
        output: dict[str, Any] | None = {"output": answer.output}
        if answer.truncated:
            output["truncated"] = True
        if answer.language:
            output["language"] = answer.language
        if answer.steps_problem:
            output["steps_problem"] = storable(answer.steps_problem)
    if performed.user is not None:
        output = {**(output or {}), "user": performed.user}
    return Result(
        id=uuid4(),
        sequence=0,
        test_id=test.id,
        trial=item.trial,
        category=test.category,
        status=status,
        points_possible=test.points,
        actual_output=output,
        steps=steps,
        messages=list(performed.messages) or None,
        workspace=performed.workspace,
        duration_seconds=round(reply.duration_seconds, 6),
        attempts=reply.attempts,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        model=usage.model,
        cost_usd=usage.cost_usd,
        created_at=clock.now(),
        verdict_cid=verdict_cid,
        **judged,
    )


def _failed_result(item: Item, performed: Performed) -> Result:
    """The result of an item that the agent did not answer."""
    fault = performed.reply.outcome
    assert isinstance(fault, AgentFault)
    timed_out = isinstance(fault, AgentTimedOut)
    status = ExecutionStatus.TIMEOUT if timed_out else ExecutionStatus.FAILED
    return _new_result(item, performed, _failed_fields(fault), status=status)


def _failed_fields(error: ArenaError) -> dict[str, Any]:
    """The fields of a result without a verdict: failed, and why."""
    return AWAITING | {"passed": False, "score": 0.0, "failure_reason": storable(error.message)}


class ResultWriter:
    """Writes results in batches; `add` waits if the database is behind."""

    def __init__(self, write: Callable[[list[Executed]], Awaitable[None]]) -> None:
        self._write = write
        self._batch: list[Executed] = []
        self._size = 0
        self._writing = asyncio.Lock()

    async def add(self, executed: Executed) -> None:
        """Add a result; it is in the database after the next `flush`."""
        self._batch.append(executed)
        self._size += executed.result.size
        if len(self._batch) >= BATCH_RESULTS or self._size >= BATCH_CHARACTERS:
            await self.flush()

    async def flush(self) -> None:
        """Write all added results."""
        async with self._writing:
            batch, self._batch, self._size = self._batch, [], 0
            if batch:
                await self._write(batch)

    async def keep_flushing(self, until: asyncio.Event) -> None:
        """Flush periodically until the event, and once more at the end."""
        while not until.is_set():
            await _pause(FLUSH_SECONDS, until)
            await self.flush()


async def _pause(seconds: float, until: asyncio.Event) -> None:
    """Wait for some seconds, or until the event."""
    # An event rather than cancelling the task, which may be in the middle of a transaction.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await until.wait()


def _first(error: BaseException) -> Exception:
    """The error itself, or the first one in nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    assert isinstance(error, Exception)
    return error
