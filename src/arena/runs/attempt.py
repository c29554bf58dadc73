"""One item: ask the agent, judge what it said; try again where the way there was the problem."""

import asyncio
import time
from dataclasses import dataclass, replace
from uuid import UUID

from arena import clock
from arena.agents import AgentBusy, Answer, Connector, Limiter, Question, Usage
from arena.backoff import backoff_seconds
from arena.errors import AgentFault, AgentSaidNothing, AgentTimedOut, InfrastructureError
from arena.evaluation import Resources, ReviewNeeded, Submission, Verdict, evaluate
from arena.models.pricing import priced
from arena.runs.judged import judged
from arena.runs.run import Item, Result
from arena.runs.verdicts import Recorder
from arena.scoring import ExecutionStatus
from arena.text import storable

MAX_DELAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how patiently an item is tried again."""

    count: int = 2
    delay_seconds: float = 0.5

    def delay(self, attempt: int, fault: InfrastructureError) -> float:
        """The wait after the given attempt: doubling, or what a busy agent has asked for."""
        first = self.delay_seconds
        wait = backoff_seconds(first, attempt, most_seconds=MAX_DELAY_SECONDS, jitter=True)
        if isinstance(fault, AgentBusy) and fault.retry_after_seconds is not None:
            # Added, not the larger of the two: items that were all given the same time to wait
            # must not all come back together, and none before its time.
            wait += min(fault.retry_after_seconds, MAX_DELAY_SECONDS)
        return wait


class NotExecuted(Exception):
    """An item could not be executed; the agent is not to blame."""

    def __init__(self, item: Item, attempts: int, cause: InfrastructureError) -> None:
        super().__init__(cause.message)
        self.item, self.attempts, self.cause = item, attempts, cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How an agent is reached, whose turn it is, and how its answers are judged."""

    connector: Connector
    limiter: Limiter
    resources: Resources
    recorder: Recorder | None = None


async def execute_item(way: Way, run_id: UUID, item: Item, retries: Retries) -> Result:
    """The item's result; `NotExecuted` where the infrastructure did not allow one."""
    attempt = 1
    while True:
        try:
            async with way.limiter.turn():
                asked = await _ask(way.connector, run_id, item)
            break
        except InfrastructureError as fault:
            if not fault.retryable or attempt > retries.count:
                raise NotExecuted(item, attempt, fault) from fault
            wait = retries.delay(attempt, fault)
        await asyncio.sleep(wait)
        attempt += 1
    outcome = asked.outcome
    if isinstance(outcome, AgentFault):
        return _result(item, attempt, asked, outcome)
    try:
        submission = Submission(output=outcome.output)
        verdict = await evaluate(item.test.standard, submission, way.resources)
        cid = None
        if way.recorder is not None:
            cid = await way.recorder.keep(item.test, submission, verdict)
    except ReviewNeeded as needed:
        return _result(item, attempt, asked, needed)
    except InfrastructureError as fault:
        # The agent has answered; to ask it again would not mend what judges it.
        raise NotExecuted(item, attempt, fault) from fault
    return replace(_result(item, attempt, asked, verdict), verdict_cid=cid)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What the agent did with a question, and how long it took."""

    outcome: Answer | AgentFault
    duration_seconds: float

    @property
    def answer(self) -> Answer | None:
        return None if isinstance(self.outcome, AgentFault) else self.outcome


async def _ask(connector: Connector, run_id: UUID, item: Item) -> _Asked:
    """One try: whatever the agent does is an outcome."""
    test = item.test
    question = Question(
        id=f"{run_id}:{test.id}:{item.trial}",
        prompt=test.prompt,
        timeout_seconds=test.timeout_seconds,
    )
    started = time.monotonic()
    try:
        outcome: Answer | AgentFault = await ask(connector, question)
    except AgentFault as failed:
        outcome = failed
    return _Asked(outcome=outcome, duration_seconds=time.monotonic() - started)


async def ask(connector: Connector, question: Question) -> Answer:
    """The agent's answer, in time, with something in it that can be stored and shown."""
    answer = await connector.answer(question)
    output = storable(answer.output)
    if not output.strip():
        raise AgentSaidNothing
    usage = answer.usage
    if usage.model and usage.cost_usd is None:
        usage = await asyncio.to_thread(priced, usage)  # the price list takes long to load
    return replace(answer, output=output, usage=usage)


def _result(
    item: Item, attempt: int, asked: _Asked, outcome: Verdict | AgentFault | ReviewNeeded
) -> Result:
    test, answer = item.test, asked.answer
    usage = answer.usage if answer else Usage()
    verdict = judged(test, usage, outcome) if isinstance(outcome, Verdict) else None
    fault = outcome if isinstance(outcome, AgentFault) else None
    waits = isinstance(outcome, ReviewNeeded)
    reason = storable(fault.message) if fault else verdict.failure_reason if verdict else None
    return Result(
        test_id=test.id,
        trial=item.trial,
        category=test.category,
        status=_status(fault),
        passed=verdict.passed if verdict else None if waits else False,
        score=verdict.score if verdict else None if waits else 0.0,
        points_earned=verdict.points_earned if verdict else 0.0,
        points_possible=test.points,
        actual_output=_shown(answer),
        failure_reason=reason,
        findings=verdict.findings if verdict else [],
        duration_seconds=round(asked.duration_seconds, 6),
        attempts=attempt,
        usage=usage,
        cost=verdict.cost if verdict else None,
        created_at=clock.now(),
        waits_for=test if waits else None,
    )


def _status(fault: AgentFault | None) -> ExecutionStatus:
    if fault is None:
        return ExecutionStatus.COMPLETED
    return ExecutionStatus.TIMEOUT if isinstance(fault, AgentTimedOut) else ExecutionStatus.FAILED


def _shown(answer: Answer | None) -> dict[str, object] | None:
    if answer is None:
        return None
    shown: dict[str, object] = {"output": answer.output}
    if answer.truncated:
        shown["truncated"] = True
    return shown
