import asyncio
import gzip
import json
import logging
import re
import socket
import time
from pathlib import Path

import pytest

from arena.agents.connector import MAX_OUTPUT_BYTES, AgentBusy
from arena.agents.spec import HttpSpec, UsagePointers
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable
from arena.models.usage import Usage

SECRET = "s3cr3t-value"


@pytest.fixture
def http(bench, server):
    """Connects to the server with the given keys of the connector."""

    def http(**keys):
        limits = {"max_concurrency": keys.pop("max_concurrency", 4)}
        environ = {"API_KEY": SECRET}
        return bench.connect(HttpSpec(url=f"{server.url}/ask", **keys), environ=environ, **limits)

    return http


async def test_the_prompt_is_posted_as_json_and_output_is_the_answer(http, server, ask):
    server.say({"output": "42", "usage": {"input_tokens": 3, "cost_usd": 0.5}})
    answer = await ask(http(), 'a "quoted" prompt')
    assert answer.output == "42"
    assert answer.usage == Usage(input_tokens=3, cost_usd=0.5)
    [request] = server.requests
    assert (request.method, request.path) == ("POST", "/ask")
    assert request.headers["content-type"] == "application/json"
    assert request.json == {"prompt": 'a "quoted" prompt'}


async def test_without_output_the_plain_body_is_the_answer(http, server, ask):
    server.say("It is\nfine. \n")
    assert (await ask(http())).output == "It is\nfine."


async def test_the_template_is_filled_in_strings_only_and_only_once(http, server, ask):
    server.say("ok")
    body = {"q": ["<{prompt}>", 7, None, True], "{id}": "{id} {timeout_seconds} {other}"}
    nasty = '"}], "admin": true, {id} \\ {prompt}'
    await ask(http(body=body), nasty, id="q7", timeout=5)
    assert server.requests[0].json == {
        "q": [f"<{nasty}>", 7, None, True],
        "{id}": "q7 5 {other}",
    }


async def test_an_agents_headers_cannot_override_the_request_format(http, server, ask):
    server.say("ok")
    given = {"Accept-Encoding": "gzip", "Content-Type": "text/plain", "User-Agent": "mine"}
    await ask(http(headers=given))
    [request] = server.requests
    assert request.headers["accept-encoding"] == "identity"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "mine"


@pytest.mark.parametrize(
    "pointer", ["/choices/0/text", "choices.0.text", "$.choices[0].text", "choices[0].text"]
)
async def test_the_answer_is_found_by_its_pointer(http, server, ask, pointer):
    server.say({"choices": [{"text": "yes"}], "meta": {"tokens": {"in": 5, "out": 6}, "m": "x"}})
    usage = UsagePointers(
        input_tokens="meta.tokens.in", output_tokens="/meta/tokens/out", model="meta.m",
        cost_usd="meta.nowhere",
    )  # fmt: skip
    answer = await ask(http(answer=pointer, usage=usage))
    assert answer.output == "yes"
    assert answer.usage == Usage(input_tokens=5, output_tokens=6, model="x")


async def test_a_pointer_that_leads_nowhere_is_a_crash_with_an_excerpt(http, server, ask):
    server.say({"choices": []})
    with pytest.raises(AgentCrashed, match=r"the list has no item '0' in \{\"choices\": \[\]\}"):
        await ask(http(answer="/choices/0/text"))


async def test_a_pointer_into_something_that_is_not_json_is_a_crash(http, server, ask):
    server.say("<html>")
    with pytest.raises(AgentCrashed, match="not JSON: <html>"):
        await ask(http(answer="/x"))


async def test_secrets_in_headers_are_filled_in_and_redacted_everywhere(http, server, ask, caplog):
    caplog.set_level(logging.DEBUG)
    connector = http(headers={"Authorization": "Bearer ${API_KEY}", "X-Team": "qa"})
    server.say({"output": f"you sent {SECRET}"})
    assert (await ask(connector)).output == "you sent [redacted]"
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert server.requests[0].headers["x-team"] == "qa"
    server.say("x" * 295 + SECRET, status=500)  # cut in the middle of the secret
    with pytest.raises(AgentCrashed) as caught:
        await ask(connector)
    assert SECRET[:5] not in str(caught.value)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_busy_agent_is_retryable(http, server, ask, status):
    server.say("slow down", status=status, Retry_After="7")
    with pytest.raises(AgentBusy, match=f"status {status}: slow down") as caught:
        await ask(http())
    assert caught.value.retryable
    assert caught.value.retry_after_seconds == 7


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "valid key"), (403, "not allowed"), (404, "check its url"), (307, "final address")],
)
async def test_a_permanent_error_is_not_retried(http, server, ask, status, advice):
    server.say("", status=status, Location="/elsewhere")
    with pytest.raises(AgentUnavailable, match=advice) as caught:
        await ask(http())
    assert not caught.value.retryable
    assert len(server.requests) == 1  # a redirect is not followed


