"""What comes of an agent's tasks once they are out of its hands: judged, paid, or out of time.

The server knows; the journal says what was told already. A result counts whoever handed it in: the
loop, or a person with `arena task submit`.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime

from arena import schemas
from arena.client.client import Client
from arena.client.journal import Entry, Journal, Stage
from arena.client.loop_options import EventName
from arena.errors import Conflict

ENDS = ("paid", "refunded", "expired")
SOMEBODY_WAS_FASTER = frozenset({"too_early", "wrong_state"})
"""Why a task is not ours to end: it has ended, or has gone on into another window."""


class Outcomes:
    """Follows the tasks of one agent to their ends."""

    def __init__(
        self,
        client: Client,
        journal: Journal,
        *,
        tell: Callable[[EventName, schemas.Task], Awaitable[None]],
        is_in_hand: Callable[[int], bool],
    ) -> None:
        self._client = client
        self._journal = journal
        self._tell = tell
        self._is_in_hand = is_in_hand
        """Whether the loop works on the task just now; then it tells itself what it did."""

    async def follow_up(self, agent: str) -> None:
        """Tell what is new, and end what nobody else has ended in time."""
        entries = [*await self._gone(agent), *self._journal.entries(Stage.SUBMITTED)]
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
                    await self._tell("submitted", task)
            await self._tell_outcome(entry, await self._ended(task, agent, now))

    async def _gone(self, agent: str) -> list[Entry]:
        """Tasks the journal has as the agent's to do, and the server has not."""
        stages = (Stage.ASSIGNED, Stage.EXECUTED, Stage.FAILED)
        if not self._journal.entries(*stages):
            return []
        assigned = await self._client.all_tasks(state="assigned", agent=agent)
        known = {task.id for task in assigned}
        return [entry for entry in self._journal.entries(*stages) if entry.task_id not in known]

    async def _tell_outcome(self, entry: Entry, task: schemas.Task) -> None:
        if task.score is not None and not entry.is_judged_told:
            await self._tell("judged", task)
            entry = self._journal.write(entry, is_judged_told=True)
        if task.state in ENDS:
            await self._tell(task.state, task)
            self._journal.write(entry, stage=Stage.ENDED)

    async def _ended(self, task: schemas.Task, agent: str, now: datetime) -> schemas.Task:
        """The task, ended if it is due: a judge that is away ends nothing, and anyone may."""
        # Where nothing was handed in there is nothing to get: that is left to the poster.
        if task.submitted_at is None or task.exit_at is None or now < task.exit_at:
            return task
        is_judged = task.state in ("judged", "disputed")
        end = self._client.settle if is_judged else self._client.expire
        try:
            await end(task.id, by=agent)
        except Conflict as wrong:
            if wrong.code not in SOMEBODY_WAS_FASTER:
                raise
        return (await self._client.task(task.id)).task
