"""Which submitted task a judge takes next. Pure.

Parties take turns: a task whose agent and poster hold no place at the judge goes first, and among
those the one whose parties were served longest ago; then the one whose window ends first. So nobody
can fill a judge with submissions: one agent or poster holds a second place only while nobody else
waits, and gives it up as soon as somebody does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from arena.market.task import Task

Party = tuple[str, str]
"""A role and a name."""


@dataclass(slots=True)
class JudgeQueue:
    """The turns of one judge's agents and posters."""

    judge: str
    _turns: int = 0
    _last_turn: dict[Party, int] = field(default_factory=dict[Party, int])
    """When each agent and each poster was served last; forgotten once nothing waits."""

    def choose(self, waiting: Sequence[Task], in_work: Sequence[Task]) -> Task | None:
        """The task to begin now; `in_work` are those that this judge's processes work on."""
        if not waiting:
            self._last_turn.clear()
            return None
        return min(newcomers(waiting, in_work) or waiting, key=self._rank)

    def begin(self, task: Task) -> None:
        """Note that it is the turn of this task's parties."""
        self._turns += 1
        for party in parties(task):
            self._last_turn[party] = self._turns

    def ends(self, task: Task) -> tuple[datetime, int]:
        """The end of this judge's window; of equal ones the older task is first."""
        ends = task.turn_until(self.judge)
        assert ends is not None, "only a submitted task waits for a judge"
        return ends, task.id

    def _rank(self, task: Task) -> tuple[int, tuple[datetime, int]]:
        turn = max(self._last_turn.get(party, 0) for party in parties(task))
        return turn, self.ends(task)


def parties(task: Task) -> frozenset[Party]:
    """Who holds a place while the task is judged: its agent and its poster."""
    return frozenset({("agent", task.agent or ""), ("poster", task.poster)})


def newcomers(waiting: Sequence[Task], in_work: Sequence[Task]) -> list[Task]:
    """The waiting tasks whose agent and poster hold no place."""
    holding = {party for task in in_work for party in parties(task)}
    return [task for task in waiting if not parties(task) & holding]


def to_give_up(in_work: Sequence[Task]) -> Task | None:
    """The last started task whose agent or poster holds another place too, if there is one.

    `in_work` is in the order in which the tasks were started.
    """
    for place in reversed(range(len(in_work))):
        if not newcomers([in_work[place]], in_work[:place]):
            return in_work[place]
    return None