@pytest.mark.parametrize("status", [400, 422, 500, 501])
async def test_any_other_status_is_the_agents_fault(http, server, ask, status):
    server.say("line one\n  line two " + "x" * 1000, status=status)
    with pytest.raises(AgentCrashed, match=f"status {status}: line one line two x") as caught:
        await ask(http())
    assert len(str(caught.value)) < 400


async def test_an_empty_answer_says_nothing(http, server, ask):
    server.say("")
    with pytest.raises(AgentSaidNothing):
        await ask(http())


async def test_a_refused_connection_is_retryable(bench, ask):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        connector = bench.connect(HttpSpec(url=f"http://127.0.0.1:{unused.getsockname()[1]}/"))
        with pytest.raises(AgentUnavailable, match=r"cannot reach http://127\.0\.0\.1") as caught:
            await ask(connector)
    assert caught.value.retryable


async def test_an_unknown_host_is_retryable(bench, ask):
    connector = bench.connect(HttpSpec(url="http://no-such-host.invalid/"))
    with pytest.raises(AgentUnavailable, match="cannot reach") as caught:
        await ask(connector)
    assert caught.value.retryable


async def test_a_connection_lost_in_mid_answer_is_retryable(http, server, ask):
    async def half(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()

    server.do(half)
    with pytest.raises(AgentUnavailable) as caught:
        await ask(http())
    assert caught.value.retryable


async def test_a_time_out_closes_the_connection(http, server, ask):
    async def drip(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:  # a byte now and then: no single read is slow
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    server.do(drip)
    begin = time.monotonic()
    with pytest.raises(AgentTimedOut, match=r"within 0\.4 s"):
        await ask(http(), timeout=0.4)
    assert time.monotonic() - begin < 30
    for _ in range(1000):
        if server.hang_ups:
            break
        await asyncio.sleep(0.02)
    assert server.hang_ups == 1


async def test_cancelling_closes_the_connection(http, server, ask):
    async def wait(request, writer):
        while True:
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    server.do(wait)
    task = asyncio.create_task(ask(http()))
    while not server.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(1000):
        if server.hang_ups:
            break
        await asyncio.sleep(0.02)
    assert server.hang_ups == 1


async def test_an_endless_answer_is_cut_at_the_cap(http, server, ask):
    async def flood(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            await writer.drain()

    server.do(flood)
    answer = await ask(http())
    assert answer.truncated
    assert answer.output == "x" * MAX_OUTPUT_BYTES
    with pytest.raises(AgentCrashed, match="too long to be searched"):
        await ask(http(answer="/a"))


async def test_a_compressed_bomb_is_refused(http, server, ask):
    server.say(gzip.compress(b"x" * 100_000_000), Content_Encoding="gzip")
    with pytest.raises(AgentCrashed, match="compressed"):
        await ask(http())
    assert server.requests[0].headers["accept-encoding"] == "identity"


async def test_connections_are_kept_and_never_more_than_allowed(http, server, ask):
    running, most, peers = 0, 0, set()

    async def slow(request, writer):
        nonlocal running, most
        running += 1
        most = max(most, running)
        peers.add(writer.get_extra_info("peername"))
        await asyncio.sleep(0.03)
        running -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()

    server.do(slow)
    connector = http(max_concurrency=2)
    await asyncio.gather(*(ask(connector) for _ in range(6)))
    assert most == 2


async def test_a_header_that_cannot_be_sent_does_not_leak(bench, server, ask):
    connector = bench.connect(
        HttpSpec(url=server.url, headers={"X-Key": "${API_KEY}"}),
        environ={"API_KEY": "s3cr3t\nvalue"},
    )
    with pytest.raises(AgentUnavailable, match="not valid HTTP") as caught:
        await ask(connector)
    assert "s3cr3t" not in str(caught.value)
    assert not caught.value.retryable


def recorded(fence: str) -> list[str]:
    """The examples of the guide with this fence."""
    guide = Path(__file__).parents[3] / "docs/guide/connect-an-agent.md"
    return re.findall(rf"```{fence}\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)


def raw(example: str) -> bytes:
    """An HTTP response of the guide, as it is sent."""
    head, _, body = example.strip("\n").partition("\n\n")
    lines = [*head.splitlines(), f"Content-Length: {len(body.encode())}", "Connection: close"]
    return "\r\n".join([*lines, "", body]).encode()


async def test_the_event_stream_of_the_guide_is_an_answer(http, server, ask):
    [stream] = recorded("sse")
    server.say(stream, Content_Type="text/event-stream; charset=utf-8")
    answer = await ask(http())
    assert (answer.output, answer.usage) == ("There are three.", Usage(input_tokens=9))


async def test_a_stream_is_read_while_it_arrives_and_left_at_its_end(http, server, ask):
    async def talk(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for piece in ("one ", "two"):
            writer.write(f"data: {json.dumps({'text': piece})}\n\n".encode())
            await writer.drain()
        writer.write(b"data: [DONE]\n\n")
        while True:  # never closed by the agent
            await writer.drain()
            await asyncio.sleep(0.02)
            writer.write(b": ping\n\n")

    server.do(talk)
    assert (await ask(http())).output == "one two"


async def test_an_endless_stream_is_cut_at_the_cap(http, server, ask):
    async def flood(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(b"data: " + b"x" * 10_000 + b"\n\n")
            await writer.drain()

    server.do(flood)
    answer = await ask(http())
    assert answer.truncated
    assert answer.output == "x" * MAX_OUTPUT_BYTES


async def test_an_endless_stream_of_nothing_is_a_crash(http, server, ask):
    async def flood(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while True:
            writer.write(b": " + b"x" * 100_000)  # a single line
            await writer.drain()

    server.do(flood)
    with pytest.raises(AgentCrashed, match="far more than 1 MiB"):
        await ask(http())


async def test_a_secret_in_an_error_event_is_redacted(http, server, ask):
    connector = http(headers={"X-Key": "${API_KEY}"})
    server.say(f"event: error\ndata: bad {SECRET}\n\n", Content_Type="text/event-stream")
    with pytest.raises(AgentCrashed, match=r"bad \[redacted\]"):
        await ask(connector)


def replies(server, *replies: bytes) -> None:
    """Answer one request after another; the last reply is repeated."""
    left = list(replies)

    async def reply(request, writer):
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        await writer.drain()

    server.do(reply)


def response(status: int, body: object = "", **headers: str) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    text = body if isinstance(body, str) else json.dumps(body)
    return raw("\n".join([f"HTTP/1.1 {status} X", *lines]) + f"\n\n{text}")


async def test_the_job_of_the_guide_is_followed_to_its_answer(http, server, ask):
    accepted, done = recorded("http")
    replies(server, raw(accepted), response(202), raw(done))
    connector = http(headers={"X-Key": "${API_KEY}"})
    assert (await ask(connector)).output == "There are three."
    asked = [(request.method, request.path) for request in server.requests]
    assert asked == [("POST", "/ask"), ("GET", "/v1/jobs/7"), ("GET", "/v1/jobs/7")]
    assert all(request.headers["x-key"] == SECRET for request in server.requests)


@pytest.mark.parametrize("key", ["status_url", "location"])
async def test_the_status_address_may_be_in_the_body(http, server, ask, key):
    working = response(200, {"status": "running"})
    busy = response(503, Retry_After="0")
    done = response(200, {"state": "SUCCEEDED", "result": {"text": "yes"}})
    accepted = response(202, {key: "/jobs/1"})
    replies(server, accepted, working, busy, response(303, Location="/result"), done)
    assert (await ask(http(answer="/result/text"))).output == "yes"
    assert server.requests[-1].path == "/result"


async def test_202_without_an_address_is_the_answer_as_before(http, server, ask):
    server.say({"output": "done already"}, status=202)
    assert (await ask(http())).output == "done already"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (response(200, {"status": "failed", "why": "no battery"}), "job failed: .*no battery"),
        (response(404), "job answered with status 404"),
    ],
)
async def test_a_job_that_fails_is_a_crash(http, server, ask, reply, reason):
    replies(server, response(202, Location="jobs/1"), reply)
    with pytest.raises(AgentCrashed, match=reason):
        await ask(http())


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1:9/job", "https://127.0.0.1/", "//evil.example/job", "http://[", "file:///x"],
)
async def test_a_status_address_on_another_server_is_never_asked(http, server, ask, address):
    replies(server, response(202, Location=address))
    with pytest.raises(AgentCrashed, match="on another server"):
        await ask(http(headers={"X-Key": "${API_KEY}"}))
    assert len(server.requests) == 1


@pytest.mark.parametrize("cancel", [True, False])
async def test_a_job_is_cancelled_after_a_time_out_if_the_file_says_so(http, server, ask, cancel):
    replies(server, response(202, Location="/jobs/1"), response(202))
    with pytest.raises(AgentTimedOut):
        await ask(http(cancel=cancel), timeout=1.0)
    methods = [request.method for request in server.requests]
    assert methods[:2] == ["POST", "GET"]
    assert methods.count("DELETE") == cancel


async def test_steps_beside_a_pointed_answer_are_kept(http, server, ask):
    step = {"tool": "t", "arguments": {}, "error": "full", "time": "2026-01-31T12:00:00Z"}
    server.say({"result": {"text": "yes"}, "steps": [step]})
    answer = await ask(http(answer="/result/text"))
    [one] = answer.steps
    assert (answer.output, one.tool, one.error) == ("yes", "t", "full")
    server.say({"result": {"text": "yes"}, "steps": 3})
    answer = await ask(http(answer="/result/text"))
    assert (answer.output, answer.steps_problem) == ("yes", "steps must be a list")
