"""From votes to a verdict: pure arithmetic, which anyone can repeat from the recorded votes."""

from collections.abc import Sequence
from statistics import median_low

from arena.errors import InvalidInput
from arena.evaluation.evaluate import weighted_mean
from arena.evaluation.judge.prompt import Brief, brief_for
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.text import fold
from arena.evaluation.verdict import Finding, JudgeFigures, Judgement, Submission, Verdict, Vote

RULE = "lower median"
"""Of an even number of votes, the lower of the two middle ones: a tie is never generous."""
QUOTE_NOT_FOUND = "the quote is not in the submission"


def verdict_of(
    brief: Brief, votes: Sequence[Vote], *, judge: str, figures: JudgeFigures | None
) -> Verdict:
    """The verdict of the votes; deterministic."""
    standard, shown = brief.standard, fold(brief.shown)
    scores_of = {name: [vote.scores[name] for vote in votes] for name in standard.criteria}
    medians = {name: median_low(scores) for name, scores in scores_of.items()}
    spread = {name: max(scores) - min(scores) for name, scores in scores_of.items()}
    findings: list[Finding] = []
    for name, weight in zip(standard.criteria, standard.weights, strict=True):
        # Reason and quote of the first vote with the score that counts.
        vote = next(vote for vote in votes if vote.scores[name] == medians[name])
        quote = vote.quotes.get(name)
        marks: list[str] = []
        # A quote of only white space folds to "", which every text contains.
        if quote is not None and (not fold(quote) or fold(quote) not in shown):
            marks.append(QUOTE_NOT_FOUND)
        if brief.is_cut:
            marks.append(f"judged by the first {len(brief.shown)} of {brief.characters} characters")
        reason = f"{name}: {medians[name]} of 100: {' '.join(vote.reasons[name].split())}"
        if len(votes) > 1:
            reason += f" ({len(votes)} votes, {spread[name]} apart)"
        findings.append(
            Finding(
                criterion=name,
                passed=medians[name] >= standard.pass_score,
                reason=reason,
                evidence=quote,
                score=medians[name],
                weight=weight,
                mark="; ".join(marks) or None,
            )
        )
    score = weighted_mean([medians[name] for name in standard.criteria], standard.weights)
    return Verdict(
        score=score,
        passed=score >= standard.pass_score,
        reasoning="; ".join(finding.reason for finding in findings),
        findings=tuple(findings),
        judgement=Judgement(
            votes=tuple(votes),
            rule=RULE,
            spread=spread,
            prompt_digest=brief.digest,
            judge=judge,
            characters=brief.characters,
            shown_characters=len(brief.shown),
            figures=figures,
        ),
    )


def replay(standard: JudgePrompt, submission: Submission, recorded: Verdict) -> Verdict:
    """The verdict of recorded votes; the votes themselves are taken as recorded.

    A new verdict, not a modified one: what models do not produce (parts, openings, people's
    answers, an engine) must not be in it, whatever the record holds.
    """
    judgement = recorded.judgement
    if judgement is None or not judgement.votes:
        raise InvalidInput("there are no votes")
    for vote in judgement.votes:
        _check_vote(vote, set(standard.criteria))
    if len({(vote.model, vote.number) for vote in judgement.votes}) < len(judgement.votes):
        raise InvalidInput("duplicate vote")
    brief = brief_for(standard, submission, max_characters=judgement.shown_characters)
    return verdict_of(brief, judgement.votes, judge=judgement.judge, figures=judgement.figures)


def _check_vote(vote: Vote, criteria: set[str]) -> None:
    """Check that a vote has a valid score and a reason for exactly the criteria."""
    who = f"vote {vote.number} of {vote.model}"
    is_whole = set(vote.scores) == criteria == set(vote.reasons)
    if not is_whole or not set(vote.quotes) <= criteria:
        raise InvalidInput(f"{who} is not on the standard's criteria")
    for name, score in vote.scores.items():
        if not 0 <= score <= 100:
            raise InvalidInput(f"{who} gives {name!r} {score}, which is not from 0 to 100")
