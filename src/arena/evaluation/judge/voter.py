"""Requests votes from one endpoint, within its limits and with retries."""

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from arena.backoff import backoff_seconds
from arena.evaluation.judge.budget import CallBudget
from arena.evaluation.judge.cache import AnswerCache, Kept
from arena.evaluation.judge.config import Panel, key_for
from arena.evaluation.judge.prompt import (
    BadAnswer,
    Brief,
    Scored,
    new_delimiter,
    read_answer,
    read_text,
    response_format,
)
from arena.evaluation.resources import JudgeError
from arena.evaluation.verdict import Vote, total
from arena.models.client import ModelClient
from arena.models.completion import Completion, ModelFault, Refused, Unreachable
from arena.models.connections import seconds_to_wait
from arena.models.turns import Turns, turns_at
from arena.models.usage import Usage, priced
from arena.settings import Settings
from arena.team import current_team
from arena.text import storable

MAX_WAIT_SECONDS = 120.0
"""A longer Retry-After is a judge error: the judge must not hang."""
MAX_BACK_OFF_SECONDS = 30.0
_PASSING_STATUS = {408, 409, 425, 429}
"""Together with 500 and above: statuses for which a retry may help."""
_MAX_EXCERPT = 300


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
        self._settings = settings
        self._budget = budget
        self._cache = cache
        self._client = ModelClient(
            panel.base_url,
            api_key=key_for(settings, panel),
            max_connections=settings.judge_concurrency,
        )
        self._turns: Turns = turns_at(
            self._client.base_url,
            max_concurrency=settings.judge_concurrency,
            per_minute=settings.judge_per_minute,
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
        answers: list[Completion] = []
        for attempt in range(1, self._settings.judge_retries + 2):
            is_last = attempt > self._settings.judge_retries
            try:
                self._budget.spend()
                async with self._turns.turn():
                    answers.append(await self._complete(brief, panel, ballot))
                return answers, read_answer(answers[-1], len(brief.standard.criteria))
            except BadAnswer as error:
                if is_last:
                    message = f"gave no valid answer in {_times(attempt)}; the last: {error}"
                    raise self._error(ballot, message) from None
                await asyncio.sleep(self._back_off(attempt))
            except ModelFault as fault:
                if is_last or _is_lasting(fault):
                    raise self._error_of(fault, ballot, attempt) from None
                await self._wait(fault, ballot, attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _complete(self, brief: Brief, panel: Panel, ballot: Ballot) -> Completion:
        chat: dict[str, object] = {
            "model": ballot.model,
            "messages": brief.messages(new_delimiter()),
            "response_format": response_format(len(brief.standard.criteria)),
        }
        if panel.temperature is not None:
            chat["temperature"] = panel.temperature
        if panel.max_tokens is not None:
            chat["max_tokens"] = panel.max_tokens
        return await self._client.complete(
            chat, timeout_seconds=self._settings.judge_timeout_seconds
        )

    def _keep(self, answers: Sequence[Completion], cache: AnswerCache | None, key: str) -> Kept:
        """The last answer with the usage of all of them; cached."""
        url = self._client.base_url
        usages = [
            priced(answer.usage, base_url=url, cached_tokens=answer.cached_tokens)
            for answer in answers
        ]
        kept = Kept(text=answers[-1].text or "", usage=_sum(usages), attempts=len(answers))
        if cache is not None:
            cache.put(key, kept)
        return kept

    async def _wait(self, fault: ModelFault, ballot: Ballot, attempt: int) -> None:
        pause = seconds_to_wait(fault.retry_after) if isinstance(fault, Refused) else None
        if pause is None:
            await asyncio.sleep(self._back_off(attempt))
            return
        if pause > MAX_WAIT_SECONDS:
            raise self._error(ballot, f"is busy and asks for a pause of {pause:g} s")
        # All requests to this endpoint wait, not only this vote.
        self._turns.pause(pause)
        await asyncio.sleep(pause)

    def _back_off(self, attempt: int) -> float:
        first = self._settings.retry_delay_seconds
        return backoff_seconds(first, attempt, most_seconds=MAX_BACK_OFF_SECONDS, jitter=True)

    def _error_of(self, fault: ModelFault, ballot: Ballot, attempt: int) -> JudgeError:
        lasting = _is_lasting(fault)
        times = "" if lasting else f" in {_times(attempt)}"
        match fault:
            case Refused():
                excerpt = " ".join(fault.excerpt.split())[:_MAX_EXCERPT]
                message = f"answered with status {fault.status}{times}"
                message += f": {excerpt}" if excerpt else ""
            case Unreachable():
                message = f"cannot be reached{times}: {fault.message}"
            case _:
                message = f"did not answer{times}: {fault.message}"
        return self._error(ballot, message, retryable=not lasting)

    def _error(self, ballot: Ballot, message: str, *, retryable: bool = True) -> JudgeError:
        who = f"the judge {ballot.model} at {self._client.base_url}"
        # The endpoint's text may have any characters, and the message is stored.
        return JudgeError(storable(f"{who} {message}"), retryable=retryable)


def _is_lasting(fault: ModelFault) -> bool:
    if isinstance(fault, Refused):
        return fault.status not in _PASSING_STATUS and fault.status < 500
    return isinstance(fault, Unreachable) and fault.is_permanent


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


def _sum(usages: Sequence[Usage]) -> Usage:
    """The usage of all answers; discarded ones are paid for too."""
    return Usage(
        input_tokens=total([usage.input_tokens for usage in usages]),
        output_tokens=total([usage.output_tokens for usage in usages]),
        model=usages[-1].model,
        cost_usd=total([usage.cost_usd for usage in usages]),
    )


def _times(count: int) -> str:
    return "one try" if count == 1 else f"{count} tries"
