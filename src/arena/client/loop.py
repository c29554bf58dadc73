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
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from arena import schemas
from arena.client.client import Client
from arena.client.journal import Entry, Journal, Stage
from arena.client.result import Result
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

EventName = Literal[
    "candidate",
    "applied",
    "assigned",
    "retrying",
    "submitted",
    "judged",
    "paid",
    "refunded",
    "expired",
    "failed",
    "trouble",
]

Execute = Callable[[schemas.Task], Awaitable[str | Result] | str | Result]
Evaluate = Callable[[schemas.Task], Awaitable[bool] | bool]

BREATH_SECONDS = 0.1
"""Between two looks at the market, however much happens in it."""
MAX_DELAY_SECONDS = 60.0
PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopEvent:
    """Something that happened to the agent."""

    kind: EventName
    task: schemas.Task | None = None
    reason: str | None = None
    """Why it failed, or is tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOptions:
    """What the agent takes on."""

    min_reward: str | None = None
    max_concurrent: int = 1
    """Tasks at a time, counting those it has applied for: it never has more than it can do."""
    poll_seconds: float = 5.0
    """How often it looks, even if the stream of events says nothing."""
    retries: int = 2
    """How often an execution that failed is tried again."""
    retry_delay_seconds: float = 1.0
    """Before the first retry; it doubles with each."""


@dataclass(slots=True)
class _State:
    working: dict[int, asyncio.Task[None]] = field(default_factory=dict[int, asyncio.Task[None]])
    declined: set[int] = field(default_factory=set[int])
    """Tasks that are not for us, or that refused us."""


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
        self._listeners: dict[str, list[Callable[[LoopEvent], Any]]] = {}
        self._state = _State()
        self._wake = asyncio.Event()
        self._is_stopping = False

    def on(self, kind: EventName | Literal["*"], listener: Callable[[LoopEvent], Any]) -> None:
        """Call `listener` at each such event; `*` is every one."""
        self._listeners.setdefault(kind, []).append(listener)

    def stop(self) -> None:
        """Take on nothing more; `run` ends soon, and what was being executed with it."""
        self._is_stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Work until `stop` is called."""
        with self.journal.held():
            async with self._listening(), self._ending():
                while not self._is_stopping:
                    self._wake.clear()
                    await self._try_step()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._wake.wait(), self.options.poll_seconds)
                    await asyncio.sleep(BREATH_SECONDS)

    async def step(self) -> None:
        """One look at the market; what it begins goes on."""
        await self._follow_up()
        await self._take_up()
        await self._apply()

    async def candidates(self) -> list[schemas.Task]:
        """The open tasks it would apply for now, were there room."""
        page = await self.client.tasks(state="open", min_reward=self.options.min_reward, limit=PAGE)
        # The oldest first: they are the ones nobody else took.
        return [task for task in reversed(page.tasks) if await self._is_wanted(task)]

    async def complete_task_externally(
        self, task_id: int, result: str | Result
    ) -> schemas.Receipt | None:
        """Hand in the result of a task that was done elsewhere; None where it was in already."""
        task = (await self.client.task(task_id)).task
        if task.agent != self.agent:
            raise Conflict(f"task {task_id} is not assigned to {self.agent}")
        entry = self.journal.get(task_id) or Entry(task_id=task_id)
        return await self._submit(task, _executed(self.journal, entry, result))

    # What a look does

    async def _try_step(self) -> None:
        try:
            await self.step()
        except (Unauthorized, InvalidInput):
            raise  # these do not pass by themselves
        except ArenaError as wrong:
            await self._tell("trouble", reason=wrong.message)

    async def _follow_up(self) -> None:
        """What came of the results that were handed in."""
        for entry in self.journal.entries(Stage.SUBMITTED):
            task = (await self.client.task(entry.task_id)).task
            if task.score is not None and not entry.is_judged_told:
                await self._tell("judged", task)
                entry = self.journal.write(entry, is_judged_told=True)
            if task.state in ("paid", "refunded", "expired"):
                await self._tell(task.state, task)
                self.journal.write(entry, stage=Stage.ENDED)

    async def _take_up(self) -> None:
        """Work on what is assigned to the agent, as much at a time as it may."""
        state = self._state
        for task in await self._assigned():
            entry = self.journal.get(task.id)
            if entry is None:
                entry = self.journal.write(Entry(task_id=task.id))
                await self._tell("assigned", task)
            is_ours = entry.stage is Stage.EXECUTED or self._execute is not None
            if entry.stage is Stage.FAILED or not is_ours or task.id in state.working:
                continue
            if len(state.working) >= self.options.max_concurrent:
                continue
            work = asyncio.create_task(self._work(task, entry))
            state.working[task.id] = work
            work.add_done_callback(lambda _, task_id=task.id: self._rest(task_id))

    def _rest(self, task_id: int) -> None:
        self._state.working.pop(task_id, None)
        self._wake.set()

    async def _apply(self) -> None:
        """Ask for as many open tasks as there is room for, counting what was asked for before."""
        waiting = await self.client.tasks(state="open", applicant=self.agent, limit=PAGE)
        busy = [task for task in await self._assigned() if not self._has_failed(task.id)]
        room = self.options.max_concurrent - waiting.count - len(busy)
        known = {task.id for task in waiting.tasks}
        if room <= 0:
            return
        for task in await self.candidates():
            if task.id in known:
                continue
            if room <= 0:
                return
            try:
                receipt = await self.client.apply(task.id)
            except (Conflict, Forbidden, NotFound):
                # Taken, ended, full, or not ours to do: it was open a moment ago.
                self._state.declined.add(task.id)
                continue
            room -= 1
            await self._tell("applied", task)
            if receipt.state == "assigned":
                self._wake.set()

    async def _assigned(self) -> list[schemas.Task]:
        page = await self.client.tasks(state="assigned", agent=self.agent, limit=PAGE)
        return list(reversed(page.tasks))

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
        is_wanted = self._evaluate(task)
        if inspect.isawaitable(is_wanted):
            is_wanted = await is_wanted
        if not is_wanted:
            self._state.declined.add(task.id)
        return bool(is_wanted)

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
            return _executed(self.journal, entry, await self._answer(task))
        except Exception as wrong:  # whatever an executor raises must not end the loop
            return await self._failed(task, entry, str(wrong) or type(wrong).__name__)

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
                await self._tell("failed", task, wrong.message)
                return self.journal.write(entry, stage=Stage.FAILED, reason=wrong.message)
            else:
                return self.journal.write(entry, stage=Stage.SUBMITTED)

    async def _failed(self, task: schemas.Task, entry: Entry, reason: str) -> Entry:
        """An execution failed: there is another one, or it is told and left to a person."""
        attempts = entry.attempts + 1
        is_last = attempts > self.options.retries
        if is_last:
            await self._tell("failed", task, reason)
        return self.journal.write(
            entry,
            stage=Stage.FAILED if is_last else Stage.ASSIGNED,
            attempts=attempts,
            reason=reason,
            text=None,
            result_hash=None,
        )

    async def _answer(self, task: schemas.Task) -> str | Result:
        assert self._execute is not None
        answer = self._execute(task)
        return await answer if inspect.isawaitable(answer) else answer

    async def _submit(self, task: schemas.Task, entry: Entry) -> schemas.Receipt | None:
        """Hand the result in, once: whoever was cut off before looks first whether it is in."""
        receipt = None
        try:
            receipt = await self.client.submit(task.id, entry.text, result_hash=entry.result_hash)
        except Conflict:
            task = (await self.client.task(task.id)).task
            if task.agent != self.agent or task.result_hash is None:
                raise
        self.journal.write(entry, stage=Stage.SUBMITTED)
        await self._tell("submitted", (await self.client.task(task.id)).task)
        self._wake.set()
        return receipt

    async def _pause(self, task: schemas.Task, reason: str, number: int) -> None:
        await self._tell("retrying", task, reason)
        delay = self.options.retry_delay_seconds * 2 ** (number - 1)
        await asyncio.sleep(min(delay, MAX_DELAY_SECONDS))

    async def _tell(
        self, kind: EventName, task: schemas.Task | None = None, reason: str | None = None
    ) -> None:
        event = LoopEvent(kind=kind, task=task, reason=reason)
        for listener in (*self._listeners.get(kind, ()), *self._listeners.get("*", ())):
            told = listener(event)
            if inspect.isawaitable(told):
                await told

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


def _executed(journal: Journal, entry: Entry, result: str | Result) -> Entry:
    """The entry with its result, on the disk."""
    given = Result(text=result) if isinstance(result, str) else result
    if given.text is not None and not given.text.strip():
        raise AgentSaidNothing("the result is empty")
    return journal.write(
        entry, stage=Stage.EXECUTED, text=given.text, result_hash=given.result_hash
    )
