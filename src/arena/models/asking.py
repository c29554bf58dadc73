"""Asks a model until its answer is valid: limits, retries, back-off.

For models that work for Arena (judges, simulated users). An agent's model is never asked again
because of what it answered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from arena.backoff import backoff_seconds
from arena.models.budget import current_meter
from arena.models.client import ModelClient
from arena.models.completion import Completion, ModelFault, Refused, Unreachable
from arena.models.connections import seconds_to_wait
from arena.models.turns import Limiter
from arena.models.usage import Usage, priced

MAX_WAIT_SECONDS = 120.0
"""A longer Retry-After is an error: whoever waits for the answer must not hang."""
MAX_BACK_OFF_SECONDS = 30.0
_PASSING_STATUS = {408, 409, 425, 429}
"""Together with 500 and above: statuses for which a retry may help."""
_MAX_EXCERPT = 300

Value = TypeVar("Value")


async def _nothing() -> None:
    pass


class BadAnswer(Exception):
    """The answer is not of the required form; the message says why."""


class NoAnswer(Exception):
    """There is no valid answer; the message goes on after the name of the model."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.message, self.retryable = message, retryable


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a model is asked."""

    client: ModelClient
    turns: Limiter
    retries: int
    """After an error or an invalid answer."""
    retry_delay_seconds: float
    timeout_seconds: float

    async def ask(
        self,
        chat: Callable[[], Mapping[str, object]],
        read: Callable[[Completion], Value],
        before: Callable[[], Awaitable[None]] = _nothing,
    ) -> tuple[list[Completion], Value]:
        """Ask until `read` takes an answer; returns all answers, and what is in the last.

        `chat` makes the body of each request, `before` is called before each. `read` raises
        `BadAnswer`. If the last attempt is not valid either, raises `NoAnswer`.
        """
        answers: list[Completion] = []
        for attempt in range(1, self.retries + 2):
            is_last = attempt > self.retries
            try:
                await before()
                body = chat()
                async with self.turns.turn(self.timeout_seconds):
                    answers.append(
                        await self.client.complete(body, timeout_seconds=self.timeout_seconds)
                    )
                await self._count(answers[-1], str(body["model"]))
                return answers, read(answers[-1])
            except BadAnswer as error:
                if is_last:
                    tries = _times(attempt)
                    message = f"gave no valid answer in {tries}; the last: {error}"
                    raise NoAnswer(message) from None
                await asyncio.sleep(self._back_off(attempt))
            except ModelFault as fault:
                if is_last or _is_lasting(fault):
                    raise _no_answer(fault, attempt) from None
                await self._wait(fault, attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _count(self, answer: Completion, model: str) -> None:
        """Count an answer, also an invalid one, for a run with a budget."""
        meter = current_meter()
        if meter is None:
            return
        # In a thread: the price list takes half a second to load.
        known = await asyncio.to_thread(usage_of, answer, model, self.client.base_url)
        meter.spend(known)

    async def _wait(self, fault: ModelFault, attempt: int) -> None:
        pause = seconds_to_wait(fault.retry_after) if isinstance(fault, Refused) else None
        if pause is None:
            await asyncio.sleep(self._back_off(attempt))
            return
        if pause > MAX_WAIT_SECONDS:
            raise NoAnswer(f"is busy and asks for a pause of {pause:g} s")
        # All requests to this endpoint wait, not only this one.
        self.turns.pause(pause)
        await asyncio.sleep(pause)

    def _back_off(self, attempt: int) -> float:
        first = self.retry_delay_seconds
        return backoff_seconds(first, attempt, most_seconds=MAX_BACK_OFF_SECONDS, jitter=True)


def usage_of(answer: Completion, model: str, base_url: str) -> Usage:
    """The usage of an answer with its cost, by the model that answered, else the one asked."""
    cached = answer.cached_tokens
    known = priced(answer.usage, base_url=base_url, cached_tokens=cached)
    if known.cost_usd is not None:
        return known
    # Behind a gateway or a proxy the answer may name the model in any way.
    asked = priced(replace(answer.usage, model=model), base_url=base_url, cached_tokens=cached)
    return replace(known, cost_usd=asked.cost_usd)


def _is_lasting(fault: ModelFault) -> bool:
    if isinstance(fault, Refused):
        return fault.status not in _PASSING_STATUS and fault.status < 500
    return isinstance(fault, Unreachable) and fault.is_permanent


def _no_answer(fault: ModelFault, attempt: int) -> NoAnswer:
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
    return NoAnswer(message, retryable=not lasting)


def _times(count: int) -> str:
    return "one try" if count == 1 else f"{count} tries"
