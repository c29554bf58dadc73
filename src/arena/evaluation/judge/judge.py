"""The judge: a standard and a submission in, a verdict with every vote out."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from arena.evaluation.judge.cache import AnswerCache
from arena.evaluation.judge.config import JudgeConfig, Panel, config_from
from arena.evaluation.judge.figures import FigureFolder, Known
from arena.evaluation.judge.panel import RULE, medians, spreads, weighted_total
from arena.evaluation.judge.prompt import Brief, brief
from arena.evaluation.judge.voter import Ballot, Voter
from arena.evaluation.judgement import Judgement, Vote
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.text import fold
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.settings import Settings

SHORT_CHARACTERS = 20_000
"""Up to here a verdict takes less time than the way into a thread and back."""
QUOTE_NOT_FOUND = "the quote is not in the submission"


class ModelJudge:
    """Judges by a standard's criteria. It belongs to one event loop, and to whoever closes it."""

    def __init__(
        self,
        config: JudgeConfig,
        *,
        cache: AnswerCache | None = None,
        figures: FigureFolder | None = None,
    ) -> None:
        self.config = config
        self.figures = figures
        self._cache = cache
        self._voters: dict[str, Voter] = {}

    async def __call__(self, standard: JudgePrompt, submission: Submission) -> Verdict:
        """The verdict; the same two are not asked about twice while the cache holds the votes."""
        return await self.judge(standard, submission)

    async def judge(
        self,
        standard: JudgePrompt,
        submission: Submission,
        *,
        fresh: bool = False,
        bare: bool = False,
    ) -> Verdict:
        """The verdict of the whole panel; raises `JudgeError` where one vote cannot be had.

        A `fresh` verdict is asked for anew and leaves the cache alone. A `bare` one is asked for
        without the hardening, to measure what that is worth; nothing else should ask for it.
        """
        panel = self.config.panel_for(standard.judge)
        told = brief(standard, submission.output, max_characters=panel.max_characters, is_bare=bare)
        votes = await self._votes(told, panel, fresh=fresh)
        if len(told.shown) <= SHORT_CHARACTERS:
            return self._verdict(told, panel, votes)
        # Folding a long text takes a while, and other judgements wait for their answers.
        return await asyncio.to_thread(self._verdict, told, panel, votes)

    def known(self, panel: Panel) -> Known:
        """What was measured about the panel; reads a file."""
        return self.figures.of(panel.identity) if self.figures else Known()

    async def close(self) -> None:
        """Close all connections."""
        for voter in self._voters.values():
            await voter.close()
        self._voters.clear()

    async def _votes(self, told: Brief, panel: Panel, *, fresh: bool) -> tuple[Vote, ...]:
        """Every vote of the panel; one that fails is raised when all have ended.

        The others are paid for, and kept: whoever tries again asks only for what is missing.
        """
        ballots = [
            Ballot(model=model, number=number)
            for model in panel.models
            for number in range(1, panel.votes + 1)
        ]
        voter = self._voter(panel)
        ended = await asyncio.gather(
            *(voter.vote(told, panel, ballot, fresh=fresh) for ballot in ballots),
            return_exceptions=True,
        )
        votes: list[Vote] = []
        for vote in ended:
            if isinstance(vote, BaseException):
                raise vote
            votes.append(vote)
        return tuple(votes)

    def _verdict(self, told: Brief, panel: Panel, votes: Sequence[Vote]) -> Verdict:
        standard, findings = told.standard, findings_of(told, votes)
        scores = medians(standard.criteria, votes)
        score = weighted_total(standard.criteria, standard.weights, scores)
        return Verdict(
            score=score,
            passed=score >= standard.pass_score,
            reasoning="; ".join(finding.reason for finding in findings),
            findings=tuple(findings),
            judgement=Judgement(
                votes=tuple(votes),
                rule=RULE,
                spread=spreads(standard.criteria, votes),
                prompt_digest=told.digest,
                judge=panel.identity,
                characters=told.characters,
                shown_characters=len(told.shown),
                figures=self.known(panel).calibration,
            ),
        )

    def _voter(self, panel: Panel) -> Voter:
        if panel.base_url not in self._voters:
            self._voters[panel.base_url] = Voter(panel, self.config, self._cache)
        return self._voters[panel.base_url]


def open_judge(settings: Settings) -> ModelJudge:
    """The judge the settings describe, with its cache and figures in `home`."""
    folder = settings.home / "judge"
    return ModelJudge(
        config_from(settings),
        cache=AnswerCache(folder / "answers", max_entries=settings.judge_cache_entries),
        figures=figures_in(settings.home),
    )


def figures_in(home: Path) -> FigureFolder:
    """Where the figures of judges are kept."""
    return FigureFolder(home / "judge" / "figures")


def findings_of(told: Brief, votes: Sequence[Vote]) -> list[Finding]:
    """What the votes come to, criterion by criterion: the same from the same votes, always."""
    standard, folded = told.standard, fold(told.shown)
    scores, apart = medians(standard.criteria, votes), spreads(standard.criteria, votes)
    findings: list[Finding] = []
    for name, weight in zip(standard.criteria, standard.weights, strict=True):
        # The words of a vote that gave the score that counts.
        vote = next(vote for vote in votes if vote.scores[name] == scores[name])
        quote = vote.quotes.get(name)
        marks: list[str] = []
        # A quote that is all white space and signs would fold to nothing and be in every text.
        if quote is not None and (not fold(quote) or fold(quote) not in folded):
            marks.append(QUOTE_NOT_FOUND)
        if told.is_cut:
            marks.append(f"judged by the first {len(told.shown)} of {told.characters} characters")
        said = f"{name}: {scores[name]} of 100: {' '.join(vote.reasons[name].split())}"
        if len(votes) > 1:
            said += f" ({len(votes)} votes, {apart[name]} apart)"
        findings.append(
            Finding(
                criterion=name,
                passed=scores[name] >= standard.pass_score,
                reason=said,
                evidence=quote,
                score=scores[name],
                weight=weight,
                mark="; ".join(marks) or None,
            )
        )
    return findings
