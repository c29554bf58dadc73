"""The receiver of spans: what it takes, what it refuses, and how long it waits."""

import asyncio
import contextlib
import gzip
import json
import re
import socket
import time

import pytest
from google.rpc.status_pb2 import Status

from arena.traces import inbox as inboxes
from arena.traces import receiver as receivers
from arena.traces.inbox import MAX_SPANS, Inbox
from arena.traces.otlp import MAX_BODY_BYTES
from arena.traces.receiver import MAX_CONNECTIONS, Receiver
from arena.traces.target import TraceTarget
from traces_world import refused, spans

LONG = 60.0
"""A wait that a test does not sit out: it must end early."""


async def tools(inbox: Inbox, wait_seconds: float = 0.0) -> list[str]:
    return [step.tool for step in (await inbox.trace(wait_seconds)).steps]


async def open_connection(target: TraceTarget):
    return await asyncio.open_connection("127.0.0.1", int(target.endpoint.rpartition(":")[2]))


async def closed(reader: asyncio.StreamReader) -> None:
    """Wait until the receiver has closed the connection without an answer."""
    with contextlib.suppress(ConnectionResetError):
        assert await reader.read() == b""


def head(target: TraceTarget, length: int) -> bytes:
    lines = ("POST /v1/traces HTTP/1.1", "Host: x", f"Authorization: Bearer {target.token}")
    types = ("Content-Type: application/x-protobuf", f"Content-Length: {length}", "", "")
    return "\r\n".join(lines + types).encode()


@pytest.mark.parametrize("is_gzip", [False, True])
async def test_spans_become_steps(inbox, post, is_gzip):
    body = spans(inbox.target, "search", "book").SerializeToString()
    encoding = {"content_encoding": "gzip"} if is_gzip else {}
    response = await post(inbox.target, gzip.compress(body) if is_gzip else body, **encoding)
    assert refused(response) == 0
    assert response.headers["content-type"] == "application/x-protobuf"
    assert await tools(inbox) == ["search", "book"]


async def test_json_is_answered_in_json(inbox, post):
    span = {
        "traceId": inbox.target.trace_id,
        "spanId": "00000000000000aa",
        "attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "search"}}],
    }
    other = span | {"traceId": "1" * 32}
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span, other]}]}]}).encode()
    response = await post(inbox.target, body, content_type="application/json; charset=utf-8")
    assert response.json()["partialSuccess"]["rejectedSpans"] == "1"
    assert await tools(inbox) == ["search"]


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", "Basic {token}", "{token}"]
)
async def test_a_request_without_a_valid_token_is_refused(inbox, post, authorization):
    value = authorization.format(token=inbox.target.token)
    response = await post(inbox.target, spans(inbox.target, "search"), authorization=value)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert "token" in Status.FromString(response.content).message
    assert await tools(inbox) == []


async def test_the_scheme_of_the_token_may_be_in_any_case(inbox, post):
    value = f"bearer {inbox.target.token}"
    assert refused(await post(inbox.target, spans(inbox.target, "a"), authorization=value)) == 0


async def test_spans_of_a_foreign_trace_are_refused(inbox, post):
    stranger = TraceTarget(
        trace_id="1" * 32, span_id="2" * 16, endpoint="", token="", session_token=""
    )
    assert refused(await post(inbox.target, spans(stranger, "search", "book"))) == 2
    trace = await inbox.trace(0)
    assert trace.steps == ()
    assert "spans had another trace id (2)" in trace.problem


async def test_a_question_cannot_write_into_another(session, post):
    mine, other = session.open(), session.open()
    assert refused(await post(mine.target, spans(other.target, "search"))) == 1
    assert await tools(other) == []


async def test_the_token_of_a_session_is_for_all_its_questions(session, post):
    one, two = session.open(), session.open()
    request = spans(one.target, "search")
    request.MergeFrom(spans(two.target, "book"))
    assert refused(await post(one.target, request, token=session.token)) == 0
    assert (await tools(one), await tools(two)) == (["search"], ["book"])


async def test_the_token_of_another_session_is_of_no_use(receiver, session, post):
    inbox, stranger = session.open(), receiver.session("another token")
    assert refused(await post(inbox.target, spans(inbox.target, "a"), token=stranger.token)) == 1
    assert await tools(inbox) == []


async def test_a_long_lived_process_that_ignores_the_trace_is_noticed(session, post):
    inbox = session.open()
    stranger = session.open()
    with stranger:
        pass  # its question has ended
    await post(inbox.target, spans(stranger.target, "search"), token=session.token)
    assert "must continue the trace" in (await inbox.trace(0)).problem


async def test_spans_beyond_the_limit_are_refused(inbox, post):
    some = spans(inbox.target, *["search"] * (MAX_SPANS + 7))
    assert refused(await post(inbox.target, some)) == 7
    trace = await inbox.trace(0)
    assert len(trace.steps) == MAX_SPANS
    assert trace.problem.startswith("spans were refused (7)")


