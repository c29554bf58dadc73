"""Requests votes from one endpoint, within its limits and with retries."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from arena.evaluation.judge.budget import CallBudget
from arena.evaluation.judge.cache import AnswerCache, Kept
from arena.evaluation.judge.config import Panel, key_for
from arena.evaluation.judge.prompt import (
    Brief,
    Scored,
    new_delimiter,
    read_answer,
    read_text,
    response_format,
)
from arena.evaluation.resources import JudgeError
from arena.evaluation.verdict import Vote
from arena.models.asking import Asking, BadAnswer, NoAnswer
from arena.models.client import ModelClient
from arena.models.completion import Completion
from arena.models.turns import turns_at
from arena.models.usage import priced, summed
from arena.settings import Settings
from arena.team import current_team
from arena.text import storable


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """Which vote is requested: the third of a model, say."""

    model: str
    number: int


class Voter:
    """Requests votes from one endpoint. It belongs to one event loop."""

    def __init__(
        self, panel: Panel, settings: Settings, cache: AnswerCache, budget: CallBudget
    ) -> None:
        self._budget = budget
        self._cache = cache
        self._client = ModelClient(
            panel.base_url,
            api_key=key_for(settings, panel),
            max_connections=settings.judge_concurrency,
        )
        self._asking = Asking(
            client=self._client,
            turns=turns_at(
                self._client.base_url,
                max_concurrency=settings.judge_concurrency,
                per_minute=settings.judge_per_minute,
            ),
            retries=settings.judge_retries,
            retry_delay_seconds=settings.retry_delay_seconds,
            timeout_seconds=settings.judge_timeout_seconds,
        )

    async def vote(
        self, brief: Brief, panel: Panel, ballot: Ballot, *, purpose: str | None
    ) -> Vote:
        """A valid vote, from the cache of this team and purpose, else from the model.

        Without a purpose the cache is neither read nor written.
        """
        key = _key(brief, panel, ballot, purpose)
        cache = None if purpose is None else self._cache
        if cache is not None and cache.has(key):
            kept = await asyncio.to_thread(cache.get, key)
            if kept is not None and (scores := _scores_in(kept, brief)) is not None:
                return _vote(panel, ballot, brief, scores, kept, cached=True)
        answers, scores = await self._ask(brief, panel, ballot)
        kept = await asyncio.to_thread(self._keep, answers, cache, key)
        return _vote(panel, ballot, brief, scores, kept, cached=False)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _ask(
        self, brief: Brief, panel: Panel, ballot: Ballot
    ) -> tuple[Sequence[Completion], Sequence[Scored]]:
        """Ask until an answer is valid; returns all answers, and the scores in the last.

        If the last attempt is not valid either, raises an error that says why.
        """
        try:
            return await self._asking.ask(
                partial(self._chat, brief, panel, ballot),
                partial(read_answer, count=len(brief.standard.criteria)),
                self._budget.spend,
            )
        except NoAnswer as error:
            raise self._error(ballot, error) from None

    def _chat(self, brief: Brief, panel: Panel, ballot: Ballot) -> dict[str, object]:
        chat: dict[str, object] = {
            "model": ballot.model,
            "messages": brief.messages(new_delimiter()),
            "response_format": response_format(len(brief.standard.criteria)),
        }
        if panel.temperature is not None:
            chat["temperature"] = panel.temperature
        if panel.max_tokens is not None:
            chat["max_tokens"] = panel.max_tokens
        return chat

    def _keep(self, answers: Sequence[Completion], cache: AnswerCache | None, key: str) -> Kept:
        """The last answer with the usage of all of them; cached."""
        url = self._client.base_url
        usages = [
            priced(answer.usage, base_url=url, cached_tokens=answer.cached_tokens)
            for answer in answers
        ]
        kept = Kept(text=answers[-1].text or "", usage=summed(usages), attempts=len(answers))
        if cache is not None:
            cache.put(key, kept)
        return kept

    def _error(self, ballot: Ballot, error: NoAnswer) -> JudgeError:
        who = f"the judge {ballot.model} at {self._client.base_url}"
        # The endpoint's text may have any characters, and the message is stored.
        return JudgeError(storable(f"{who} {error.message}"), retryable=error.retryable)


def _key(brief: Brief, panel: Panel, ballot: Ballot, purpose: str | None) -> str:
    """A hash of everything that a vote depends on, and of whom it may be reused for."""
    limits = (panel.temperature, panel.max_tokens)
    owner = (current_team(), purpose)
    parts = (*owner, brief.digest, panel.base_url, *limits, ballot.model, ballot.number)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _scores_in(kept: Kept, brief: Brief) -> Sequence[Scored] | None:
    try:
        return read_text(kept.text, len(brief.standard.criteria))
    except BadAnswer:
        return None


def _vote(
    panel: Panel,
    ballot: Ballot,
    brief: Brief,
    scores: Sequence[Scored],
    kept: Kept,
    *,
    cached: bool,
) -> Vote:
    scored = dict(zip(brief.standard.criteria, scores, strict=True))
    return Vote(
        model=ballot.model,
        number=ballot.number,
        base_url=panel.base_url,
        scores={name: one.score for name, one in scored.items()},
        reasons={name: one.reason for name, one in scored.items()},
        quotes={name: one.quote for name, one in scored.items() if one.quote.strip()},
        answered_by=kept.usage.model,
        attempts=kept.attempts,
        input_tokens=kept.usage.input_tokens,
        output_tokens=kept.usage.output_tokens,
        cost_usd=kept.usage.cost_usd,
        cached=cached,
    )
