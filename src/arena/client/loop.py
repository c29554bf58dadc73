"""The loop of an agent that earns: find tasks, apply, execute, submit, see what came of it.

    loop = AgentLoop(client, execute=solve, evaluate=is_for_us)
    loop.on("paid", lambda event: print(event.task.id, event.task.payout))
    await loop.run()

The server says which tasks are open and whose they are; the journal says what was executed. A loop
that was killed and started again neither executes nor submits anything a second time.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from arena.backoff import backoff_seconds
from arena.client.applying import Applying
from arena.client.executing import Result, called, checked_result, unless_stopped
from arena.client.journal import Journal, JournalEntry, Stage
from arena.client.loop_options import Evaluate, EventName, Execute, LoopEvent, LoopOptions
from arena.client.outcomes import Outcomes
from arena.errors import ArenaError, Conflict, InfrastructureError, InvalidInput, Unauthorized
from arena.market.call import Receipt
from arena.market.task import Task
from arena.operations.tasks import TaskOperations

BREATH_SECONDS = 0.1
"""Between two steps, however much happens in the market."""
MAX_DELAY_SECONDS = 60.0


class AgentLoop:
    """Works for the client's agent until it is stopped."""

    def __init__(
        self,
        client: TaskOperations,
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
        # One for each task it may do: asyncio's own threads are few, and others need them.
        self._threads = ThreadPoolExecutor(max(1, self.options.max_concurrent), "arena-execute")
        self._listeners: dict[str, list[Callable[[LoopEvent], Any]]] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        self._submitting: set[int] = set()
        """Tasks whose results are on their way."""
        self._broken: BaseException | None = None
        """What ended the work on a task unexpectedly: the loop ends with it."""
        self._wake = asyncio.Event()
        self._stopping = asyncio.Event()
        self._applying = Applying(
            client,
            self.agent,
            self.journal,
            self.options,
            evaluate=evaluate,
            report=self._report,
            wake=self._wake,
        )
        self._outcomes = Outcomes(
            client, self.agent, self.journal, report=self._report, is_in_hand=self._is_in_hand
        )
        self.candidates = self._applying.candidates
        self.room = self._applying.room

    def on(self, kind: EventName | Literal["*"], listener: Callable[[LoopEvent], Any]) -> None:
        """Call `listener` at each such event; `*` is every one."""
        self._listeners.setdefault(kind, []).append(listener)

    def stop(self) -> None:
        """Take on nothing more; `run` ends soon, and what is being executed with it."""
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
                    if self._broken is not None:
                        raise self._broken

    async def step(self) -> None:
        """One look at the market; the work it starts goes on."""
        await self._outcomes.step()
        await self._start_work()
        await self._applying.step()

    async def complete_task_externally(self, task_id: int, result: str | Result) -> Receipt | None:
        """Submit the result of a task that was done elsewhere; None if it was in already."""
        task = (await self.client.task(task_id)).task
        if task.agent != self.agent:
            raise Conflict(f"task {task_id} is not assigned to {self.agent}")
        entry = self.journal.get(task_id) or JournalEntry(task_id=task_id)
        return await self._submit(task, self._keep(entry, checked_result(result)))

    async def _try_step(self) -> None:
        try:
            await unless_stopped(self._stopping, self.step())
        except (Unauthorized, InvalidInput):
            raise  # waiting does not cure these
        except ArenaError as error:
            await self._report("trouble", reason=error.message)

    async def _start_work(self) -> None:
        """Start on what is assigned to the agent, as much at a time as it may."""
        now = (await self.client.market()).now
        for task in await self._applying.assigned():
            if self.journal.get(task.id) is None:
                self.journal.write(JournalEntry(task_id=task.id))
                await self._report("assigned", task)
            # Read only now: since the server was asked, the task may have been submitted.
            entry = self.journal.get(task.id)
            if entry is None or not self._is_to_do(entry) or task.id in self._working:
                continue
            if entry.stage is Stage.ASSIGNED and now >= task.deadline:
                await self._give_up(task, entry, "its deadline has passed")
            elif len(self._working) < self.options.max_concurrent:
                work = self._working[task.id] = asyncio.create_task(self._work(task, entry))
                work.add_done_callback(partial(self._finished, task.id))

    def _is_to_do(self, entry: JournalEntry) -> bool:
        """Whether there is something to execute or to submit."""
        if entry.stage is Stage.ASSIGNED:
            return self._execute is not None
        return entry.stage is Stage.EXECUTED

    def _is_in_hand(self, task_id: int) -> bool:
        """Whether it is being worked on or submitted."""
        return task_id in self._working or task_id in self._submitting

    def _finished(self, task_id: int, work: asyncio.Task[None]) -> None:
        self._working.pop(task_id, None)
        if not work.cancelled() and work.exception() is not None:
            self._broken = work.exception()
        self._wake.set()

    # One task

    async def _work(self, task: Task, entry: JournalEntry) -> None:
        """From the assignment to the submission; what fails is retried, then reported."""
        while True:
            if entry.stage is not Stage.EXECUTED:
                entry = await self._execute_once(task, entry)
            if entry.stage is Stage.EXECUTED:
                entry = await self._submit_patiently(task, entry)
            if entry.stage in (Stage.SUBMITTED, Stage.FAILED):
                return
            await self._pause(task, entry.reason or "", entry.attempts)

    async def _execute_once(self, task: Task, entry: JournalEntry) -> JournalEntry:
        assert self._execute is not None
        try:
            result = checked_result(await called(self._execute, task, threads=self._threads))
        except Exception as error:  # whatever an executor raises must not end the loop
            return await self._failed(task, entry, str(error) or type(error).__name__)
        return self._keep(entry, result)

    async def _submit_patiently(self, task: Task, entry: JournalEntry) -> JournalEntry:
        """Submit, and wait for a server that is away: the result is safe in the journal."""
        failures = 0
        while True:
            try:
                await self._submit(task, entry)
            except InfrastructureError as error:
                failures += 1
                await self._pause(task, error.message, failures)
            except InvalidInput as error:
                # The hash names nothing, or not what it should: the next execution may do better.
                return await self._failed(task, entry, error.message)
            except ArenaError as error:
                # Too late, or not ours: executing it again would not help. The result is kept.
                return await self._fail(task, entry, error.message)
            else:
                self._applying.cooldown.succeeded()
                # Not written to the journal: it may already know more of the task.
                return replace(entry, stage=Stage.SUBMITTED)

    async def _failed(self, task: Task, entry: JournalEntry, reason: str) -> JournalEntry:
        """An execution failed: it is retried, or reported and left to a person."""
        attempts = entry.attempts + 1
        tried = replace(entry, attempts=attempts, reason=reason, text=None, result_hash=None)
        if attempts > self.options.retries:
            return await self._fail(task, tried, reason)
        return self.journal.write(tried, stage=Stage.ASSIGNED)

    async def _fail(self, task: Task, entry: JournalEntry, reason: str) -> JournalEntry:
        """Give up what was tried; the next task would most likely end the same way."""
        # First of all: once it is given up it takes no room any more.
        cooldown = self._applying.cooldown
        seconds = cooldown.failed()
        tasks = "a task" if cooldown.failures == 1 else f"{cooldown.failures} tasks in a row"
        message = f"{tasks} failed, so it applies for no other within {seconds:g} s"
        entry = await self._give_up(task, entry, reason)
        await self._report("holding_back", reason=message)
        return entry

    async def _give_up(self, task: Task, entry: JournalEntry, reason: str) -> JournalEntry:
        # Written before it is reported: whatever a listener does, it is not executed again.
        entry = self.journal.write(entry, stage=Stage.FAILED, reason=reason)
        await self._report("failed", task, reason)
        return entry

    async def _submit(self, task: Task, entry: JournalEntry) -> Receipt | None:
        """Submit the result, once: None where it turns out that it was submitted before."""
        receipt = None
        self._submitting.add(task.id)
        try:
            receipt = await self.client.submit(task.id, entry.text, result_hash=entry.result_hash)
        except Conflict:
            task = (await self.client.task(task.id)).task
            if task.agent != self.agent or task.result_hash is None:
                raise
        finally:
            self._submitting.discard(task.id)
        self.journal.write(entry, stage=Stage.SUBMITTED)
        with suppress(InfrastructureError):  # away just now: it is submitted all the same
            task = (await self.client.task(task.id)).task
        await self._report("submitted", task)
        self._wake.set()
        return receipt

    async def _pause(self, task: Task, reason: str, failures: int) -> None:
        await self._report("retrying", task, reason)
        first = self.options.retry_delay_seconds
        await asyncio.sleep(backoff_seconds(first, failures, most_seconds=MAX_DELAY_SECONDS))

    async def _report(
        self, kind: EventName, task: Task | None = None, reason: str | None = None
    ) -> None:
        event = LoopEvent(kind=kind, task=task, reason=reason)
        for listener in (*self._listeners.get(kind, ()), *self._listeners.get("*", ())):
            heard = listener(event)
            if inspect.isawaitable(heard):
                await heard

    def _keep(self, entry: JournalEntry, result: Result) -> JournalEntry:
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
            working = list(self._working.values())
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