async def test_large_spans_are_refused_once_there_are_too_many(inbox, post, monkeypatch):
    monkeypatch.setattr(inboxes, "MAX_SPAN_BYTES", 10_000)
    assert refused(await post(inbox.target, spans(inbox.target, "x" * 9_000, "y" * 9_000))) == 1
    assert len(await tools(inbox)) == 1


async def test_spans_with_malformed_ids_are_refused(inbox, post):
    request = spans(inbox.target, "search", "book", "pay")
    first, second, _ = request.resource_spans[0].scope_spans[0].spans
    first.span_id = b""
    second.span_id = b"x" * 9
    assert refused(await post(inbox.target, request)) == 2
    assert await tools(inbox) == ["pay"]


async def test_a_span_that_is_sent_again_counts_once(inbox, post):
    for _ in range(2):
        assert refused(await post(inbox.target, spans(inbox.target, "search"))) == 0
    assert await tools(inbox) == ["search"]


async def test_requests_beyond_the_limit_are_refused(inbox, post, monkeypatch):
    monkeypatch.setattr(inboxes, "MAX_REQUESTS", 2)
    statuses = [(await post(inbox.target, b"")).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    assert "too many requests" in (await inbox.trace(0)).problem


async def test_a_session_has_a_limit_of_requests_too(session, post, monkeypatch):
    monkeypatch.setattr(inboxes, "MAX_REQUESTS", 1)
    inbox = session.open()
    post_once = lambda: post(inbox.target, b"", token=session.token)  # noqa: E731
    assert [(await post_once()).status_code for _ in range(2)] == [200, 429]
    session.open()  # the next question
    assert (await post_once()).status_code == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"\xff" * 50, {}, 400),
        (b"not gzip", {"content_encoding": "gzip"}, 400),
        (gzip.compress(bytes(MAX_BODY_BYTES + 1)), {"content_encoding": "gzip"}, 413),
        (bytes(MAX_BODY_BYTES + 1), {}, 413),
        (b"", {"content_encoding": "br"}, 415),
        (b"", {"content_encoding": "gzip, gzip"}, 415),
        (b"", {"content_type": "text/plain"}, 415),
        (b"", {"path": "/v1/elsewhere"}, 404),
    ],
)
async def test_bad_requests_are_refused_and_the_next_is_taken(inbox, post, body, headers, status):
    response = await post(inbox.target, body, **headers)
    assert response.status_code == status
    assert Status.FromString(response.content).message
    assert refused(await post(inbox.target, spans(inbox.target, "search"))) == 0
    trace = await inbox.trace(0)
    assert [step.tool for step in trace.steps] == ["search"]
    assert ("refused" in (trace.problem or "")) is (status != 404)


async def test_spans_that_a_long_lived_process_lost_are_noticed(session, post):
    """Of which question they were, nobody knows."""
    one, other = session.open(), session.open()
    await post(one.target, b"\xff", token=session.token)
    assert "spans were refused" in (await one.trace(0)).problem
    assert "spans were refused" in (await other.trace(0)).problem


