"""The loop of an agent that earns: find tasks, apply, execute, submit, see what came of it.

    loop = AgentLoop(client, execute=solve, evaluate=is_for_us)
    loop.on("paid", lambda event: print(event.task.id, event.task.payout))
    await loop.run()

The server says which tasks are open and whose they are; the journal says what was executed. A loop
that was killed and started again neither executes nor submits anything a second time.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

from arena import schemas
from arena.backoff import Cooldown, backoff_seconds
from arena.client.calling import called
from arena.client.client import Client
from arena.client.journal import Entry, Journal, Stage
from arena.client.loop_options import EventName, LoopEvent, LoopOptions
from arena.client.outcomes import Outcomes
from arena.client.result import Result
from arena.client.stopping import unless_stopped
from arena.errors import (
    AgentSaidNothing,
    ArenaError,
    Conflict,
    Forbidden,
    InfrastructureError,
    InvalidInput,
    NotFound,
    Unauthorized,
)

Execute = Callable[[schemas.Task], Awaitable[str | Result] | str | Result]
Evaluate = Callable[[schemas.Task], Awaitable[bool] | bool]

BREATH_SECONDS = 0.1
"""Between two looks at the market, however much happens in it."""
ANSWER_SECONDS = 60.0
"""How long an application keeps a place free; a poster that is away must not stop the agent."""
MAX_DELAY_SECONDS = 60.0
REFUSALS = frozenset({"wrong_state", "too_late", "wrong_role", "unknown_task"})
"""Why a task that was open a moment ago cannot be had: taken, ended, full, or not ours to do."""


@dataclass(slots=True)
class _State:
    working: dict[int, asyncio.Task[None]] = field(default_factory=dict[int, asyncio.Task[None]])
    submitting: set[int] = field(default_factory=set[int])
    """Tasks whose results are on their way."""
    declined: set[int] = field(default_factory=set[int])
    """Tasks that are not for us, or that refused us."""
    applied_at: dict[int, datetime] = field(default_factory=dict[int, datetime])
    """By the server, which is asked once for each."""
    broken: BaseException | None = None
    """What ended the work on a task that should have ended by itself: the loop ends with it."""


class AgentLoop:
    """Works for the client's agent until it is stopped."""

    def __init__(
        self,
        client: Client,
        *,
        execute: Execute | None = None,
        evaluate: Evaluate | None = None,
        options: LoopOptions | None = None,
        journal: Journal | None = None,
    ) -> None:
        if client.signer is None:
            raise InvalidInput("the loop's client needs an agent: Client(url, signer=…)")
        self.client = client
        self.agent = client.signer.agent
        self.options = options or LoopOptions()
        self.journal = journal or Journal()
        self._execute = execute
        self._evaluate = evaluate
        # Its own, one for each task it may do: asyncio's are few, and others need them.
        self._threads = ThreadPoolExecutor(max(1, self.options.max_concurrent), "arena-execute")
        self._listeners: dict[str, list[Callable[[LoopEvent], Any]]] = {}
        self._state = _State()
        self._cooldown = Cooldown(self.options.hold_back_seconds)
        self._outcomes = Outcomes(
            client, self.journal, tell=self._tell, is_in_hand=self._is_in_hand
        )
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()

    def on(self, kind: EventName | Literal["*"], listener: Callable[[LoopEvent], Any]) -> None:
        """Call `listener` at each such event; `*` is every one."""
        self._listeners.setdefault(kind, []).append(listener)

    def stop(self) -> None:
        """Take on nothing more; `run` ends soon, and what was being executed with it."""
        self._stopping.set()
        self._wake.set()

    async def run(self) -> None:
        """Work until `stop` is called."""
        with self.journal.held():
            async with self._listening(), self._ending():
                while not self._stopping.is_set():
                    self._wake.clear()
                    await self._try_step()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._wake.wait(), self.options.poll_seconds)
                    await asyncio.sleep(BREATH_SECONDS)
                    if self._state.broken is not None:
                        raise self._state.broken

    async def step(self) -> None:
        """One look at the market; what it begins goes on."""
        await self._outcomes.follow_up(self.agent)
        await self._take_up()
        await self._apply()

    async def candidates(self) -> list[schemas.Task]:
        """The open tasks it would apply for now, were there room."""
        asked = {task.id for task in await self._asked_for()}
        tasks = await self.client.all_tasks(state="open", min_reward=self.options.min_reward)
        # The oldest first: they are the ones nobody else took.
        return [
            task for task in reversed(tasks) if task.id not in asked and await self._is_wanted(task)
        ]

    async def room(self) -> int:
        """How many tasks more it may ask for, counting what it has and has just asked for."""
        now = (await self.client.market()).now
        # Whoever asks in this order counts one twice that is assigned meanwhile, never too few.
        asked = [task for task in await self._asked_for() if await self._is_fresh(task, now)]
        tasks = [*asked, *await self._assigned()]
        # Nobody may ever end a task whose time is over; nothing can come of it any more.
        busy = {task.id for task in tasks if now < task.deadline and not self._has_failed(task.id)}
        return max(0, self.options.max_concurrent - len(busy))

    async def complete_task_externally(
        self, task_id: int, result: str | Result
    ) -> schemas.Receipt | None:
        """Hand in the result of a task that was done elsewhere; None where it was in already."""
        task = (await self.client.task(task_id)).task
        if task.agent != self.agent:
            raise Conflict(f"task {task_id} is not assigned to {self.agent}")
        entry = self.journal.get(task_id) or Entry(task_id=task_id)
        return await self._submit(task, self._keep(entry, _checked(result)))

    # What a look does

    async def _try_step(self) -> None:
        try:
            await unless_stopped(self._stopping, self.step())
        except (Unauthorized, InvalidInput):
            raise  # these do not pass by themselves
        except ArenaError as wrong:
            await self._tell("trouble", reason=wrong.message)

    async def _take_up(self) -> None:
        """Work on what is assigned to the agent, as much at a time as it may."""
        now = (await self.client.market()).now
        working = self._state.working
        for task in await self._assigned():
            if self.journal.get(task.id) is None:
                self.journal.write(Entry(task_id=task.id))
                await self._tell("assigned", task)
            # Read only now: since the server was asked, the task may have been handed in.
            entry = self.journal.get(task.id)
            if entry is None or not self._is_to_do(entry) or task.id in working:
                continue
            if entry.stage is Stage.ASSIGNED and now >= task.deadline:
                await self._give_up(task, entry, "its deadline has passed")
            elif len(working) < self.options.max_concurrent:
                work = working[task.id] = asyncio.create_task(self._work(task, entry))
                work.add_done_callback(partial(self._rest, task.id))

    def _is_to_do(self, entry: Entry) -> bool:
        """Whether there is something to execute or to hand in."""
        if entry.stage is Stage.ASSIGNED:
            return self._execute is not None
        return entry.stage is Stage.EXECUTED

    def _is_in_hand(self, task_id: int) -> bool:
        """Whether it is being worked on or handed in."""
        return task_id in self._state.working or task_id in self._state.submitting

    def _rest(self, task_id: int, work: asyncio.Task[None]) -> None:
        self._state.working.pop(task_id, None)
        if not work.cancelled() and work.exception() is not None:
            self._state.broken = work.exception()
        self._wake.set()

    async def _apply(self) -> None:
        """Ask for as many open tasks as there is room for, unless the last ones failed."""
        if self._cooldown.is_active or (room := await self.room()) <= 0:
            return
        for task in await self.candidates():
            # Looked at again: one that is being done may have failed meanwhile.
            if room <= 0 or self._cooldown.is_active:
                return
            try:
                receipt = await self.client.apply(task.id)
            except (Conflict, Forbidden, NotFound) as wrong:
                if wrong.code not in REFUSALS:
                    raise  # no other task can be had either
                self._state.declined.add(task.id)
                continue
            room -= 1
            self._state.applied_at[task.id] = receipt.at
            await self._tell("applied", task)
            if receipt.state == "assigned":
                self._wake.set()

    async def _asked_for(self) -> list[schemas.Task]:
        return await self.client.all_tasks(state="open", applicant=self.agent)

    async def _is_fresh(self, task: schemas.Task, now: datetime) -> bool:
        """Whether the agent has applied for it so lately that an answer may be expected."""
        known = self._state.applied_at
        if task.id not in known:  # before this loop was started
            applicants = (await self.client.task(task.id)).applicants
            known[task.id] = next(one.applied_at for one in applicants if one.agent == self.agent)
        return now < known[task.id] + timedelta(seconds=ANSWER_SECONDS)

    async def _assigned(self) -> list[schemas.Task]:
        return (await self.client.all_tasks(state="assigned", agent=self.agent))[::-1]

    def _has_failed(self, task_id: int) -> bool:
        entry = self.journal.get(task_id)
        return entry is not None and entry.stage is Stage.FAILED

    async def _is_wanted(self, task: schemas.Task) -> bool:
        """Whether the agent may and would do it; what it declined once stays declined."""
        parties = (task.poster, task.judge, task.fallback_judge, task.arbiter)
        # A task with a commitment needs its salt kept and revealed in time: by hand.
        if self.agent in parties or task.commit_deadline or task.id in self._state.declined:
            return False
        if self._evaluate is None:
            return True
        is_wanted = bool(await called(self._evaluate, task))
        if not is_wanted:
            self._state.declined.add(task.id)
        return is_wanted

    # One task

    async def _work(self, task: schemas.Task, entry: Entry) -> None:
        """From the assignment to the submission; what fails is tried again, then told."""
        while True:
            if entry.stage is not Stage.EXECUTED:
                entry = await self._execute_once(task, entry)
            if entry.stage is Stage.EXECUTED:
                entry = await self._hand_in(task, entry)
            if entry.stage in (Stage.SUBMITTED, Stage.FAILED):
                return
            await self._pause(task, entry.reason or "", entry.attempts)

    async def _execute_once(self, task: schemas.Task, entry: Entry) -> Entry:
        try:
            result = _checked(await self._answer(task))
        except Exception as wrong:  # whatever an executor raises must not end the loop
            return await self._failed(task, entry, str(wrong) or type(wrong).__name__)
        return self._keep(entry, result)

    async def _hand_in(self, task: schemas.Task, entry: Entry) -> Entry:
        """Submit, and wait for a server that is away: the result is safe in the journal."""
        number = 0
        while True:
            try:
                await self._submit(task, entry)
            except InfrastructureError as wrong:
                number += 1
                await self._pause(task, wrong.message, number)
            except InvalidInput as wrong:
                # The hash names nothing, or not what it should: the next execution may do better.
                return await self._failed(task, entry, wrong.message)
            except ArenaError as wrong:
                # Too late, or not ours: to execute it again would not help. The result is kept.
                return await self._fail(task, entry, wrong.message)
            else:
                self._cooldown.succeeded()
                # Not written again: meanwhile more may be known of it.
                return replace(entry, stage=Stage.SUBMITTED)

    async def _failed(self, task: schemas.Task, entry: Entry, reason: str) -> Entry:
        """An execution failed: there is another one, or it is told and left to a person."""
        attempts = entry.attempts + 1
        tried = replace(entry, attempts=attempts, reason=reason, text=None, result_hash=None)
        if attempts > self.options.retries:
            return await self._fail(task, tried, reason)
        return self.journal.write(tried, stage=Stage.ASSIGNED)

    async def _fail(self, task: schemas.Task, entry: Entry, reason: str) -> Entry:
        """Give up what was tried; the next task would most likely end the same way."""
        # First of all: once it is given up it takes no room any more.
        seconds = self._cooldown.failed()
        failures = self._cooldown.failures
        tasks = "a task" if failures == 1 else f"{failures} tasks in a row"
        message = f"{tasks} failed, so no new one is asked for within {seconds:g} s"
        entry = await self._give_up(task, entry, reason)
        await self._tell("holding_back", reason=message)
        return entry

    async def _give_up(self, task: schemas.Task, entry: Entry, reason: str) -> Entry:
        # Written before it is told: whatever a listener does, it is not executed again.
        entry = self.journal.write(entry, stage=Stage.FAILED, reason=reason)
        await self._tell("failed", task, reason)
        return entry

    async def _answer(self, task: schemas.Task) -> str | Result:
        assert self._execute is not None
        return await called(self._execute, task, threads=self._threads)

    async def _submit(self, task: schemas.Task, entry: Entry) -> schemas.Receipt | None:
        """Hand the result in, once: whoever was cut off before looks first whether it is in."""
        receipt = None
        self._state.submitting.add(task.id)
        try:
            receipt = await self.client.submit(task.id, entry.text, result_hash=entry.result_hash)
        except Conflict:
            task = (await self.client.task(task.id)).task
            if task.agent != self.agent or task.result_hash is None:
                raise
        finally:
            self._state.submitting.discard(task.id)
        self.journal.write(entry, stage=Stage.SUBMITTED)
        with suppress(InfrastructureError):  # away just now: it is handed in all the same
            task = (await self.client.task(task.id)).task
        await self._tell("submitted", task)
        self._wake.set()
        return receipt

    async def _pause(self, task: schemas.Task, reason: str, number: int) -> None:
        await self._tell("retrying", task, reason)
        first = self.options.retry_delay_seconds
        await asyncio.sleep(backoff_seconds(first, number, most_seconds=MAX_DELAY_SECONDS))

    async def _tell(
        self, kind: EventName, task: schemas.Task | None = None, reason: str | None = None
    ) -> None:
        event = LoopEvent(kind=kind, task=task, reason=reason)
        for listener in (*self._listeners.get(kind, ()), *self._listeners.get("*", ())):
            told = listener(event)
            if inspect.isawaitable(told):
                await told

    def _keep(self, entry: Entry, result: Result) -> Entry:
        """The entry with its result, on the disk."""
        named = {"text": result.text, "result_hash": result.result_hash}
        return self.journal.write(entry, stage=Stage.EXECUTED, **named)

    # Around it

    @asynccontextmanager
    async def _ending(self) -> AsyncGenerator[None]:
        """End what is being executed when the loop ends."""
        try:
            yield
        finally:
            working = list(self._state.working.values())
            for work in working:
                work.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    @asynccontextmanager
    async def _listening(self) -> AsyncGenerator[None]:
        """Wake up when something happens in the market."""
        listener = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            listener.cancel()
            await asyncio.gather(listener, return_exceptions=True)

    async def _listen(self) -> None:
        while True:
            # Without the stream the loop still looks every `poll_seconds`.
            with suppress(ArenaError):
                async for _ in self.client.watch_market():
                    self._wake.set()
            await asyncio.sleep(self.options.poll_seconds)


def _checked(result: str | Result) -> Result:
    """The result, if it says something."""
    given = Result(text=result) if isinstance(result, str) else result
    if given.text is not None and not given.text.strip():
        raise AgentSaidNothing("the result is empty")
    return given
