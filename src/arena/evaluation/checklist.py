"""Checklists: people answer each item, the score is the share that passed, rounded down."""

from collections.abc import Sequence

from arena.errors import InvalidInput
from arena.evaluation.standard import Checklist
from arena.evaluation.verdict import Finding, ItemAnswer, Verdict


def judge_checklist(standard: Checklist, answers: Sequence[ItemAnswer]) -> Verdict:
    """The verdict that the answers give, one for each item, in order."""
    count = len(standard.items)
    if len(answers) != count:
        raise InvalidInput(f"{len(answers)} answers to {count} items: give one for each item")
    passed = sum(answer.passed for answer in answers)
    score = passed * 100 // count
    told = f"{passed} of {count} items passed"
    missed = [
        f"not met: {item}" + (f" ({answer.note})" if answer.note else "")
        for item, answer in zip(standard.items, answers, strict=True)
        if not answer.passed
    ]
    return Verdict(
        score=score,
        passed=score >= standard.pass_score,
        reasoning="; ".join([told, *missed]),
        findings=tuple(
            Finding(criterion=item, passed=answer.passed, reason=_reason(answer))
            for item, answer in zip(standard.items, answers, strict=True)
        ),
        answers=tuple(answers),
    )


def _reason(answer: ItemAnswer) -> str:
    said = "passed" if answer.passed else "failed"
    who = f" by {answer.reviewer}" if answer.reviewer else ""
    return f"{said}{who}: {answer.note}" if answer.note else f"{said}{who}"
