"""A model's suggestions for a checklist: hints for the reviewer, never a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.evaluation.judge.judge import ModelJudge
from arena.evaluation.standard import Checklist, JudgePrompt
from arena.evaluation.verdict import Submission

MET_FROM = 50
"""An item with at least this score counts as met."""
AT_ONCE = 25
"""Items per request: with many more, models become careless."""

_PROMPT = """\
Each criterion is an item of a checklist that a person will answer with pass or fail. Score 100 \
where the submission meets the item, 0 where it does not, and between only where it cannot be told.

What the submission answers:
{prompt}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A model's suggestion for one item."""

    item: int
    """Its index in the checklist, from 0."""
    passed: bool
    reason: str
    quote: str | None
    mark: str | None
    """Why it deserves a second look: a quote that is not in the submission."""


async def suggest(
    judge: ModelJudge, checklist: Checklist, prompt: str, submission: Submission
) -> list[Suggestion]:
    """One suggestion for each item; raises `JudgeError` if the judge gives no valid answer."""
    suggestions: list[Suggestion] = []
    for start in range(0, len(checklist.items), AT_ONCE):
        suggestions += await _part(
            judge, checklist.items[start : start + AT_ONCE], start, prompt, submission
        )
    return suggestions


async def _part(
    judge: ModelJudge, items: Sequence[str], start: int, prompt: str, submission: Submission
) -> list[Suggestion]:
    standard = JudgePrompt(
        prompt=_PROMPT.format(prompt=prompt),
        criteria=tuple(items),
        weights=(1.0,) * len(items),
        pass_score=MET_FROM,
    )
    verdict = await judge.judge(standard, submission)
    return [
        Suggestion(
            item=start + place,
            passed=finding.passed,
            reason=finding.reason,
            quote=finding.evidence,
            mark=finding.mark,
        )
        for place, finding in enumerate(verdict.findings)
    ]
