"""The judge: a standard and a submission in, a verdict with every vote out."""

import asyncio
from functools import partial

from arena.evaluation.judge.cache import AnswerCache
from arena.evaluation.judge.config import JudgeConfig, Panel, config_from
from arena.evaluation.judge.figures import FigureFolder, Known, figures_in
from arena.evaluation.judge.panel import verdict_of
from arena.evaluation.judge.prompt import Brief, brief
from arena.evaluation.judge.voter import Ballot, Voter
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict, Vote
from arena.settings import Settings

SHORT_CHARACTERS = 20_000
"""Up to here making a verdict takes less time than handing it to a thread."""


class ModelJudge:
    """Judges by a standard's criteria, by asking models. It belongs to one event loop."""

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
        """The verdict; votes that are in the cache are not asked for again."""
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

        A `fresh` verdict neither reads nor writes the cache. A `bare` one is asked for without the
        hardening, only to measure what the hardening is worth.
        """
        panel = self.config.panel_for(standard.judge)
        told = brief(standard, submission.output, max_characters=panel.max_characters, is_bare=bare)
        votes = await self._votes(told, panel, fresh=fresh)
        figures = self.known(panel).calibration
        make = partial(verdict_of, told, votes, judge=panel.identity, figures=figures)
        if len(told.shown) <= SHORT_CHARACTERS:
            return make()
        # Folding a long text takes a while, and other judgements wait for their answers.
        return await asyncio.to_thread(make)

    def known(self, panel: Panel) -> Known:
        """What was measured about the panel; reads a file."""
        return self.figures.of(panel.identity) if self.figures else Known()

    async def aclose(self) -> None:
        """Close all connections."""
        for voter in self._voters.values():
            await voter.close()
        self._voters.clear()

    async def _votes(self, told: Brief, panel: Panel, *, fresh: bool) -> tuple[Vote, ...]:
        """Every vote of the panel; one that fails is raised when all have ended.

        The others are paid for, and cached: a retry asks only for what is missing.
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
