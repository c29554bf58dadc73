"""Every connector carries the history of a conversation, and sends one question as ever."""

import json

import pytest

from arena.agents.connector import Question
from arena.agents.spec import HttpSpec, OpenAISpec
from arena.errors import AgentUnavailable
from arena.models.message import Message

BEFORE = (
    Message(role="user", content="My name is Ada."),
    Message(role="assistant", content="Hello Ada."),
)
SECOND = Question(
    id="q:2",
    prompt="Who am I?",
    timeout_seconds=20,
    messages=BEFORE,
    context="c1",
    turn=2,
    is_conversation=True,
)
FIRST = Question(id="q", prompt="Hi", timeout_seconds=20, is_conversation=True)
HISTORY = [
    {"role": "user", "content": "My name is Ada."},
    {"role": "assistant", "content": "Hello Ada."},
]
ECHO = """
    import json, sys
    for line in sys.stdin:
        print(json.dumps({"output": line, "context": "c9"}), flush=True)
"""


@pytest.mark.parametrize("persistent", [False, True])
async def test_a_program_gets_the_messages(bench, persistent):
    connector = bench.command(ECHO, persistent=persistent)
    answer = await connector.answer(SECOND)
    assert json.loads(answer.output) == {
        "id": "q:2",
        "prompt": "Who am I?",
        "timeout_seconds": 20,
        "messages": HISTORY,
        "turn": 2,
        "context": "c1",
    }
    assert answer.context == "c9"
    first = await connector.answer(FIRST)
    assert first.output.strip() == '{"id": "q", "prompt": "Hi", "timeout_seconds": 20}'


async def test_a_function_gets_the_messages_if_it_takes_them(bench):
    connector = bench.function(
        """
        def answer(prompt, messages=(), context=None):
            return {"output": f"{prompt} {len(messages)} {context}", "context": "mine"}
        """
    )
    assert (await connector.answer(FIRST)).output == "Hi 0 None"
    answer = await connector.answer(SECOND)
    assert (answer.output, answer.context) == ("Who am I? 2 c1", "mine")


async def test_a_function_that_takes_only_the_prompt_cannot_hold_a_conversation(bench):
    connector = bench.function("def answer(prompt): return prompt")
    assert (await connector.answer(FIRST)).output == "Hi"
    with pytest.raises(AgentUnavailable, match="give it a parameter 'messages'") as caught:
        await connector.answer(SECOND)
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        (None, {"prompt": "Who am I?", "messages": HISTORY, "turn": 2, "context": "c1"}),
        (
            {"messages": ["{messages}", {"role": "user", "content": "{prompt}"}]},
            {"messages": [*HISTORY, {"role": "user", "content": "Who am I?"}]},
        ),
        (
            {"past": "{messages}", "now": "{prompt}", "at": "{context}/{turn}"},
            {"past": HISTORY, "now": "Who am I?", "at": "c1/2"},
        ),
    ],
)
async def test_an_http_agent_gets_the_messages(bench, server, body, sent):
    server.say({"output": "Ada", "context": "c7"})
    keys = {} if body is None else {"body": body}
    connector = bench.connect(HttpSpec(url=server.url, **keys))
    answer = await connector.answer(SECOND)
    assert (answer.output, answer.context) == ("Ada", "c7")
    assert server.requests[-1].json == sent


async def test_one_question_to_an_http_agent_has_no_messages(bench, server):
    server.say({"output": "Hello"})
    await bench.connect(HttpSpec(url=server.url)).answer(FIRST)
    assert server.requests[-1].json == {"prompt": "Hi"}


async def test_a_chat_model_gets_all_messages(bench, server):
    server.say({"choices": [{"message": {"content": "Ada"}, "finish_reason": "stop"}]})
    spec = OpenAISpec(base_url=f"{server.url}/v1", model="m", system="Be brief.")
    await bench.connect(spec).answer(SECOND)
    assert server.requests[-1].json["messages"] == [
        {"role": "system", "content": "Be brief."},
        *HISTORY,
        {"role": "user", "content": "Who am I?"},
    ]
