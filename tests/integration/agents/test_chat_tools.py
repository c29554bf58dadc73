"""A chat model that calls tools which Arena plays, against a server with scripted replies."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from arena.agents.chat import MAX_ROUNDS
from arena.agents.connector import Answer, Question
from arena.agents.playing import GARBAGE, MAX_CALLS
from arena.agents.spec import OpenAISpec
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable
from arena.models.budget import Budget, BudgetExceeded, Meter, Spent, metered
from arena.models.played_tool import PlayedTool, played_tool
from http_server import Request

WEATHER = {
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
    "answers": [{"arguments": {"city": "Bern"}, "answer": {"sky": "rain"}}, {"answer": "sun"}],
}


def call(name: str, arguments: object, id: str | None = "c1") -> dict[str, object]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    body: dict[str, object] = {"type": "function", "function": {"name": name, "arguments": text}}
    return body if id is None else body | {"id": id}


def message(*calls: object, **fields: object) -> dict[str, object]:
    body: dict[str, object] = {"role": "assistant", "content": None, "refusal": None}
    return body | ({"tool_calls": list(calls)} if calls else {}) | fields


class Script:
    """Replies with one message after the other, the last one again and again."""

    def __init__(self, server: Any) -> None:
        self.server = server

    def plays(self, *messages: dict[str, object], usage: Sequence[object] = ()) -> None:
        async def reply(request: Request, writer: asyncio.StreamWriter) -> None:
            place = min(len(self.server.requests), len(messages)) - 1
            used = {"prompt_tokens": 1000, "completion_tokens": 100}
            body = {
                "model": "gpt-4o-mini",
                "choices": [{"index": 0, "message": messages[place]}],
                "usage": usage[place] if usage else used,
            }
            raw = json.dumps(body).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
            writer.write(f"Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
            await writer.drain()

        self.server.do(reply)

    @property
    def sent(self) -> list[Any]:
        return [request.json for request in self.server.requests]

    @property
    def tool_message(self) -> Any:
        """The last message of the last request."""
        return self.sent[-1]["messages"][-1]


@pytest.fixture
def script(server):
    return Script(server)


@pytest.fixture
def asked(bench, server):
    async def asked(*tools: dict[str, Any], timeout_seconds: float = 20, **keys: Any) -> Answer:
        spec = OpenAISpec(base_url=f"{server.url}/v1", model="gpt-4o-mini", **keys)
        played: tuple[PlayedTool, ...] = tuple(map(played_tool, tools))
        question = Question(
            id="q", prompt="Weather in Bern?", timeout_seconds=timeout_seconds, tools=played
        )
        return await bench.connect(spec).answer(question)

    return asked


async def test_tools_are_offered_played_and_become_steps(script, asked):
    calls = [call("weather", {"city": "Bern"}, "a"), call("weather", {"city": "Genf"}, "b")]
    script.plays(message(*calls), message(content="It rains."))
    answer = await asked(WEATHER)
    assert answer.output == "It rains."
    assert [(one.tool, one.arguments, one.result, one.error) for one in answer.steps] == [
        ("weather", {"city": "Bern"}, {"sky": "rain"}, None),
        ("weather", {"city": "Genf"}, "sun", None),
    ]
    assert {one.source for one in answer.steps} == {"arena"}
    assert all(one.time is not None for one in answer.steps)
    first, second = script.sent
    [offered] = first["tools"]
    assert offered["function"]["name"] == "weather"
    assert offered["function"]["parameters"] == WEATHER["parameters"]
    assert second["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            call("weather", {"city": "Bern"}, "a"),
            call("weather", {"city": "Genf"}, "b"),
        ],
    }
    assert second["messages"][2:] == [
        {"role": "tool", "tool_call_id": "a", "content": '{"sky": "rain"}'},
        {"role": "tool", "tool_call_id": "b", "content": "sun"},
    ]


async def test_usage_and_cost_are_those_of_all_rounds(script, asked):
    script.plays(message(call("weather", {"city": "Bern"})), message(content="It rains."))
    usage = (await asked(WEATHER)).usage
    assert (usage.input_tokens, usage.output_tokens) == (2000, 200)
    assert usage.cost_usd == pytest.approx(0.00042)


async def test_the_cost_is_unknown_if_that_of_one_round_is(script, asked):
    used = {"prompt_tokens": 1000, "completion_tokens": 100}
    script.plays(
        message(call("weather", {"city": "Bern"})), message(content="Rain."), usage=[{}, used]
    )
    usage = (await asked(WEATHER)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (None, None, None)


@pytest.mark.parametrize(
    ("tool", "sent", "content", "error"),
    [
        (WEATHER, call("wether", {}), "there is no tool 'wether' here; known: weather", True),
        (WEATHER, call("weather", {}), "the arguments do not fit: 'city' is a required", True),
        (WEATHER, call("weather", "{"), "the arguments are not a JSON object", True),
        (WEATHER, call("weather", '{"city": NaN}'), "the arguments are not a JSON object", True),
        (WEATHER, call("weather", "[" * 2000), "the arguments are not a JSON object", True),
        ({"name": "a", "fault": "timeout"}, call("a", ""), "the tool timed out", True),
        ({"name": "a", "fault": "error"}, call("a", {}), "the tool failed", True),
        ({"name": "a", "fault": {"kind": "error", "message": "full"}}, call("a", {}), "full", True),
        ({"name": "a", "fault": "garbage"}, call("a", {}), GARBAGE, False),
        (
            {"name": "a", "answers": [{"arguments": {"x": 1}, "answer": 2}]},
            call("a", {"x": 2}),
            "the tool has no answer for these arguments",
            True,
        ),
        (
            {"name": "a", "recorded": [{"arguments": {"x": 1}, "result": 2}]},
            call("a", {"x": 1, "y": 1}),
            "no call with these arguments was recorded",
            True,
        ),
        ({"name": "a", "recorded": [{"error": "gone"}]}, call("a", {}), "gone", True),
    ],
)
async def test_what_fails_is_told_to_the_model_and_noted(
    script, asked, tool, sent, content: str, error: bool
):
    script.plays(message(sent), message(content="Sorry."))
    [step] = (await asked(tool)).steps
    assert step.source == "arena"
    if error:
        assert content in (step.error or "")
        assert json.loads(script.tool_message["content"]) == {"error": step.error}
        assert step.result is None
    else:
        assert (step.result, step.error) == (content, None)
        assert script.tool_message["content"] == content


async def test_a_fault_may_be_for_some_calls_only(script, asked):
    tool = {"name": "a", "answer": "ok", "fault": {"kind": "error", "calls": [1, 3]}}
    script.plays(*[message(call("a", {}))] * 4, message(content="Done."))
    steps = (await asked(tool)).steps
    assert [step.error is None for step in steps] == [False, True, False, True]


async def test_recorded_calls_with_equal_arguments_are_played_in_order(script, asked):
    tool = {
        "name": "a",
        "recorded": [
            {"arguments": {"x": 1}, "result": "first"},
            {"arguments": {"x": 2}, "result": "other"},
            {"arguments": {"x": 1.0}, "result": "second"},
        ],
    }
    calls = [call("a", {"x": x}) for x in (1, 1, 2, 1, 1)]
    script.plays(*map(message, calls), message(content="Done."))
    results = [step.result for step in (await asked(tool)).steps]
    assert results == ["first", "second", "other", "second", "second"]


async def test_calls_without_an_id_get_one(script, asked):
    script.plays(message(call("weather", {"city": "Bern"}, None)), message(content="Rain."))
    await asked(WEATHER)
    said, played = script.sent[-1]["messages"][-2:]
    assert said["tool_calls"][0]["id"] == played["tool_call_id"] == "call_1"


async def test_the_older_function_call_is_answered_in_its_own_format(script, asked):
    older = {"name": "weather", "arguments": '{"city": "Bern"}'}
    script.plays(message(function_call=older), message(content="Rain."))
    [step] = (await asked(WEATHER)).steps
    assert step.result == {"sky": "rain"}
    assert script.tool_message == {
        "role": "function",
        "name": "weather",
        "content": '{"sky": "rain"}',
    }


async def test_a_call_without_a_name_is_answered_and_is_no_step(script, asked):
    script.plays(message({"id": "x", "function": {}}), message(content="Rain."))
    assert (await asked(WEATHER)).steps == ()
    assert script.tool_message["tool_call_id"] == "x"


async def test_what_a_server_adds_to_its_message_is_sent_back(script, asked):
    signed = call("weather", {"city": "Bern"}) | {"extra_content": {"signature": "s"}}
    script.plays(message(signed, reasoning_content="hm"), message(content="Rain."))
    await asked(WEATHER)
    said = script.sent[-1]["messages"][-2]
    assert said["reasoning_content"] == "hm"
    assert said["tool_calls"][0]["extra_content"] == {"signature": "s"}
    assert "refusal" not in said


async def test_own_tools_of_the_agent_are_offered_too_and_may_not_clash(script, asked):
    own = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
    script.plays(message(call("search", {})), message(content="Rain."))
    [step] = (await asked(WEATHER, options={"tools": [own]})).steps
    assert step.error == "there is no tool 'search' here; known: weather"
    names = [tool["function"]["name"] for tool in script.sent[0]["tools"]]
    assert names == ["search", "weather"]
    clash = {"type": "function", "function": {"name": "weather"}}
    with pytest.raises(AgentUnavailable, match="'weather' is in the agent's options and in the"):
        await asked(WEATHER, options={"tools": [clash]})


async def test_a_model_that_only_calls_tools_is_stopped(script, asked):
    script.plays(message(call("weather", {"city": "Bern"})))
    with pytest.raises(AgentCrashed, match=f"still called tools after {MAX_ROUNDS} rounds"):
        await asked(WEATHER)
    assert len(script.sent) == MAX_ROUNDS


async def test_too_many_calls_at_once_are_refused(script, asked):
    script.plays(message(*[call("weather", {"city": "Bern"})] * (MAX_CALLS + 1)))
    with pytest.raises(AgentCrashed, match="more than 1,000 times"):
        await asked(WEATHER, timeout_seconds=300)


async def test_endless_messages_are_refused(script, asked):
    script.plays(message(call("weather", {"city": "x" * 900_000})))
    with pytest.raises(AgentCrashed, match="more than 4 MiB"):
        await asked(WEATHER, timeout_seconds=300)


async def test_the_time_limit_is_for_all_rounds(server, asked):
    async def reply(request: Request, writer: asyncio.StreamWriter) -> None:
        if len(server.requests) > 2:
            await asyncio.sleep(60)
        body = {"choices": [{"message": message(call("weather", {"city": "Bern"}))}]}
        raw = json.dumps(body).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
        writer.write(f"Content-Length: {len(raw)}\r\n\r\n".encode() + raw)
        await writer.drain()

    server.do(reply)
    with pytest.raises(AgentTimedOut, match="within 3 s"):
        await asked(WEATHER, timeout_seconds=3)


async def test_a_budget_is_checked_before_every_round(script, asked):
    script.plays(message(call("weather", {"city": "Bern"})))
    with (
        metered(Meter(Budget(max_tokens=2000), Spent())),
        pytest.raises(BudgetExceeded, match="2,200 of 2,000 tokens used"),
    ):
        await asked(WEATHER)
    assert len(script.sent) == 2
