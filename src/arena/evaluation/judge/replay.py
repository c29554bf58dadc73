"""A judge's verdict, made anew from its recorded votes."""

from dataclasses import replace

from arena.errors import InvalidInput
from arena.evaluation.judge.judge import findings_of
from arena.evaluation.judge.panel import RULE, medians, spreads, weighted_total
from arena.evaluation.judge.prompt import brief
from arena.evaluation.judgement import Vote
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict


def replay(standard: JudgePrompt, submission: Submission, recorded: Verdict) -> Verdict:
    """What the votes come to by the standard; the votes themselves are taken as recorded."""
    judgement, criteria = recorded.judgement, standard.criteria
    if judgement is None or not judgement.votes:
        raise InvalidInput("there are no votes")
    for vote in judgement.votes:
        _check(vote, standard)
    if len({(vote.model, vote.number) for vote in judgement.votes}) < len(judgement.votes):
        raise InvalidInput("a vote is there twice")
    told = brief(standard, submission.output, max_characters=judgement.shown_characters)
    findings = findings_of(told, judgement.votes)
    score = weighted_total(criteria, standard.weights, medians(criteria, judgement.votes))
    # A new verdict, not a changed one: what models do not give (parts, openings, answers of people,
    # an engine) has no place in it, whatever the record says.
    return Verdict(
        score=score,
        passed=score >= standard.pass_score,
        reasoning="; ".join(finding.reason for finding in findings),
        findings=tuple(findings),
        judgement=replace(
            judgement,
            rule=RULE,
            spread=spreads(criteria, judgement.votes),
            prompt_digest=told.digest,
            characters=told.characters,
            shown_characters=len(told.shown),
        ),
    )


def _check(vote: Vote, standard: JudgePrompt) -> None:
    """A vote has a score in range, and a reason, for every criterion and for nothing else."""
    who = f"vote {vote.number} of {vote.model}"
    criteria = set(standard.criteria)
    is_whole = set(vote.scores) == criteria == set(vote.reasons)
    if not is_whole or not set(vote.quotes) <= criteria:
        raise InvalidInput(f"{who} is not on the standard's criteria")
    for name, score in vote.scores.items():
        if not 0 <= score <= 100:
            raise InvalidInput(f"{who} gives {name!r} {score}, which is not from 0 to 100")
