import asyncio
import json
import logging
import time

import pytest

from arena.agents.connector import MAX_OUTPUT_BYTES, AgentBusy, Question
from arena.agents.spec import OpenAISpec, Price
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable
from arena.models.step import Step
from arena.models.usage import Usage
from arena.runs.session import ask as ask_agent

SECRET = "sk-s3cr3t-value"


def completion(text: str | None = "Hello", **fields: object) -> dict[str, object]:
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o-mini",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    } | fields


@pytest.fixture
def chat(bench, server):
    def chat(**keys):
        spec = OpenAISpec(base_url=f"{server.url}/v1", model="gpt-4o-mini", **keys)
        return bench.connect(spec, environ={"MY_KEY": SECRET})

    return chat


async def test_a_question_becomes_a_chat_and_the_answer_has_tokens_and_cost(chat, server, ask):
    server.say(completion())
    answer = await ask(chat(system="Be brief.", temperature=0.5, max_tokens=50), "Hi")
    assert answer.output == "Hello"
    assert answer.usage == Usage(
        input_tokens=1000, output_tokens=100, model="gpt-4o-mini", cost_usd=0.00021
    )
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.json == {
        "model": "gpt-4o-mini",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        "temperature": 0.5,
        "max_tokens": 50,
    }


async def test_unset_options_are_not_sent(chat, server, ask, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "from-the-environment")
    server.say(completion())
    await ask(chat(), "Hi")
    [request] = server.requests
    assert request.json.keys() == {"model", "messages"}
    assert "authorization" not in request.headers
    assert "from-the-environment" not in str(request.headers)


async def test_the_key_is_sent_and_never_logged(chat, server, ask, caplog):
    caplog.set_level(logging.DEBUG)
    server.say(completion(f"your key is {SECRET}"))
    connector = chat(api_key_env="MY_KEY")
    assert (await ask(connector)).output == "your key is [redacted]"
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    server.say({"error": {"message": f"bad key {SECRET}"}}, status=401)
    with pytest.raises(AgentUnavailable, match="valid key") as caught:
        await ask(connector)
    assert SECRET not in str(caught.value)
    assert not caught.value.retryable
    assert SECRET not in caplog.text


async def test_the_cost_follows_the_configured_model_not_the_reported_one(chat, server, ask):
    server.say(completion(model="gpt-4"))
    usage = (await ask(chat())).usage
    assert (usage.model, usage.cost_usd) == ("gpt-4", 0.00021)


async def test_an_unknown_model_costs_an_unknown_amount_whatever_the_server_reports(bench, server):
    server.say(completion(model="gpt-4"))
    connector = bench.connect(OpenAISpec(base_url=f"{server.url}/v1", model="my-own-model"))
    # As a run asks: it looks up the prices of agents that report only a model.
    answer = await ask_agent(connector, Question(id="q", prompt="Hi", timeout_seconds=20))
    assert answer.usage == Usage(input_tokens=1000, output_tokens=100, model="gpt-4")


async def test_a_configured_price_wins(chat, server, ask):
    server.say(completion())
    price = Price(input_usd_per_million=2.0, output_usd_per_million=30.0)
    assert (await ask(chat(price=price))).usage.cost_usd == 0.005


async def test_options_and_headers_are_sent_as_they_are(chat, server, ask):
    server.say(completion())
    options = {"reasoning_effort": "low", "max_completion_tokens": 9, "tools": [{"type": "x"}]}
    headers = {"X-Team": "qa", "X-Api-Key": "${MY_KEY}"}
    await ask(chat(options=options, headers=headers))
    [request] = server.requests
    assert request.json.items() >= options.items()
    assert request.headers["x-team"] == "qa"
    assert request.headers["x-api-key"] == SECRET


def with_calls(*calls: object, **message: object) -> dict[str, object]:
    whole = {"role": "assistant", "content": None, "tool_calls": list(calls)} | message
    return completion(choices=[{"index": 0, "finish_reason": "tool_calls", "message": whole}])


def call(name: str, arguments: str) -> dict[str, object]:
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


async def test_an_answer_of_tool_calls_alone_is_an_answer(chat, server, ask):
    server.say(with_calls(call("weather", '{"city": "Zürich"}'), call("time", "")))
    answer = await ask(chat())
    assert answer.steps == (
        Step(tool="weather", arguments={"city": "Zürich"}),
        Step(tool="time", arguments=""),
    )
    assert answer.output == (
        '[{"tool": "weather", "arguments": {"city": "Zürich"}}, {"tool": "time", "arguments": ""}]'
    )


