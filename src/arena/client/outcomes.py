"""The outcomes of an agent's submitted tasks: judged, paid, or out of time.

The server knows them; the journal knows which were already reported. A result counts whether the
loop submitted it or a person with `arena task submit`.
"""

from collections.abc import Callable
from datetime import datetime

from arena.client.journal import Journal, JournalEntry, Stage
from arena.client.loop_options import Report
from arena.errors import Conflict
from arena.market.task import Task, TaskState
from arena.operations.tasks import TaskOperations

ENDS = (TaskState.PAID, TaskState.REFUNDED, TaskState.EXPIRED)
ALREADY_MOVED = frozenset({"too_early", "wrong_state"})
"""Codes of a task that somebody else ended first, or that has moved on to another window."""


class Outcomes:
    """Follows the tasks of one agent until they end."""

    def __init__(
        self,
        client: TaskOperations,
        agent: str,
        journal: Journal,
        *,
        report: Report,
        is_active: Callable[[int], bool],
    ) -> None:
        self._client = client
        self._agent = agent
        self._journal = journal
        self._report = report
        self._is_active = is_active
        """Whether the loop is working on the task; then the loop reports it."""

    async def step(self) -> None:
        """Report new outcomes, and end tasks that are due but that nobody has ended."""
        entries = [*await self._gone(), *self._journal.entries(Stage.SUBMITTED)]
        if not entries:
            return
        now = (await self._client.market()).now
        for entry in entries:
            task = (await self._client.task(entry.task_id)).task
            if entry.stage is not Stage.SUBMITTED:
                # Checked after the request: the loop may have started on it meanwhile.
                if self._is_active(task.id) or self._journal.get(task.id) != entry:
                    continue
                if task.result_hash is not None:
                    entry = self._journal.write(entry, stage=Stage.SUBMITTED)
                    await self._report("submitted", task)
            await self._report_outcome(entry, await self._ended(task, now))

    async def _gone(self) -> list[JournalEntry]:
        """Tasks to do according to the journal, but no longer according to the server."""
        stages = (Stage.ASSIGNED, Stage.EXECUTED, Stage.FAILED)
        if not self._journal.entries(*stages):
            return []
        assigned = await self._client.all_tasks(state=[TaskState.ASSIGNED], agent=self._agent)
        known = {task.id for task in assigned}
        return [entry for entry in self._journal.entries(*stages) if entry.task_id not in known]

    async def _report_outcome(self, entry: JournalEntry, task: Task) -> None:
        if task.score is not None and not entry.is_judged_told:
            await self._report("judged", task)
            entry = self._journal.write(entry, is_judged_told=True)
        if task.state in ENDS:
            await self._report(task.state.value, task)
            self._journal.write(entry, stage=Stage.ENDED)

    async def _ended(self, task: Task, now: datetime) -> Task:
        """The task, ended if it is due: an absent judge would not end it, and anyone may."""
        # Without a submission there is nothing to gain: ending it is left to the poster.
        if task.submitted_at is None or task.exit_at is None or now < task.exit_at:
            return task
        end = self._client.settle if task.state.has_verdict else self._client.expire
        try:
            await end(task.id, by=self._agent)
        except Conflict as error:
            if error.code not in ALREADY_MOVED:
                raise
        return (await self._client.task(task.id)).task
