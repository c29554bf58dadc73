"""External resources of judging: a sandbox, a model, people's answers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.errors import Conflict, InfrastructureError
from arena.evaluation.standard import Checklist, JudgePrompt, PartPath
from arena.evaluation.verdict import ItemAnswer, Opening, Submission, Verdict
from arena.sandbox.ports import SandboxProvider

Purpose = str
"""What a verdict is for. Votes of models are reused only for the same purpose of the same team.

Otherwise somebody could rehearse until the votes are favourable, and then get the same votes for
the verdict that counts.
"""
REHEARSAL: Purpose = "rehearsal"
"""A verdict on request, which decides nothing: the caller may try as often as it likes."""
RUN: Purpose = "run"


def purpose_of_task(task_id: int | str) -> Purpose:
    """Each paid task is its own purpose: another task with the same standard is a rehearsal."""
    return f"task {task_id}"


Judging = Callable[[JudgePrompt, Submission, Purpose | None], Awaitable[Verdict]]
"""A model's verdict by a standard's criteria; raises `JudgeError` if it gives none.

Without a purpose every vote is new, and none is kept.
"""

Unsealing = Callable[[Sequence[str]], Sequence[Opening] | None]
"""Finds the openings of a sealed standard by its commitments; None if they are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The available resources; a standard that needs a missing one cannot be judged."""

    sandbox: SandboxProvider | None = None
    judge: Judging | None = None
    purpose: Purpose | None = REHEARSAL
    """What the verdict is for; None: no vote is reused."""
    answers: Mapping[PartPath, Sequence[ItemAnswer]] = field(
        default_factory=dict[PartPath, Sequence[ItemAnswer]]
    )
    """People's answers to each checklist, item by item."""
    unseal: Unsealing | None = None
    """Finds the hidden cases of sealed standards; it may read files."""


NO_RESOURCES = Resources()
"""Enough for the plain validators."""


class NotJudged(InfrastructureError):
    """The submission could not be judged."""

    code = "not_judged"


class GraderError(NotJudged):
    """A grader itself failed, not what it judges."""

    code = "grader_error"


class JudgeError(NotJudged):
    """The judge gave no valid answer."""

    code = "judge_error"


class ReviewNeeded(Conflict):
    """People have to answer a checklist first."""

    code = "review_needed"

    def __init__(self, checklists: Mapping[PartPath, Checklist]) -> None:
        self.checklists = dict(checklists)
        count = sum(len(checklist.items) for checklist in self.checklists.values())
        super().__init__(f"{count} {'item' if count == 1 else 'items'} to be reviewed by a person")