async def test_text_beside_tool_calls_is_the_output(chat, server, ask):
    server.say(with_calls(call("f", "{}"), content="Let me look."))
    answer = await ask(chat())
    assert answer.output == "Let me look."
    assert answer.steps == (Step(tool="f", arguments={}),)


async def test_the_older_function_call_is_a_step_too(chat, server, ask):
    server.say(with_calls(tool_calls=None, function_call={"name": "f", "arguments": "[1]"}))
    assert (await ask(chat())).steps == (Step(tool="f", arguments=[1]),)


async def test_a_secret_in_a_tool_call_is_redacted(bench, server, ask):
    secret = 'quo"ted\\secret'
    spec = OpenAISpec(base_url=server.url, model="m", headers={"X": "${K}"})
    connector = bench.connect(spec, environ={"K": secret})
    server.say(with_calls(call("f", json.dumps({secret: [secret]}))))
    answer = await ask(connector)
    assert answer.steps == (Step(tool="f", arguments={"[redacted]": ["[redacted]"]}),)
    assert answer.output == '[{"tool": "f", "arguments": {"[redacted]": ["[redacted]"]}}]'


async def test_an_answer_cut_by_its_token_limit_is_marked(chat, server, ask):
    message = {"role": "assistant", "content": "The answer is"}
    server.say(completion(choices=[{"finish_reason": "length", "message": message}]))
    answer = await ask(chat())
    assert (answer.output, answer.truncated) == ("The answer is", True)
    message["content"] = ""
    server.say(completion(choices=[{"finish_reason": "length", "message": message}]))
    with pytest.raises(AgentSaidNothing, match="token limit before it answered"):
        await ask(chat())


async def test_a_server_that_counts_no_tokens_leaves_them_unknown(chat, server, ask):
    server.say({"choices": [{"message": {"content": "hi"}}]})
    answer = await ask(chat())
    assert answer.output == "hi"
    assert answer.usage == Usage(model="gpt-4o-mini")


async def test_a_refusal_is_an_answer(chat, server, ask):
    message = {"role": "assistant", "content": None, "refusal": "I would rather not."}
    server.say(completion(choices=[{"index": 0, "finish_reason": "stop", "message": message}]))
    assert (await ask(chat())).output == "I would rather not."


@pytest.mark.parametrize("text", [None, "", " "])
async def test_an_empty_completion_says_nothing(chat, server, ask, text):
    server.say(completion(text))
    with pytest.raises(AgentSaidNothing):
        await ask(chat())


@pytest.mark.parametrize("body", [{"choices": []}, {"hello": 1}, "text", [1], "[", '"x"'])
async def test_a_malformed_completion_is_a_crash(chat, server, ask, body):
    server.say(body, Content_Type="application/json")
    with pytest.raises(AgentCrashed, match="not a chat completion"):
        await ask(chat())


async def test_a_busy_server_is_called_once_and_its_retry_after_is_reported(chat, server, ask):
    server.say("busy", status=429, Retry_After="2.5")
    with pytest.raises(AgentBusy) as caught:
        await ask(chat())
    assert caught.value.retry_after_seconds == 2.5
    assert len(server.requests) == 1


async def test_a_bad_request_is_the_agents_fault(chat, server, ask):
    server.say({"error": {"message": "context too long"}}, status=400)
    with pytest.raises(AgentCrashed, match=r"status 400: .*context too long"):
        await ask(chat())


async def test_an_unreachable_server_is_retryable(bench, ask):
    connector = bench.connect(OpenAISpec(base_url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(AgentUnavailable, match=r"cannot reach http://127.0.0.1:9/v1: \w") as caught:
        await ask(connector)
    assert caught.value.retryable


async def test_a_time_out_closes_the_connection(chat, server, ask):
    async def wait(request, writer):
        while True:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    server.do(wait)
    begin = time.monotonic()
    with pytest.raises(AgentTimedOut):
        await ask(chat(), timeout=0.4)
    assert time.monotonic() - begin < 30
    for _ in range(1000):
        if server.hang_ups:
            break
        await asyncio.sleep(0.02)
    assert server.hang_ups == 1


@pytest.mark.parametrize("status", [200, 500])
async def test_an_endless_body_is_refused(chat, server, ask, status):
    async def flood(request, writer):
        head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            await writer.drain()

    server.do(flood)
    with pytest.raises(AgentCrashed, match="far longer than 1 MiB"):
        await ask(chat())


async def test_a_long_text_is_cut_and_marked(chat, server, ask):
    server.say(completion("ü" * MAX_OUTPUT_BYTES))
    answer = await ask(chat())
    assert answer.truncated
    assert len(answer.output.encode()) == MAX_OUTPUT_BYTES
