from uuid import UUID

import pytest

from arena.agents.connector import AgentBusy, Answer, Question
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable
from arena.evaluation.resources import NO_RESOURCES
from arena.models.turns import Turns
from arena.models.usage import Usage
from arena.runs.item import Item
from arena.runs.item_loop import execute_item
from arena.runs.run import Result
from arena.runs.session import AgentSession, NotExecuted, Retries
from arena.scoring.history import ExecutionStatus
from factories import a_test

RUN = UUID(int=1)
ITEM = Item(test=a_test(points=2.0), trial=1)
AT_ONCE = Retries(count=2, delay_seconds=0.0)


async def execute(connector: "Scripted") -> Result:
    session = AgentSession(
        connector=connector,
        limiter=Turns(max_concurrency=4),
        throttle=AT_ONCE.new_throttle(),
        retries=AT_ONCE,
    )
    return await execute_item(session, RUN, ITEM, NO_RESOURCES)


class Scripted:
    """A connector that follows a script, one step per question."""

    def __init__(self, *steps: Answer | Exception) -> None:
        self.steps = list(steps)
        self.questions: list[Question] = []

    async def answer(self, question: Question) -> Answer:
        self.questions.append(question)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    async def close(self) -> None:
        pass


async def test_a_good_answer_passes_and_earns_the_points():
    usage = Usage(input_tokens=3, output_tokens=4, model="m", cost_usd=0.1)
    result = await execute(Scripted(Answer(output="yes", usage=usage)))
    assert (result.passed, result.points_earned, result.score) == (True, 2.0, 100.0)
    assert result.status is ExecutionStatus.COMPLETED
    assert (result.input_tokens, result.output_tokens) == (3, 4)
    assert (result.model, result.cost_usd) == ("m", 0.1)
    assert result.failure_reason is None
    assert result.actual_output == {"output": "yes"}


async def test_a_bad_answer_fails_but_the_execution_is_completed():
    result = await execute(Scripted(Answer(output="no")))
    assert (result.passed, result.points_earned) == (False, 0.0)
    assert result.status is ExecutionStatus.COMPLETED
    assert result.failure_reason == '"yes" is missing (read: "no")'


async def test_a_cut_answer_says_so():
    result = await execute(Scripted(Answer(output="yes", truncated=True)))
    assert result.actual_output == {"output": "yes", "truncated": True}


@pytest.mark.parametrize(
    ("step", "status", "reason"),
    [
        (AgentCrashed("exit code 3"), "failed", "exit code 3"),
        (AgentTimedOut("no answer within 30 s"), "timeout", "no answer within 30 s"),
        (Answer(output=" \n"), "failed", "The agent answered with nothing."),
    ],
)
async def test_an_agent_fault_is_a_failed_result_and_not_retried(
    step: Answer | Exception, status: str, reason: str
):
    connector = Scripted(step)
    result = await execute(connector)
    assert (result.passed, result.status, result.failure_reason) == (False, status, reason)
    assert result.attempts == 1


async def test_a_transport_fault_is_retried_with_the_same_question():
    connector = Scripted(AgentUnavailable("down"), AgentUnavailable("down"), Answer(output="yes"))
    result = await execute(connector)
    assert (result.passed, result.attempts) == (True, 3)
    assert len(set(connector.questions)) == 1


async def test_after_the_last_attempt_the_item_is_not_executed():
    connector = Scripted(*[AgentUnavailable("down")] * 3)
    with pytest.raises(NotExecuted, match="down") as missed:
        await execute(connector)
    assert missed.value.attempts == 3


async def test_a_permanent_fault_is_not_retried():
    connector = Scripted(AgentUnavailable("no such program", retryable=False))
    with pytest.raises(NotExecuted) as missed:
        await execute(connector)
    assert missed.value.attempts == 1


def test_the_delay_between_retries_doubles_up_to_a_limit():
    retries = Retries(delay_seconds=1.0)
    waits = [retries.delay(failures) for failures in (1, 2, 3, 20)]
    for wait, expected in zip(waits, (1, 2, 4, 30), strict=True):
        assert 0.5 * expected <= wait <= expected


async def test_throttling_does_not_use_up_the_retries():
    busy = [AgentBusy("later", retry_after_seconds=0.001)] * 9
    down = [AgentUnavailable("down")] * 2
    connector = Scripted(*busy, *down, *busy, Answer(output="yes"))
    result = await execute(connector)
    assert (result.passed, result.attempts) == (True, 21)


async def test_waiting_for_late_spans_is_not_time_that_the_agent_took():
    result = await execute(Scripted(Answer(output="yes", waited_seconds=1e6)))
    assert result.duration_seconds == 0.0
