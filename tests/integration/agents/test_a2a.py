import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable

import pytest
import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, Part, TaskState
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from arena.agents.a2a import Transcript
from arena.agents.a2a_steps import EventSteps
from arena.agents.connector import MAX_OUTPUT_BYTES, Question
from arena.agents.spec import A2ASpec
from arena.errors import AgentCrashed, AgentSaidNothing, AgentTimedOut, AgentUnavailable
from arena.models.step import Step
from arena.models.usage import Usage


def _data_part(kind: str, data: dict[str, object]) -> Part:
    part = ParseDict({"data": data}, Part())
    part.metadata.update({"adk_type": kind})
    return part


class Speaker(AgentExecutor):
    """A real A2A agent whose prompt tells it what to do."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []
        self.begun: list[tuple[str, str]] = []
        self.continued: list[tuple[str, str]] = []

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        prompt = context.get_user_input()
        if prompt.startswith("message"):
            message = new_text_message("a plain message")
            message.metadata.update({"usage": {"input_tokens": 8, "model": "m"}})
            await event_queue.enqueue_event(message)
            return
        if context.current_task is not None:
            task = context.current_task
            self.continued.append((task.id, task.context_id))
            await self._work(prompt, TaskUpdater(event_queue, task.id, task.context_id))
            return
        task = new_task_from_user_message(context.message)
        self.begun.append((task.id, task.context_id))
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work(updater.new_agent_message([Part(text="thinking")]))
        await self._work(prompt, updater)

    async def _work(self, prompt: str, updater: TaskUpdater) -> None:  # noqa: C901 - a table
        def message_of(text: str):
            return updater.new_agent_message([Part(text=text)])

        match prompt.split()[0]:
            case "hang":
                await asyncio.sleep(60)
            case "fail":
                await updater.failed(message_of("no battery"))
            case "reject":
                await updater.reject(message_of("not my job"))
            case "ask":
                await updater.requires_input(message_of("Which house?"))
            case "look":
                call = {"id": "c0", "name": "look", "args": {}}
                said = [_data_part("function_call", call), Part(text="Which house?")]
                await updater.requires_input(updater.new_agent_message(said))
            case "report":
                await updater.update_status(
                    TaskState.TASK_STATE_INPUT_REQUIRED,
                    message_of("Which house?"),
                    metadata={"steps": [{"tool": "look"}]},
                )
            case "login":
                await updater.requires_auth(message_of("who are you?"))
            case "nothing":
                await updater.add_artifact([Part(text=" ")], artifact_id="a")
                await updater.complete(message_of(""))
            case "status":
                await updater.complete(message_of("said at the end"))
            case "chunks":
                for number, word in enumerate(("one ", "two ", "three")):
                    await updater.add_artifact(
                        [Part(text=word)], artifact_id="a", append=number > 0
                    )
                await updater.add_artifact([Part(text="second")], artifact_id="b")
                await updater.update_status(
                    TaskState.TASK_STATE_COMPLETED,
                    metadata={"usage": {"input_tokens": 5, "output_tokens": 6}},
                )
            case "tools":
                await self._call_tools(updater)
            case "steps":
                reported = [{"tool": "t", "arguments": {"a": 1}, "error": "broken"}]
                await updater.update_status(
                    TaskState.TASK_STATE_COMPLETED,
                    message_of("Done."),
                    metadata={"steps": reported},
                )
            case "flood":
                for number in range(40):
                    await updater.add_artifact(
                        [Part(text="x" * 100_000)], artifact_id="a", append=number > 0
                    )
                await updater.complete()
            case "again":
                for number in range(20):
                    await updater.add_artifact(
                        [Part(text=f"{number} " + "x" * 100_000)], artifact_id="a"
                    )
                await updater.complete()
            case "raise":
                raise RuntimeError("broken inside")
            case _:
                await updater.add_artifact([Part(text=prompt.upper())], artifact_id="a")
                await updater.complete()

    async def _call_tools(self, updater: TaskUpdater) -> None:
        """As the Agent Development Kit does: data parts in messages, and all again at the end."""
        call = {"id": "c1", "name": "weather", "args": {"city": "Bern"}}
        response = {"id": "c1", "name": "weather", "response": {"sky": "rain"}}
        failed = {"id": "c2", "name": "book", "response": {"error": "full"}}
        parts = [
            _data_part("function_call", call),
            _data_part("function_call", {"id": "c2", "name": "book", "args": {}}),
            _data_part("function_response", response),
            _data_part("function_response", failed),
        ]
        for part in parts:
            await updater.update_status(
                TaskState.TASK_STATE_WORKING, updater.new_agent_message([part])
            )
        await updater.add_artifact([*parts, Part(text="It rains.")], artifact_id="a")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        self.cancelled.append(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class Blocking(DefaultRequestHandler):
    """Returns only when the task is done, although asked to return at once."""

    async def on_message_send(self, params, context):
        params.configuration.return_immediately = False
        return await super().on_message_send(params, context)


class Peer:
    """A server on loopback that offers an A2A agent in one of the supported setups."""

    def __init__(self, handler: type[DefaultRequestHandler] = DefaultRequestHandler) -> None:
        self._handler = handler
        self.speaker = Speaker()
        self.headers: list[dict[str, str]] = []

    async def start(self, *, streaming: bool, version: str, binding: str) -> None:
        config = uvicorn.Config(
            self._app,
            host="127.0.0.1",
            port=0,
            log_level="critical",
            lifespan="off",
            interface="asgi3",
        )
        self._server = uvicorn.Server(config)
        self._server.config.load()
        socket = config.bind_socket()
        self.url = f"http://127.0.0.1:{socket.getsockname()[1]}"
        card = AgentCard(
            name="Speaker",
            description="Speaks",
            version="1.0.0",
            default_input_modes=["text/plain"],
            default_output_modes=["text/plain"],
            capabilities=AgentCapabilities(streaming=streaming),
            supported_interfaces=[
                AgentInterface(
                    url=f"{self.url}/rpc" if binding == "JSONRPC" else self.url,
                    protocol_binding=binding,
                    protocol_version=version,
                )
            ],
        )
        handler = self._handler(self.speaker, InMemoryTaskStore(), card)
        is_old = version.startswith("0.3")
        old_card = Route("/.well-known/agent-card.json", self._old_card(streaming))
        routes = [old_card] if is_old else create_agent_card_routes(card)
        routes += create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=is_old)
        routes += create_rest_routes(handler, enable_v0_3_compat=is_old)
        self._starlette = Starlette(routes=routes)
        self._task = asyncio.create_task(self._server.serve([socket]))
        while not self._server.started:
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        await self._task

    async def _app(self, scope, receive, send) -> None:
        self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
        await self._starlette(scope, receive, send)

    def _old_card(self, streaming: bool) -> Callable[[object], object]:
        """The card as version 0.3 of the protocol has it: one url, its own names."""
        card = {
            "name": "Speaker",
            "description": "Speaks",
            "version": "1.0.0",
            "protocolVersion": "0.3.0",
            "url": f"{self.url}/rpc",
            "preferredTransport": "JSONRPC",
            "capabilities": {"streaming": streaming},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [],
        }
        return lambda request: JSONResponse(card)


SETUPS = {
    "1.0 streaming": {"streaming": True, "version": "1.0", "binding": "JSONRPC"},
    "1.0 not streaming": {"streaming": False, "version": "1.0", "binding": "JSONRPC"},
    "1.0 over HTTP+JSON": {"streaming": True, "version": "1.0", "binding": "HTTP+JSON"},
    "0.3 streaming": {"streaming": True, "version": "0.3.0", "binding": "JSONRPC"},
    "0.3 not streaming": {"streaming": False, "version": "0.3.0", "binding": "JSONRPC"},
}


@pytest.fixture(params=list(SETUPS))
async def every_peer(request) -> AsyncIterator[Peer]:
    peer = Peer()
    await peer.start(**SETUPS[request.param])
    yield peer
    await peer.stop()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    peer = Peer()
    await peer.start(**SETUPS["1.0 streaming"])
    yield peer
    await peer.stop()


@pytest.fixture
async def blocking_peer() -> AsyncIterator[Peer]:
    peer = Peer(Blocking)
    await peer.start(**SETUPS["1.0 not streaming"])
    yield peer
    await peer.stop()


@pytest.fixture
def a2a(bench):
    def a2a(peer: Peer | None = None, **keys):
        spec = A2ASpec(url=keys.pop("url", None) or peer.url, **keys)
        return bench.connect(spec, environ={"API_KEY": "s3cr3t-value"})

    return a2a


async def test_it_answers_in_every_protocol_version(a2a, ask, every_peer):
    connector = a2a(every_peer)
    assert (await ask(connector, "hello there")).output == "HELLO THERE"
    answer = await ask(connector, "chunks")
    assert answer.output == "one two three\nsecond"
    assert (await ask(connector, "message please")).output == "a plain message"
    assert (await ask(connector, "status")).output == "said at the end"


async def test_a_task_that_does_not_succeed_is_a_crash(a2a, ask, every_peer):
    connector = a2a(every_peer)
    with pytest.raises(AgentCrashed, match="task failed: no battery"):
        await ask(connector, "fail")
    with pytest.raises(AgentCrashed, match="task was rejected: not my job"):
        await ask(connector, "reject")


async def test_a_task_that_asks_back_has_failed_and_is_cancelled(a2a, ask, every_peer):
    connector = a2a(every_peer)
    with pytest.raises(AgentCrashed, match=r"asks back instead of answering: Which house\?"):
        await ask(connector, "ask back")
    assert len(every_peer.speaker.cancelled) == 1


async def test_a_time_out_cancels_the_task(a2a, ask, every_peer):
    connector = a2a(every_peer)
    await ask(connector, "status")  # reads the card and connects, so start-up does not count below
    with pytest.raises(AgentTimedOut):
        await ask(connector, "hang", timeout=2.0)
    assert len(every_peer.speaker.cancelled) == 1


async def test_usage_is_taken_from_metadata(a2a, ask, peer):
    connector = a2a(peer)
    assert (await ask(connector, "chunks")).usage == Usage(input_tokens=5, output_tokens=6)
    assert (await ask(connector, "message")).usage == Usage(input_tokens=8, model="m")


async def test_calls_and_responses_in_events_are_steps_and_no_text(a2a, ask, every_peer):
    answer = await ask(a2a(every_peer), "tools please")
    assert answer.output == "It rains."
    assert answer.steps == (
        Step(tool="weather", arguments={"city": "Bern"}, result={"sky": "rain"}),
        Step(tool="book", arguments={}, result={"error": "full"}, error="full"),
    )


async def test_steps_are_taken_from_metadata(a2a, ask, every_peer):
    answer = await ask(a2a(every_peer), "steps please")
    assert answer.output == "Done."
    assert answer.steps == (Step(tool="t", arguments={"a": 1}, error="broken"),)


def test_responses_without_ids_belong_to_the_oldest_open_call():
    calls = EventSteps()
    bodies = [("function_call", {"name": "t", "args": {"n": n}}) for n in (1, 2)]
    bodies += [("function_response", {"name": "t", "response": {"n": n}}) for n in (1, 2)]
    calls.add([_data_part(kind, body) for kind, body in bodies], "m")
    calls.add([Part(text="no call"), _data_part("function_call", {"id": "no name"})], "n")
    assert calls.steps == (
        tuple(Step(tool="t", arguments={"n": n}, result={"n": n}) for n in (1, 2)),
        None,
    )


async def test_a_time_out_cancels_the_task_of_an_agent_that_returns_only_when_done(
    a2a, ask, blocking_peer
):
    connector = a2a(blocking_peer)
    await ask(connector, "status")
    with pytest.raises(AgentTimedOut):
        await ask(connector, "hang", timeout=2.0)
    assert len(blocking_peer.speaker.cancelled) == 1


async def test_cancelling_the_question_cancels_the_task(a2a, ask, peer, monkeypatch):
    event_added = asyncio.Event()
    add = Transcript.add

    def add_and_signal(transcript: Transcript, event: object) -> None:
        add(transcript, event)
        event_added.set()

    monkeypatch.setattr(Transcript, "add", add_and_signal)
    task = asyncio.create_task(ask(a2a(peer), "hang"))
    await event_added.wait()  # without the task's id there is nothing to cancel
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(peer.speaker.cancelled) == 1


async def test_a_flood_is_cut_at_the_cap(a2a, ask, peer):
    answer = await ask(a2a(peer), "flood")
    assert answer.truncated
    assert answer.output == "x" * MAX_OUTPUT_BYTES


async def test_a_flood_of_replacements_is_cut_and_marked_too(a2a, ask, peer):
    answer = await ask(a2a(peer), "again and again")
    assert answer.truncated
    assert len(answer.output) < 110_000


async def test_an_empty_answer_is_a_fault(a2a, ask, peer):
    with pytest.raises(AgentSaidNothing):
        await ask(a2a(peer), "nothing")


async def test_an_error_inside_the_agent_is_a_crash(a2a, ask, peer, caplog):
    with pytest.raises(AgentCrashed):
        await ask(a2a(peer), "raise")


async def test_a_required_login_is_reported_and_not_retried(a2a, ask, peer):
    with pytest.raises(AgentUnavailable, match="requires a login") as caught:
        await ask(a2a(peer), "login")
    assert not caught.value.retryable
    assert len(peer.speaker.cancelled) == 1


async def test_the_url_of_the_card_is_accepted(a2a, ask, peer):
    connector = a2a(peer, url=f"{peer.url}/.well-known/agent-card.json")
    assert (await ask(connector, "hi")).output == "HI"


async def test_the_key_is_sent_and_redacted(a2a, ask, peer, caplog):
    caplog.set_level(logging.DEBUG)
    connector = a2a(peer, headers={"Authorization": "Bearer ${API_KEY}"})
    answer = await ask(connector, "say s3cr3t-value")
    assert all(h["authorization"] == "Bearer s3cr3t-value" for h in peer.headers)
    assert answer.output == "SAY S3CR3T-VALUE"
    assert "s3cr3t-value" not in "".join(
        r.getMessage() for r in caplog.records if "httpx" in r.name
    )


async def test_the_key_does_not_follow_a_card_to_another_host(a2a, ask, peer, server):
    card = {
        "name": "Fox",
        "description": "",
        "version": "1",
        "capabilities": {},
        "defaultInputModes": [],
        "defaultOutputModes": [],
        "skills": [],
        "supportedInterfaces": [
            {"url": f"{peer.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
    }
    server.say(card, Content_Type="application/json")
    connector = a2a(peer, url=server.url, headers={"Authorization": "Bearer ${API_KEY}"})
    assert (await ask(connector, "hi")).output == "HI"
    assert server.requests[0].headers["authorization"] == "Bearer s3cr3t-value"
    assert all("authorization" not in headers for headers in peer.headers)


@pytest.mark.parametrize(
    ("body", "status", "reason", "retryable"),
    [
        ("<html>", 200, "no usable card", False),
        ("{}", 200, "offers no transport", False),
        ("[]", 200, "no usable card", False),
        ("", 404, "there is no agent at this address", False),
        ("", 503, "status 503", True),
    ],
)
async def test_an_unusable_card_is_reported_with_the_reason(
    a2a, ask, server, body, status, reason, retryable
):
    server.say(body, status=status, Content_Type="application/json")
    with pytest.raises(AgentUnavailable, match=reason) as caught:
        await ask(a2a(url=server.url))
    assert caught.value.retryable is retryable


async def test_an_unavailable_agent_is_looked_up_again_by_the_next_question(a2a, ask, peer, server):
    connector = a2a(peer, url=server.url)
    server.say("", status=503)
    with pytest.raises(AgentUnavailable):
        await ask(connector)
    interface = {"url": f"{peer.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    server.say(json.dumps({"name": "x", "supportedInterfaces": [interface]}))
    assert (await ask(connector, "hi")).output == "HI"


async def test_a_refused_connection_is_retryable(bench, ask):
    connector = bench.connect(A2ASpec(url="http://127.0.0.1:9"))
    with pytest.raises(AgentUnavailable, match="cannot reach") as caught:
        await ask(connector)
    assert caught.value.retryable


def turn(prompt: str, context: str | None = None) -> Question:
    return Question(
        id="q", prompt=prompt, timeout_seconds=20, context=context, is_conversation=True
    )


async def test_a_conversation_continues_in_its_context(every_peer, bench):
    connector = bench.connect(A2ASpec(url=every_peer.url))
    first = await connector.answer(turn("hello"))
    second = await connector.answer(turn("goodbye", first.context))
    assert (first.output, second.output) == ("HELLO", "GOODBYE")
    (task, context), (other_task, other_context) = every_peer.speaker.begun
    # A task that has ended takes no more messages: another one, in the same context.
    assert context == other_context
    assert task != other_task
    assert every_peer.speaker.continued == []


async def test_a_counter_question_is_a_turn_and_its_answer_goes_to_the_same_task(every_peer, bench):
    connector = bench.connect(A2ASpec(url=every_peer.url))
    first = await connector.answer(turn("ask"))
    assert first.output == "Which house?"
    second = await connector.answer(turn("the red one", first.context))
    assert second.output == "THE RED ONE"
    assert every_peer.speaker.continued == every_peer.speaker.begun
    assert every_peer.speaker.cancelled == []


@pytest.mark.parametrize("first", ["look", "report"])
async def test_steps_of_earlier_turns_are_not_steps_of_the_next(every_peer, bench, first):
    """The task that goes on repeats its history and its metadata."""
    connector = bench.connect(A2ASpec(url=every_peer.url))
    asked = await connector.answer(turn(first))
    assert [step.tool for step in asked.steps] == ["look"]
    told = await connector.answer(turn("tools please", asked.context))
    assert [step.tool for step in told.steps] == ["weather", "book"]
    asked = await connector.answer(turn(first))
    told = await connector.answer(turn("the red one", asked.context))
    assert (told.output, told.steps) == ("THE RED ONE", ())
