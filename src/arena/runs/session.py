"""Asks one agent test after test: turns, retries, and what counts as an answer."""

import asyncio
import time
from dataclasses import dataclass, field, replace

from arena.agents.agent import AgentDefinition, AgentLimits
from arena.agents.connector import AgentBusy, Answer, Connector, Question
from arena.agents.connectors import connect
from arena.backoff import backoff_seconds
from arena.errors import AgentFault, AgentSaidNothing, InfrastructureError
from arena.models.turns import Turns
from arena.models.usage import priced
from arena.text import storable

MAX_DELAY_SECONDS = 30.0


class NotExecuted(Exception):
    """An item could not be executed; not the agent's fault."""

    def __init__(self, attempts: int, cause: InfrastructureError) -> None:
        super().__init__(cause.message)
        self.attempts, self.cause = attempts, cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often, and after what delay, a question is retried."""

    count: int = 2
    delay_seconds: float = 0.5

    def delay(self, attempt: int, error: InfrastructureError) -> float:
        """The wait after an attempt: doubling, plus the Retry-After of a busy agent."""
        first = self.delay_seconds
        wait = backoff_seconds(first, attempt, most_seconds=MAX_DELAY_SECONDS, jitter=True)
        if isinstance(error, AgentBusy) and error.retry_after_seconds is not None:
            # Added, not the larger of the two: items that all got the same Retry-After must not
            # retry all together, and none before its time.
            wait += min(error.retry_after_seconds, MAX_DELAY_SECONDS)
        return wait


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a question: the agent answered, or it failed."""

    outcome: Answer | AgentFault
    duration_seconds: float
    """Of the last attempt."""
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """An open connection to an agent; its rate limit is shared by all sessions with it."""

    connector: Connector
    limiter: Turns
    retries: Retries = field(default_factory=Retries)

    async def ask(self, question: Question) -> Reply:
        """Ask until the agent has answered or failed; `NotExecuted` if it is unreachable."""
        attempt = 1
        while True:
            try:
                async with self.limiter.turn():
                    started = time.monotonic()
                    try:
                        outcome: Answer | AgentFault = await ask(self.connector, question)
                    except AgentFault as fault:
                        outcome = fault
                    return Reply(outcome, time.monotonic() - started, attempt)
            except InfrastructureError as error:
                if not error.retryable or attempt > self.retries.count:
                    raise NotExecuted(attempt, error) from error
                wait = self.retries.delay(attempt, error)
            # Outside the turn, so that another question can be asked meanwhile.
            await asyncio.sleep(wait)
            attempt += 1


class AgentSessions:
    """Opens sessions. Runs of one agent share its limits, as they are in its file now."""

    def __init__(self, retries: Retries) -> None:
        self._retries = retries
        self._limiters: dict[tuple[str, AgentLimits], Turns] = {}

    def open(self, agent: AgentDefinition) -> AgentSession:
        """A session with this agent; the caller closes its connector."""
        limits = agent.limits
        turns = Turns(max_concurrency=limits.max_concurrency, per_minute=limits.per_minute)
        limiter = self._limiters.setdefault((agent.reference, limits), turns)
        return AgentSession(connector=connect(agent), limiter=limiter, retries=self._retries)


async def ask(connector: Connector, question: Question) -> Answer:
    """The agent's answer, not blank and with text that can be stored."""
    answer = await connector.answer(question)
    output = storable(answer.output)
    if not output.strip():
        raise AgentSaidNothing
    usage = answer.usage
    if usage.model and usage.cost_usd is None:
        usage = await asyncio.to_thread(priced, usage)  # the price list takes 0.5 s to load
    if output is answer.output and usage is answer.usage:
        return answer
    return replace(answer, output=output, usage=usage)
