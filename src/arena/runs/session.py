"""Asks one agent test after test: turns, retries, and what counts as an answer."""

import asyncio
import time
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from arena.agents.agent import AgentDefinition, AgentLimits
from arena.agents.connector import AgentBusy, Answer, BlankAnswer, Connector, Question
from arena.agents.connectors import connect, runs_here
from arena.backoff import backoff_seconds
from arena.errors import AgentFault, AgentSaidNothing, AgentUnavailable, InfrastructureError
from arena.models.budget import check, spend
from arena.models.step import kept_steps
from arena.models.throttle import Entry, Throttle, WaitTooLong
from arena.models.turns import Limiter, MakeLimiter, local_turns
from arena.models.usage import Usage, priced
from arena.runs.user import Play, nobody
from arena.settings import Settings
from arena.text import storable

MAX_DELAY_SECONDS = 30.0

asked_mark: ContextVar[asyncio.Event | None] = ContextVar("asked", default=None)
"""Set when the first question of the current item is asked; before that, it waits for a turn."""


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
    max_wait_seconds: float = 600.0
    """How long an agent that throttles is waited for; that does not count as a retry."""

    @classmethod
    def of(cls, settings: Settings) -> "Retries":
        """As the settings say."""
        return cls(
            count=settings.retries,
            delay_seconds=settings.retry_delay_seconds,
            max_wait_seconds=settings.max_wait_seconds,
        )

    def delay(self, failures: int) -> float:
        """The wait after some failures, doubling with each."""
        first = self.delay_seconds
        return backoff_seconds(first, failures, most_seconds=MAX_DELAY_SECONDS, jitter=True)

    def new_throttle(self) -> Throttle:
        """The back-off from an agent that throttles."""
        return Throttle(first_seconds=self.delay_seconds, max_wait_seconds=self.max_wait_seconds)


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a question: the agent answered, or it failed."""

    outcome: Answer | AgentFault
    duration_seconds: float
    """Of the last attempt."""
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSession:
    """An open connection to an agent; its limits are shared by all sessions with it."""

    connector: Connector
    limiter: Limiter
    throttle: Throttle
    retries: Retries = field(default_factory=Retries)
    runs_here: bool = True
    """Whether the agent may be able to read the files of this machine."""
    play: Play = nobody
    """Plays simulated users."""

    async def ask(self, question: Question) -> Reply:
        """Ask until the agent has answered or failed; `NotExecuted` if it is unreachable."""
        attempts, failures = 0, 0
        while True:
            attempts += 1
            try:
                return await self.ask_once(question, attempts)
            except AgentBusy:
                continue  # the throttle makes it wait for its next turn
            except InfrastructureError as error:
                failures += 1
                if not error.retryable or failures > self.retries.count:
                    raise NotExecuted(attempts, error) from error
            # Outside the turn, so that another question can be asked meanwhile.
            await asyncio.sleep(self.retries.delay(failures))

    async def ask_once(self, question: Question, attempts: int = 1) -> Reply:
        """Ask in a turn of the agent; `AgentBusy` if it then asked to be asked later."""
        async with self.limiter.turn(question.timeout_seconds) as turn:
            entry = await self.throttle.enter()
            started = waited = 0.0
            try:
                await turn.confirm()  # the throttle may have waited long
                started = time.monotonic()
                if (asked := asked_mark.get()) is not None:
                    asked.set()
                check()  # here: what was asked while this one waited for its turn has been spent
                outcome: Answer | AgentFault = await ask(self.connector, question)
                waited = outcome.waited_seconds
            except AgentFault as fault:
                outcome = fault
            except AgentBusy as busy:
                self._pause(entry, busy)
                raise
            finally:
                self.throttle.leave(entry)
            return Reply(outcome, max(time.monotonic() - started - waited, 0.0), attempts)

    def _pause(self, entry: Entry, busy: AgentBusy) -> None:
        """Pause all questions to the agent; an error if it would be for too long."""
        try:
            seconds = self.throttle.refused(entry, busy.retry_after_seconds)
        except WaitTooLong as error:
            asks = f"the agent throttles and asks for a pause of {error.pause_seconds:,.0f} s"
            if error.waited_seconds:
                asks += f" after pauses of {error.waited_seconds:,.0f} s"
            limit = f"more than {self.retries.max_wait_seconds:g} s (ARENA_MAX_WAIT_SECONDS)"
            message = f"{asks}, {limit}: {busy.message}"
            raise AgentUnavailable(message, retryable=False) from busy
        # Also the limiter, so that a pause does not count as part of its minute.
        self.limiter.pause(seconds)


class AgentSessions:
    """Opens sessions. Runs of one agent share its limits, as they are in its file now."""

    def __init__(
        self, retries: Retries, play: Play = nobody, make_turns: MakeLimiter = local_turns
    ) -> None:
        self._retries = retries
        self._play = play
        self._make_turns = make_turns
        self._limiters: dict[tuple[str, AgentLimits], Limiter] = {}
        self._throttles: dict[str, Throttle] = {}

    def open(self, agent: AgentDefinition) -> AgentSession:
        """A session with this agent; the caller closes its connector."""
        limits, retries = agent.limits, self._retries
        turns = self._make_turns(
            f"agent:{agent.reference}",
            max_concurrency=limits.max_concurrency,
            per_minute=limits.per_minute,
        )
        return AgentSession(
            connector=connect(agent),
            limiter=self._limiters.setdefault((agent.reference, limits), turns),
            throttle=self._throttles.setdefault(agent.reference, retries.new_throttle()),
            retries=retries,
            runs_here=runs_here(agent),
            play=self._play,
        )


async def ask(connector: Connector, question: Question) -> Answer:
    """The agent's answer, not blank and with text that can be stored."""
    try:
        answer = await connector.answer(question)
    except BlankAnswer as blank:
        if blank.usage != Usage():
            spend(await _priced(blank.usage))
        raise
    usage = answer.usage if answer.is_priced else await _priced(answer.usage)
    if not answer.is_counted:
        spend(usage)
    output = storable(answer.output)
    if not output.strip():
        raise AgentSaidNothing
    if answer.steps:
        steps, problem = kept_steps(answer.steps)
        problem = problem or answer.steps_problem
        return replace(answer, output=output, usage=usage, steps=steps, steps_problem=problem)
    if output is answer.output and usage is answer.usage:
        return answer
    return replace(answer, output=output, usage=usage)


async def _priced(usage: Usage) -> Usage:
    if usage.model and usage.cost_usd is None:
        return await asyncio.to_thread(priced, usage)  # the price list takes 0.5 s to load
    return usage
