"""A model judge's verdict, computed anew from its recorded votes."""

import math
from dataclasses import replace

from arena.errors import InvalidInput
from arena.evaluation.judgement import Judgement
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Verdict

RULE = "lower median"


def recombined(standard: JudgePrompt, recorded: Verdict) -> Verdict:
    """What the votes come to by the standard's weights and threshold; their words are kept."""
    judgement, findings = recorded.judgement, recorded.findings
    if judgement is None or not judgement.votes:
        raise InvalidInput("there are no votes")
    if judgement.rule != RULE:
        raise InvalidInput(f"the rule is {judgement.rule!r}, only {RULE!r} is known")
    if tuple(finding.criterion for finding in findings) != standard.criteria:
        raise InvalidInput("the findings are not those of the standard's criteria")
    given = {name: _scores(judgement, name) for name in standard.criteria}
    medians = {name: scores[(len(scores) - 1) // 2] for name, scores in given.items()}
    pairs = list(zip(standard.criteria, standard.weights, strict=True))
    total = math.fsum(medians[name] * weight for name, weight in pairs)
    score = round(total / math.fsum(standard.weights), 6)
    return replace(
        recorded,
        score=score,
        passed=score >= standard.pass_score,
        findings=tuple(
            replace(
                finding,
                score=medians[name],
                weight=weight,
                passed=medians[name] >= standard.pass_score,
            )
            for finding, (name, weight) in zip(findings, pairs, strict=True)
        ),
        judgement=replace(
            judgement, spread={name: scores[-1] - scores[0] for name, scores in given.items()}
        ),
    )


def _scores(judgement: Judgement, name: str) -> list[int]:
    """What the votes gave one criterion, the lowest first."""
    for vote in judgement.votes:
        if not 0 <= vote.scores.get(name, -1) <= 100:
            raise InvalidInput(f"vote {vote.number} of {vote.model} has no score for {name!r}")
    return sorted(vote.scores[name] for vote in judgement.votes)
