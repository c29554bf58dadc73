import asyncio
import logging
import time

import pytest

from arena.agents.connector import MAX_OUTPUT_BYTES, AgentBusy
from arena.agents.spec import OpenAISpec
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable
from arena.models.usage import Usage

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


async def test_an_unknown_model_costs_an_unknown_amount(chat, server, ask):
    server.say(completion(model="my-own-model"))
    usage = (await ask(chat())).usage
    assert usage == Usage(input_tokens=1000, output_tokens=100, model="my-own-model")


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