async def test_a_body_of_unknown_length_has_the_same_limit(inbox, post):
    async def chunks():
        for _ in range(MAX_BODY_BYTES // 65536 + 1):
            yield bytes(65536)

    response = await post._client.post(
        f"{inbox.target.endpoint}/v1/traces",
        content=chunks(),
        headers=inbox.target.headers | {"content-type": "application/x-protobuf"},
    )
    assert response.status_code == 413


async def test_only_post_is_allowed(inbox, post):
    response = await post._client.get(f"{inbox.target.endpoint}/v1/traces")
    assert response.status_code == 405


@pytest.mark.parametrize("path", ["/v1/metrics", "/v1/logs"])
async def test_metrics_and_logs_are_accepted_and_thrown_away(inbox, post, path):
    response = await post(inbox.target, b"whatever", path=path)
    assert (response.status_code, response.content) == (200, b"")
    assert (await post(inbox.target, b"", path=path, token="wrong")).status_code == 401


async def test_it_listens_on_loopback_only(receiver):
    (listening,) = receiver._server.sockets
    host, port = listening.getsockname()
    assert host == "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses an own address
        except OSError:
            return  # this machine has no other address
        own = probe.getsockname()[0]
    with pytest.raises(OSError):
        await asyncio.open_connection(own, port)


async def test_late_spans_are_waited_for(inbox, post):
    waiting = asyncio.create_task(inbox.trace(LONG))
    await post(inbox.target, spans(inbox.target, "search"))
    assert not waiting.done()
    await post(inbox.target, spans(inbox.target, root=True))
    assert [step.tool for step in (await waiting).steps] == ["search"]


async def test_the_wait_ends_when_the_root_span_is_there_already(inbox, post):
    await post(inbox.target, spans(inbox.target, "search", root=True))
    assert await tools(inbox, LONG) == ["search"]


@pytest.mark.parametrize("is_call", [False, True])
async def test_a_root_span_before_the_last_one_does_not_end_the_wait(inbox, post, is_call):
    """Of an agent without a span around all its work: its first call or part, sent in time."""
    first = spans(inbox.target, "search", root=not is_call)
    (*_, early) = first.resource_spans[0].scope_spans[0].spans
    early.parent_span_id = bytes.fromhex(inbox.target.span_id)
    early.end_time_unix_nano = time.time_ns() - (0 if is_call else 10**9)
    await post(inbox.target, first)
    waiting = asyncio.create_task(inbox.trace(LONG))
    await asyncio.sleep(3 * inboxes.QUIET_SECONDS)
    assert not waiting.done()
    last = spans(inbox.target, "search", "book", root=True)
    last.resource_spans[0].scope_spans[0].spans[-1].span_id = b"the last"
    await post(inbox.target, last)
    assert [step.tool for step in (await waiting).steps] == ["search", "book"]


async def test_any_root_span_ends_the_wait_for_a_process_that_has_ended(inbox, post):
    sent = spans(inbox.target, "search", root=True)
    sent.resource_spans[0].scope_spans[0].spans[-1].end_time_unix_nano = 0
    await post(inbox.target, sent)
    assert (await inbox.trace(LONG, has_ended=True)).steps


async def test_a_request_that_is_arriving_is_waited_for(inbox, post):
    body = spans(inbox.target, "search").SerializeToString()
    reader, writer = await open_connection(inbox.target)
    writer.write(head(inbox.target, len(body)) + body[:5])
    while not inbox._receiving:
        await asyncio.sleep(0)
    await post(inbox.target, spans(inbox.target, root=True))
    waiting = asyncio.create_task(inbox.trace(LONG))
    await asyncio.sleep(3 * inboxes.QUIET_SECONDS)
    assert not waiting.done()
    writer.write(body[5:])
    assert [step.tool for step in (await waiting).steps] == ["search"]
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_an_agent_that_sends_nothing_costs_the_stated_wait(inbox):
    trace = await inbox.trace(0.01)
    assert (trace.steps, trace.usage.input_tokens) == ((), None)
    assert "no spans arrived within 0.01 s" in trace.problem


async def test_spans_after_the_end_of_the_question_are_refused(session, post):
    with session.open() as inbox:
        pass
    response = await post(inbox.target, spans(inbox.target, "search"))
    assert response.status_code == 401
    response = await post(inbox.target, spans(inbox.target, "search"), token=session.token)
    assert refused(response) == 1


async def test_nothing_is_accepted_after_the_session(session, post):
    inbox = session.open()
    session.close()
    for token in (session.token, inbox.target.token):
        assert (await post(inbox.target, b"", token=token)).status_code == 401


@pytest.mark.parametrize("part", ["head", "body"])
async def test_a_client_that_never_finishes_is_disconnected(inbox, post, monkeypatch, part):
    monkeypatch.setattr(receivers, "LATE_SECONDS", 0.3)
    reader, writer = await open_connection(inbox.target)
    sent = head(inbox.target, 1000)
    writer.write(sent[:20] if part == "head" else sent + b"x")

    async def trickle():
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.05)

    trickling = asyncio.create_task(trickle())
    # Others are served meanwhile.
    assert refused(await post(inbox.target, spans(inbox.target, "search"))) == 0
    await closed(reader)
    trickling.cancel()
    writer.close()
    assert await tools(inbox) == ["search"]


async def test_connections_beyond_the_limit_are_closed(receiver, inbox, post, monkeypatch):
    monkeypatch.setattr(receivers, "LATE_SECONDS", 1.0)
    held = [await open_connection(inbox.target) for _ in range(MAX_CONNECTIONS)]
    while len(receiver._state.connections) < MAX_CONNECTIONS:
        await asyncio.sleep(0)
    reader, writer = await open_connection(inbox.target)
    await closed(reader)
    for other, _ in held:  # they are late, and make room
        await closed(other)
    assert refused(await post(inbox.target, spans(inbox.target, "search"))) == 0
    for _, held_writer in [*held, (reader, writer)]:
        held_writer.close()


async def test_stopping_closes_the_port(post):
    receiver = Receiver()
    await receiver.start(0)
    inbox = receiver.session("t").open()
    _, writer = await open_connection(inbox.target)
    writer.write(head(inbox.target, 9))
    while not inbox._receiving:
        await asyncio.sleep(0)
    await receiver.stop()
    with pytest.raises(ConnectionRefusedError):
        await open_connection(inbox.target)
    writer.close()


def test_a_target_is_random_and_says_so_to_nobody():
    first, second = (inboxes.new_target("http://127.0.0.1:1", "s3cret") for _ in range(2))
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", first.traceparent)
    assert first.trace_id != second.trace_id and first.token != second.token
    assert first.token not in repr(first) and "s3cret" not in repr(first)
