"""Finds open tasks for an agent and applies for as many as it can take on."""

import asyncio
from datetime import datetime, timedelta

from arena.backoff import Cooldown
from arena.client.executing import call_function
from arena.client.journal import Journal, Stage
from arena.client.loop_options import Evaluate, LoopOptions, Report
from arena.errors import Conflict, Forbidden, NotFound
from arena.market.task import Task, TaskState
from arena.operations.tasks import TaskOperations

ANSWER_SECONDS = 60.0
"""How long an application counts towards the limit; an absent poster must not block the agent."""
REFUSALS = frozenset({"wrong_state", "too_late", "wrong_role", "unknown_task"})
"""Codes of an application refused because the task is taken, ended, full or not for this agent."""


class Applying:
    """One agent's applications."""

    def __init__(
        self,
        client: TaskOperations,
        agent: str,
        journal: Journal,
        options: LoopOptions,
        *,
        evaluate: Evaluate | None,
        report: Report,
        wake: asyncio.Event,
    ) -> None:
        self.cooldown = Cooldown(options.hold_back_seconds)
        """Stops applying after failures: a task that failed stays blocked until its deadline."""
        self._client = client
        self._agent = agent
        self._journal = journal
        self._options = options
        self._evaluate = evaluate
        self._report = report
        self._wake = wake
        self._declined: set[int] = set()
        """Tasks that `evaluate` declined or that refused the application."""
        self._applied_at: dict[int, datetime] = {}
        """When it applied for each task, by the server's clock; requested once for each."""

    async def step(self) -> None:
        """Apply for as many open tasks as there is room for, unless in cooldown."""
        if self.cooldown.is_active or (room := await self.room()) <= 0:
            return
        for task in await self.candidates():
            # Checked again: a task in progress may have failed meanwhile.
            if room <= 0 or self.cooldown.is_active:
                return
            try:
                receipt = await self._client.apply(task.id)
            except (Conflict, Forbidden, NotFound) as error:
                if error.code not in REFUSALS:
                    raise  # every other application would fail too
                self._declined.add(task.id)
                continue
            room -= 1
            self._applied_at[task.id] = receipt.at
            await self._report("applied", task)
            if receipt.state is TaskState.ASSIGNED:
                self._wake.set()

    async def candidates(self) -> list[Task]:
        """The open tasks it would apply for if there were room."""
        applied = {task.id for task in await self._applications()}
        tasks = await self._client.all_tasks(
            state=[TaskState.OPEN], min_reward=self._options.min_reward
        )
        # Oldest first: nobody else has taken them. The server lists the newest first.
        return [
            task
            for task in reversed(tasks)
            if task.id not in applied and await self._is_wanted(task)
        ]

    async def room(self) -> int:
        """How many more tasks it may apply for, given its tasks and recent applications."""
        now = (await self._client.market()).now
        # Applications first: a task assigned between the two requests is then in both lists, and
        # in the other order it could be in neither.
        recent = [task for task in await self._applications() if await self._is_recent(task, now)]
        tasks = [*recent, *await self.assigned()]
        # A task past its deadline takes no room: no result can be submitted, and it may stay
        # unsettled for ever.
        busy = {task.id for task in tasks if now < task.deadline and not self._has_failed(task.id)}
        return max(0, self._options.max_concurrent - len(busy))

    async def assigned(self) -> list[Task]:
        """The tasks assigned to the agent, oldest first."""
        tasks = await self._client.all_tasks(state=[TaskState.ASSIGNED], agent=self._agent)
        return tasks[::-1]

    async def _applications(self) -> list[Task]:
        return await self._client.all_tasks(state=[TaskState.OPEN], applicant=self._agent)

    async def _is_recent(self, task: Task, now: datetime) -> bool:
        """Whether the application is recent enough that it may still be accepted."""
        if task.id not in self._applied_at:  # applied before this loop was started
            applicants = (await self._client.task(task.id)).applicants
            self._applied_at[task.id] = next(
                one.applied_at for one in applicants if one.agent == self._agent
            )
        return now < self._applied_at[task.id] + timedelta(seconds=ANSWER_SECONDS)

    def _has_failed(self, task_id: int) -> bool:
        entry = self._journal.get(task_id)
        return entry is not None and entry.stage is Stage.FAILED

    async def _is_wanted(self, task: Task) -> bool:
        """Whether the agent may and would do it; a declined task stays declined."""
        parties = (task.poster, task.judge, task.fallback_judge, task.arbiter)
        # A task with a commitment needs a salt that is kept and revealed in time: the loop does not
        # do that, a person can.
        if self._agent in parties or task.commit_deadline or task.id in self._declined:
            return False
        if self._evaluate is None or await call_function(self._evaluate, task):
            return True
        self._declined.add(task.id)
        return False
