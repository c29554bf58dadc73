"""Takes the items of a run, asks the agent, judges the answer, and passes the result on."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID, uuid4

from arena import clock
from arena.errors import AgentFault, AgentTimedOut, ArenaError, InfrastructureError
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import Resources, ReviewNeeded
from arena.evaluation.standard import is_graded
from arena.evaluation.submission import seen_by
from arena.models.budget import BudgetExceeded, check
from arena.models.usage import Usage
from arena.pools.slots import Slots
from arena.runs.item import Executed, Item
from arena.runs.performed import Performed
from arena.runs.performing import perform
from arena.runs.run import Result, RunError
from arena.runs.session import AgentSession, NotExecuted, asked_mark
from arena.runs.verdicts import Recorder, judged_fields
from arena.sandbox.errors import LanguageRefused
from arena.scoring.history import ExecutionStatus
from arena.store.database import StoreUnavailable
from arena.text import storable

MAX_ERRORS = 5
"""The run stops after this many items in a row that could not be executed."""

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


@dataclass(slots=True, kw_only=True)
class ItemLoop:
    """Takes pending items of a run, executes several at once, and passes their results on."""

    run_id: UUID
    session: AgentSession
    resources: Resources
    recorder: Recorder | None
    page: Callable[[int], Awaitable[tuple[list[Item], int | None]]]
    """Items after a position, and the position to go on from; None after the last."""
    add: Callable[[Executed], Awaitable[None]]
    add_error: Callable[[RunError], Awaitable[None]]
    may_go_on: Callable[[], Awaitable[bool]] | None = None
    """Asked before each item, if others may stop the loop."""
    slots: Slots | None = None
    """What limits the items that all loops of this process execute at once."""
    last_error: str | None = None
    exceeded: str | None = None
    """Which limit of the budget was reached before the last item."""
    has_errors: bool = False
    """Whether some items could not be executed."""
    _items: deque[Item] = field(default_factory=deque[Item])
    _position: int | None = -1
    """The position after the current page; None after the last page."""
    _paging: asyncio.Lock = field(default_factory=asyncio.Lock)
    _executing: dict[asyncio.Task[Any], asyncio.Event] = field(
        default_factory=dict[asyncio.Task[Any], asyncio.Event]
    )
    """What is executed, and whether it was asked; only with `slots`."""
    _left: set[asyncio.Task[Any] | None] = field(default_factory=set[asyncio.Task[Any] | None])
    _errors: int = 0
    """Items in a row that could not be executed."""

    @property
    def is_at_end(self) -> bool:
        """Whether every item was taken."""
        return self._position is None and not self._items

    async def execute(self, at_once: int) -> None:
        """Execute the items until none is left, or the loop is stopped."""
        async with asyncio.TaskGroup() as workers:
            for _ in range(at_once):
                workers.create_task(self._work())

    async def _take(self) -> Item | None:
        """The next item; None if none is left, or nothing more may be asked."""
        if self.may_go_on is not None and not await self.may_go_on():
            return None
        if not self._items:
            async with self._paging:  # one worker reads the next page, the others wait for it
                while not self._items and self._position is not None:
                    items, self._position = await self.page(self._position)
                    self._items.extend(items)
        return self._items.popleft() if self._items else None

    async def _work(self) -> None:
        """Take an item, ask, judge, record; until no item is left, or the budget is spent."""
        while (item := await self._take()) is not None:
            try:
                check()
                result = await self._execute(item)
            except asyncio.CancelledError:
                if asyncio.current_task() not in self._left:
                    raise
                self._items.appendleft(item)  # so that the loop is not at its end
                return
            except NotExecuted as error:
                if error.cause.code == StoreUnavailable.code:
                    raise error.cause from error  # nothing of the item: no other would do better
                await self._record_error(item, error)
            except BudgetExceeded as error:
                # The item stays pending. The other workers end what they have begun, and see it.
                self.exceeded = str(error)
                return
            else:
                self._errors = 0
                await self.add(Executed(test=item.test, result=result))

    def leave_unasked(self) -> None:
        """Stop waiting for turns at the agent: items that were not asked stay pending."""
        for task, asked in self._executing.items():
            if not asked.is_set():
                self._left.add(task)
                task.cancel()

    async def _execute(self, item: Item) -> Result:
        given = self.session, self.run_id, item, self.resources, self.recorder
        if self.slots is None:
            return await execute_item(*given)
        task, asked = asyncio.current_task(), asyncio.Event()
        assert task is not None
        asked_mark.set(asked)
        self._executing[task] = asked
        try:
            async with self.slots.slot():
                return await execute_item(*given)
        finally:
            del self._executing[task]

    async def _record_error(self, item: Item, error: NotExecuted) -> None:
        """Record an item that could not be executed; give up if it is not the only one."""
        reason = error.cause.message
        self.has_errors = True
        await self.add_error(
            RunError(test_id=item.test.id, trial=item.trial, attempts=error.attempts, reason=reason)
        )
        self._errors += 1
        self.last_error = reason
        if not error.cause.retryable or self._errors >= MAX_ERRORS:
            raise GiveUp(reason) from error


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


def first_error(error: BaseException) -> Exception:
    """The error itself, or the first one in nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    assert isinstance(error, Exception)
    return error
