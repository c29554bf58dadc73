"""The judge: a standard and a submission in, a verdict with every vote out."""

import asyncio
from functools import partial

from arena.evaluation.judge.budget import CallBudget, Count
from arena.evaluation.judge.cache import AnswerCache
from arena.evaluation.judge.config import Panel, panel_for
from arena.evaluation.judge.figures import figures_in
from arena.evaluation.judge.panel import verdict_of
from arena.evaluation.judge.prompt import Brief, brief_for
from arena.evaluation.judge.voter import Ballot, Voter
from arena.evaluation.resources import REHEARSAL
from arena.evaluation.standard import JudgeChoice, JudgePrompt
from arena.evaluation.verdict import Submission, Verdict, Vote
from arena.settings import Settings

SHORT_CHARACTERS = 20_000
"""Up to this length, making a verdict is faster than handing it to a thread."""


class ModelJudge:
    """Judges by a standard's criteria with models. It belongs to one event loop."""

    def __init__(self, settings: Settings, count: Count | None = None) -> None:
        """`count` counts the calls of teams for all machines; by default only here."""
        self.figures = figures_in(settings.home)
        self._settings = settings
        self._cache = AnswerCache(
            settings.home / "judge" / "answers", max_entries=settings.judge_cache_entries
        )
        self._budget = CallBudget(settings.judge_budget, count)
        self._voters: dict[str, Voter] = {}

    def panel(self, choice: JudgeChoice | None = None) -> Panel:
        """The panel for a standard with this choice."""
        return panel_for(self._settings, choice)

    async def judge(
        self,
        standard: JudgePrompt,
        submission: Submission,
        purpose: str | None = REHEARSAL,
        *,
        bare: bool = False,
    ) -> Verdict:
        """The verdict of the whole panel; raises `JudgeError` if one vote is missing.

        Votes are reused for the same team and `purpose`; None neither reads nor writes the cache.
        `bare` leaves out the hardening of the prompt, only to measure its effect.
        """
        panel = self.panel(standard.judge)
        brief = brief_for(standard, submission, max_characters=panel.max_characters, is_bare=bare)
        votes = await self._votes(brief, panel, purpose)
        figures = self.figures.of(panel.identity).calibration
        make = partial(verdict_of, brief, votes, judge=panel.identity, figures=figures)
        if len(brief.shown) <= SHORT_CHARACTERS:
            return make()
        # In a thread: folding a long text takes a while and would delay other judgements.
        return await asyncio.to_thread(make)

    async def aclose(self) -> None:
        """Close all connections."""
        for voter in self._voters.values():
            await voter.close()
        self._voters.clear()

    async def _votes(self, brief: Brief, panel: Panel, purpose: str | None) -> tuple[Vote, ...]:
        """Every vote of the panel; a failure is raised after all have ended.

        The others are paid for, and cached: a retry requests only the missing ones.
        """
        ballots = [
            Ballot(model=model, number=number)
            for model in panel.models
            for number in range(1, panel.votes + 1)
        ]
        voter = self._voter(panel)
        ended = await asyncio.gather(
            *(voter.vote(brief, panel, ballot, purpose=purpose) for ballot in ballots),
            return_exceptions=True,
        )
        votes: list[Vote] = []
        for vote in ended:
            if isinstance(vote, BaseException):
                raise vote
            votes.append(vote)
        return tuple(votes)

    def _voter(self, panel: Panel) -> Voter:
        if panel.base_url not in self._voters:
            self._voters[panel.base_url] = Voter(panel, self._settings, self._cache, self._budget)
        return self._voters[panel.base_url]
