"""What comes of an agent's tasks once it has submitted: judged, paid, or out of time.

The server knows; the journal says what was reported already. A result counts whoever submitted it:
the loop, or a person with `arena task submit`.
"""

from collections.abc import Callable
from datetime import datetime

from arena.client.journal import Journal, JournalEntry, Stage
from arena.client.loop_options import Report
from arena.errors import Conflict
from arena.market.task import Task, TaskState
from arena.operations.tasks import TaskOperations

ENDS = (TaskState.PAID, TaskState.REFUNDED, TaskState.EXPIRED)
SOMEBODY_WAS_FASTER = frozenset({"too_early", "wrong_state"})
"""Why a task is not ours to end: it has ended, or has moved on into another window."""


class Outcomes:
    """Follows the tasks of one agent to their ends."""

    def __init__(
        self,
        client: TaskOperations,
        agent: str,
        journal: Journal,
        *,
        report: Report,
        is_in_hand: Callable[[int], bool],
    ) -> None:
        self._client = client
        self._agent = agent
        self._journal = journal
        self._report = report
        self._is_in_hand = is_in_hand
        """Whether the loop works on the task just now; then it reports what it does itself."""

    async def step(self) -> None:
        """Report what is new, and end what nobody else has ended in time."""
        entries = [*await self._gone(), *self._journal.entries(Stage.SUBMITTED)]
        if not entries:
            return
        now = (await self._client.market()).now
        for entry in entries:
            task = (await self._client.task(entry.task_id)).task
            if entry.stage is not Stage.SUBMITTED:
                # Only now: while the server was asked, the loop may have taken it up.
                if self._is_in_hand(task.id) or self._journal.get(task.id) != entry:
                    continue
                if task.result_hash is not None:
                    entry = self._journal.write(entry, stage=Stage.SUBMITTED)
                    await self._report("submitted", task)
            await self._report_outcome(entry, await self._ended(task, now))

    async def _gone(self) -> list[JournalEntry]:
        """Tasks that the agent has to do by the journal, but not by the server."""
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
        """The task, ended if it is due: a judge that is away ends nothing, and anyone may."""
        # Where nothing was submitted there is nothing to get: that is left to the poster.
        if task.submitted_at is None or task.exit_at is None or now < task.exit_at:
            return task
        end = self._client.settle if task.state.has_verdict else self._client.expire
        try:
            await end(task.id, by=self._agent)
        except Conflict as error:
            if error.code not in SOMEBODY_WAS_FASTER:
                raise
        return (await self._client.task(task.id)).task
