"""The loop of an agent that earns: find tasks, apply, execute, submit, follow the outcome.

    loop = AgentLoop(client, execute=solve, evaluate=is_for_us)
    loop.on("paid", lambda event: print(event.task.id, event.task.payout))
    await loop.run()

The server knows which tasks are open and who has them; the journal knows what was executed. A loop
that is killed and restarted does not execute or submit anything twice.
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
from arena.client.executing import TaskResult, call_function, checked_result, unless_stopped
from arena.client.journal import Journal, JournalEntry, Stage
from arena.client.loop_options import Evaluate, EventName, Execute, LoopEvent, LoopOptions
from arena.client.outcomes import Outcomes
from arena.errors import ArenaError, Conflict, InfrastructureError, InvalidInput, Unauthorized
from arena.market.call import Receipt
from arena.market.task import Task
from arena.operations.tasks import TaskOperations

MIN_STEP_SECONDS = 0.1
"""The pause between two steps, however many events the market sends."""
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
        # A thread per concurrent task: asyncio's default pool is small, and an executor blocks its
        # thread for minutes.
        self._threads = ThreadPoolExecutor(max(1, self.options.max_concurrent), "arena-execute")
        self._listeners: dict[str, list[Callable[[LoopEvent], Any]]] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        self._submitting: set[int] = set()
        """Tasks whose results are being submitted."""
        self._failures = 0
        """Consecutive steps that failed."""
        self._trouble: str | None = None
        """The trouble that was reported last, until a step succeeds."""
        self._broken: BaseException | None = None
        """An unexpected error in the work on a task; the loop raises it."""
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
            client, self.agent, self.journal, report=self._report, is_active=self._is_active
        )
        self.candidates = self._applying.candidates
        self.room = self._applying.room

    def on(self, kind: EventName | Literal["*"], listener: Callable[[LoopEvent], Any]) -> None:
        """Call `listener` on each event of this kind; `*` means every kind."""
        self._listeners.setdefault(kind, []).append(listener)

    def stop(self) -> None:
        """Stop the loop: `run` ends soon, and executions in progress are cancelled."""
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
                        await asyncio.wait_for(self._wake.wait(), self._poll_seconds)
                    await asyncio.sleep(MIN_STEP_SECONDS)
                    if self._broken is not None:
                        raise self._broken

    async def step(self) -> None:
        """Check the market once; the work it starts continues in the background."""
        # In this order: what has ended, or is assigned already, leaves less or more room to apply.
        await self._outcomes.step()
        await self._start_work()
        await self._applying.step()

    async def complete_task_externally(
        self, task_id: int, result: str | TaskResult
    ) -> Receipt | None:
        """Submit the result of a task done elsewhere; None if it was already submitted."""
        task = (await self.client.task(task_id)).task
        if task.agent != self.agent:
            raise Conflict(f"task {task_id} is not assigned to {self.agent}")
        entry = self.journal.get(task_id) or JournalEntry(task_id=task_id)
        return await self._submit(task, self._keep(entry, checked_result(result)))

    async def _try_step(self) -> None:
        try:
            await unless_stopped(self._stopping, self.step())
        except (Unauthorized, InvalidInput):
            raise  # retrying does not help
        except ArenaError as error:
            self._failures += 1
            # An outage once, not at every poll: a server may be away for days.
            if not isinstance(error, InfrastructureError) or error.message != self._trouble:
                self._trouble = error.message
                await self._report("trouble", reason=error.message)
        else:
            self._failures, self._trouble = 0, None

    @property
    def _poll_seconds(self) -> float:
        poll = self.options.poll_seconds
        most = max(poll, MAX_DELAY_SECONDS)
        return backoff_seconds(poll, max(1, self._failures), most_seconds=most)

    async def _start_work(self) -> None:
        """Start the assigned tasks, up to `max_concurrent` at a time."""
        now = (await self.client.market()).now
        for task in await self._applying.assigned():
            if self.journal.get(task.id) is None:
                self.journal.write(JournalEntry(task_id=task.id))
                await self._report("assigned", task)
            # Read again after the requests above: the task may have been submitted meanwhile.
            entry = self.journal.get(task.id)
            if entry is None or not self._is_to_do(entry) or task.id in self._working:
                continue
            # To be committed to and revealed by hand: `arena task commit` and `reveal`.
            if task.commit_deadline is not None:
                continue
            if entry.stage is Stage.ASSIGNED and now >= task.deadline:
                await self._give_up(task, entry, "its deadline has passed")
            elif len(self._working) < self.options.max_concurrent:
                work = self._working[task.id] = asyncio.create_task(self._work(task, entry))
                work.add_done_callback(partial(self._finished, task.id))

    def _is_to_do(self, entry: JournalEntry) -> bool:
        """Whether it has to be executed or submitted."""
        if entry.stage is Stage.ASSIGNED:
            return self._execute is not None
        return entry.stage is Stage.EXECUTED

    def _is_active(self, task_id: int) -> bool:
        """Whether it is being worked on or submitted."""
        return task_id in self._working or task_id in self._submitting

    def _finished(self, task_id: int, work: asyncio.Task[None]) -> None:
        self._working.pop(task_id, None)
        if not work.cancelled() and work.exception() is not None:
            self._broken = work.exception()
        self._wake.set()

    # One task

    async def _work(self, task: Task, entry: JournalEntry) -> None:
        """Execute and submit one task; failures are retried, then reported."""
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
            result = checked_result(await call_function(self._execute, task, threads=self._threads))
        except Exception as error:  # an executor may raise anything; it must not end the loop
            return await self._failed(task, entry, str(error) or type(error).__name__)
        return self._keep(entry, result)

    async def _submit_patiently(self, task: Task, entry: JournalEntry) -> JournalEntry:
        """Submit; retry while the server is unavailable: the result is safe in the journal."""
        failures = 0
        while True:
            try:
                await self._submit(task, entry)
            except InfrastructureError as error:
                failures += 1
                await self._pause(task, error.message, failures)
            except InvalidInput as error:
                # The hash refers to missing or wrong content, or the language of the code is
                # unclear: the next execution may do better.
                return await self._failed(task, entry, error.message)
            except ArenaError as error:
                # Too late, or not ours any more: executing it again would not help. The result is
                # kept.
                return await self._fail(task, entry, error.message)
            else:
                self._applying.cooldown.succeeded()
                # `_submit` wrote it to the journal; by now the entry there may be newer than ours.
                return replace(entry, stage=Stage.SUBMITTED)

    async def _failed(self, task: Task, entry: JournalEntry, reason: str) -> JournalEntry:
        """Record a failed execution: it is retried, or given up after the last retry."""
        attempts = entry.attempts + 1
        tried = replace(
            entry, attempts=attempts, reason=reason, text=None, result_hash=None, language=None
        )
        if attempts > self.options.retries:
            return await self._fail(task, tried, reason)
        return self.journal.write(tried, stage=Stage.ASSIGNED)

    async def _fail(self, task: Task, entry: JournalEntry, reason: str) -> JournalEntry:
        """Give the task up and stop applying for a while: the next one would likely fail too."""
        # The cooldown first: once the task is given up it frees room, and another task could apply.
        cooldown = self._applying.cooldown
        seconds = cooldown.failed()
        tasks = "a task" if cooldown.failures == 1 else f"{cooldown.failures} tasks in a row"
        message = f"{tasks} failed, so it applies for no other for {seconds:g} s"
        entry = await self._give_up(task, entry, reason)
        await self._report("holding_back", reason=message)
        return entry

    async def _give_up(self, task: Task, entry: JournalEntry, reason: str) -> JournalEntry:
        # Written before it is reported: a listener that raises must not cause another execution.
        entry = self.journal.write(entry, stage=Stage.FAILED, reason=reason)
        await self._report("failed", task, reason)
        return entry

    async def _submit(self, task: Task, entry: JournalEntry) -> Receipt | None:
        """Submit the result once; None if it was already submitted."""
        receipt = None
        self._submitting.add(task.id)
        try:
            receipt = await self.client.submit(
                task.id, entry.text, result_hash=entry.result_hash, language=entry.language
            )
        except Conflict:
            # Killed between submitting and writing the journal, or submitted by a person.
            task = (await self.client.task(task.id)).task
            if task.agent != self.agent or task.result_hash is None:
                raise
        finally:
            self._submitting.discard(task.id)
        self.journal.write(entry, stage=Stage.SUBMITTED)
        with suppress(InfrastructureError):  # unavailable now, but the submission succeeded
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
            returned = listener(event)
            if inspect.isawaitable(returned):
                await returned

    def _keep(self, entry: JournalEntry, result: TaskResult) -> JournalEntry:
        """The entry with its result, written to the journal."""
        return self.journal.write(
            entry,
            stage=Stage.EXECUTED,
            text=result.text,
            result_hash=result.result_hash,
            language=result.language,
        )

    # Start and end

    @asynccontextmanager
    async def _ending(self) -> AsyncGenerator[None]:
        """Cancel executions in progress when the loop ends."""
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
            # Without the stream the loop still polls every `poll_seconds`.
            with suppress(ArenaError):
                async for _ in self.client.watch_market():
                    self._wake.set()
            await asyncio.sleep(self.options.poll_seconds)
