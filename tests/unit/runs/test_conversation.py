"""The loop of a conversation, with scripted agents."""

from uuid import UUID

import pytest

from arena.agents.agent import AgentDefinition
from arena.agents.connector import Answer, Question
from arena.agents.spec import CommandSpec, HttpSpec
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, InvalidInput
from arena.evaluation.resources import NO_RESOURCES
from arena.models.message import Message
from arena.models.step import MAX_STEPS_BYTES, Step
from arena.models.turns import Turns
from arena.models.usage import Usage
from arena.runs import conversation
from arena.runs.abilities import check_abilities
from arena.runs.item import Item
from arena.runs.item_loop import execute_item
from arena.runs.run import Result
from arena.runs.session import AgentSession, NotExecuted, Retries
from arena.runs.verdicts import submission_of
from arena.settings import Settings
from factories import a_test

AT_ONCE = Retries(count=1, delay_seconds=0.0)
TALK = a_test(turns=("one", "two", "three"), timeout_seconds=7)


class Scripted:
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


async def execute(connector: Scripted, test=TALK) -> Result:
    session = AgentSession(
        connector=connector,
        limiter=Turns(max_concurrency=1),
        throttle=AT_ONCE.new_throttle(),
        retries=AT_ONCE,
    )
    item = Item(test=test, trial=1)
    return await execute_item(session, UUID(int=1), item, NO_RESOURCES)


def contents(result: Result) -> list[str]:
    return [message.content for message in result.messages or ()]


async def test_each_question_has_what_was_said_before_and_an_id_of_its_own():
    connector = Scripted(
        Answer(output="a", context="c1"), Answer(output="b", context="c2"), Answer(output="yes")
    )
    result = await execute(connector)
    assert result.passed
    assert contents(result) == ["one", "a", "two", "b", "three", "yes"]
    first, second, third = connector.questions
    assert first == Question(
        id=first.id, prompt="one", timeout_seconds=7, turn=1, is_conversation=True
    )
    assert [one.id for one in connector.questions] == [first.id, f"{first.id}:2", f"{first.id}:3"]
    assert (second.prompt, second.context, second.turn) == ("two", "c1", 2)
    assert third.messages == (
        Message(role="user", content="one"),
        Message(role="assistant", content="a"),
        Message(role="user", content="two"),
        Message(role="assistant", content="b"),
    )


async def test_usage_steps_and_time_count_over_the_whole_conversation():
    usage = Usage(input_tokens=10, output_tokens=1, model="m", cost_usd=0.5)
    step = Step(tool="look")
    result = await execute(
        Scripted(
            Answer(output="a", usage=usage, steps=(step,)),
            Answer(output="b", usage=usage),
            Answer(output="yes", usage=usage, steps=(step,), truncated=True),
        )
    )
    assert (result.input_tokens, result.output_tokens, result.cost_usd) == (30, 3, 1.5)
    assert [one.turn for one in result.steps or ()] == [1, 3]
    assert result.actual_output == {"output": "yes", "truncated": True}
    assert result.attempts == 1


async def test_usage_that_one_reply_does_not_report_is_unknown():
    known = Usage(input_tokens=10, output_tokens=1)
    result = await execute(
        Scripted(Answer(output="a", usage=known), Answer(output="b"), Answer(output="yes"))
    )
    assert (result.input_tokens, result.cost_usd) == (None, None)


async def test_a_failure_ends_the_conversation_and_says_in_which_turn():
    connector = Scripted(Answer(output="a", steps=(Step(tool="t"),)), AgentCrashed("exit code 3"))
    result = await execute(connector)
    assert (result.passed, result.status) == (False, "failed")
    assert result.failure_reason == "turn 2: exit code 3"
    assert contents(result) == ["one", "a", "two"]
    assert [step.tool for step in result.steps or ()] == ["t"]
    assert len(connector.questions) == 2


async def test_a_reply_that_takes_too_long_is_a_time_out_of_the_test():
    result = await execute(Scripted(AgentTimedOut("no answer within 7 s")))
    assert (result.status, result.failure_reason) == ("timeout", "turn 1: no answer within 7 s")


async def test_a_broken_connection_repeats_only_the_question_of_that_turn():
    connector = Scripted(
        Answer(output="a"), AgentUnavailable("gone"), Answer(output="b"), Answer(output="yes")
    )
    result = await execute(connector)
    assert result.passed
    assert [one.turn for one in connector.questions] == [1, 2, 2, 3]
    assert result.attempts == 2


async def test_an_unreachable_agent_is_no_failure_of_the_agent():
    with pytest.raises(NotExecuted):
        await execute(Scripted(Answer(output="a"), *[AgentUnavailable("gone")] * 2))


async def test_an_endless_conversation_ends(monkeypatch):
    monkeypatch.setattr(conversation, "MAX_CHARACTERS", 10)
    result = await execute(Scripted(Answer(output="a"), Answer(output="b" * 20)))
    assert str(result.failure_reason).startswith("turn 2: the conversation is longer than")


async def test_a_test_without_turns_asks_the_same_question_as_ever():
    connector = Scripted(Answer(output="yes"))
    result = await execute(connector, a_test())
    assert result.messages is None
    (question,) = connector.questions
    assert question == Question(
        id=question.id, prompt=question.prompt, timeout_seconds=question.timeout_seconds
    )


def agent(spec: object) -> AgentDefinition:
    return AgentDefinition(id="a", name="A", connector=spec)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        (CommandSpec(command="x", input="text"), "read the question as JSON"),
        (CommandSpec(command="x {prompt}"), "read the question as JSON"),
        (HttpSpec(url="http://x", body={"q": "{prompt}"}), "put {messages}"),
    ],
)
def test_an_agent_that_gets_no_history_is_refused_with_a_remedy(spec, remedy, tmp_path):
    with pytest.raises(InvalidInput, match=remedy):
        check_abilities(agent(spec), [TALK], Settings(home=tmp_path))


def test_agents_that_get_the_history_are_accepted(tmp_path):
    for spec in (
        CommandSpec(command="x"),
        HttpSpec(url="http://x"),
        HttpSpec(url="http://x", body={"all": ["{messages}", "{prompt}"]}),
        HttpSpec(url="http://x", body={"thread": "{context}", "q": "{prompt}"}),
    ):
        check_abilities(agent(spec), [TALK], Settings(home=tmp_path))


def test_a_simulated_user_must_be_set_up(tmp_path):
    test = a_test(user={"goal": "g", "max_turns": 3})
    with pytest.raises(InvalidInput, match="ARENA_USER_BASE_URL and ARENA_USER_MODEL"):
        check_abilities(agent(CommandSpec(command="x")), [test], Settings(home=tmp_path))


async def test_steps_beyond_the_limit_hide_no_call():
    """Here the call that must not happen comes after more than Arena keeps."""
    much = Step(tool="look", arguments={"what": "x" * MAX_STEPS_BYTES}, source="arena")
    bad = Step(tool="delete", source="arena")
    test = a_test(turns=("one",), validation="tool_not_called", expected={"tools": ["delete"]})
    result = await execute(Scripted(Answer(output="yes", steps=(much, bad))), test)
    assert (result.passed, result.steps) == (False, None)
    assert "not known: only the first 0 of 2 steps fit in 1 MiB" in (result.failure_reason or "")
    assert submission_of(result).steps_problem == "only the first 0 of 2 steps fit in 1 MiB"
