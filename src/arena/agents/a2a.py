"""The A2A connector: an agent that speaks the Agent2Agent protocol, version 1 or 0.3."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from typing import cast
from uuid import uuid4

import httpx
from a2a.client import (
    A2ACardResolver,
    A2AClientError,
    AgentCardResolutionError,
    Client,
    ClientConfig,
    ClientFactory,
)
from a2a.types import (
    Artifact,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
    TaskStatus,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, TransportProtocol
from a2a.utils.errors import A2AError
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from arena.agents.a2a_steps import EventSteps, part_type
from arena.agents.a2a_thread import Thread
from arena.agents.a2a_transport import OwnHeaders, cap
from arena.agents.agent import AgentDefinition
from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    Answer,
    Connector,
    Question,
    answer_from_text,
    timed_out,
)
from arena.agents.http import fault_of_status, shortened, unreachable
from arena.agents.secrets import Secrets
from arena.agents.spec import A2ASpec
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, ArenaError
from arena.models.connections import CONNECT_SECONDS, TooLong
from arena.models.usage import Usage, usage_from

CANCEL_SECONDS = 2.0
"""How long an agent may take to confirm that its task is cancelled."""
_POLL_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_LISTED_TASKS = 100
"""How many of an agent's newest tasks are searched for one whose id it has not sent yet."""
_KNOWN_ARTIFACTS = 100

# Compared by number: an enum of protobuf is an int.
_FAILED = {
    TaskState.TASK_STATE_FAILED: "failed",
    TaskState.TASK_STATE_REJECTED: "was rejected",
    TaskState.TASK_STATE_CANCELED: "was cancelled by the agent",
}
_FINAL = {*_FAILED, TaskState.TASK_STATE_COMPLETED}
_WAITING = {TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_AUTH_REQUIRED}
"""Not final, but there will be no more output before somebody answers."""


class Transcript:
    """Collects the events of one answer."""

    def __init__(self, thread: Thread | None = None) -> None:
        self.task_id: str | None = None
        self.context_id = ""
        thread = thread or Thread()
        self._before = frozenset(thread.artifacts)
        self.size = 0
        """How many characters have arrived, so that the caller can stop at a limit."""
        self._state: int | None = None
        self._artifacts: dict[str, list[str]] = {}
        self._message = ""
        self._usage: object = None
        self.calls = EventSteps(thread.calls)

    @property
    def is_final(self) -> bool:
        """Whether the answer is complete."""
        return self._state in _FINAL if self.task_id else bool(self._message)

    @property
    def is_stuck(self) -> bool:
        """Whether the task waits for somebody to answer it."""
        return self._state in _WAITING

    @property
    def failure(self) -> str | None:
        """How the task failed, or None."""
        return _FAILED.get(cast(TaskState, self._state)) if self._state is not None else None

    @property
    def asks_back(self) -> bool:
        """Whether the agent waits for the user's next message."""
        return self._state == TaskState.TASK_STATE_INPUT_REQUIRED

    @property
    def wants_login(self) -> bool:
        """Whether the agent asks for credentials first."""
        return self._state == TaskState.TASK_STATE_AUTH_REQUIRED

    @property
    def message(self) -> str:
        """The agent's last message."""
        return self._message

    @property
    def text(self) -> str:
        """The answer: the text of the artifacts, or else the last message."""
        said = self._message if self.is_stuck else ""  # what it asks back
        new = [name for name in self._artifacts if name not in self._before]
        return said or self._joined(new) or self._message or self._joined(self._artifacts)

    @property
    def thread(self) -> Thread:
        """Where the next message of the conversation goes."""
        if not self.is_stuck or self.task_id is None:
            return Thread(context_id=self.context_id)
        artifacts = tuple(self._artifacts)[:_KNOWN_ARTIFACTS]
        return Thread(
            context_id=self.context_id,
            task_id=self.task_id,
            artifacts=artifacts,
            calls=self.calls.known,
        )

    def _joined(self, names: Iterable[str]) -> str:
        return "\n".join(filter(None, ("".join(self._artifacts[name]) for name in names)))

    @property
    def usage(self) -> Usage:
        """The usage in the agent's metadata under `usage`."""
        return usage_from(self._usage)

    def add(self, event: StreamResponse) -> None:
        """Add one event of the stream."""
        match event.WhichOneof("payload"):
            case "task":
                self.add_task(event.task)
            case "message":
                self.context_id = event.message.context_id or self.context_id
                self._add_message(event.message)
                self._note(event.message.metadata)
            case "status_update":
                self.task_id = event.status_update.task_id
                self.context_id = event.status_update.context_id or self.context_id
                self._add_status(event.status_update.status)
                self._note(event.status_update.metadata)
            case "artifact_update":
                update = event.artifact_update
                self.task_id = update.task_id
                self._add_artifact(update.artifact, append=update.append)
            case _:
                pass  # an event of a later version of the protocol

    def add_task(self, task: Task) -> None:
        """Add the whole task as it is now."""
        self.task_id = task.id
        for message in task.history:
            if message.role == Role.ROLE_AGENT:
                self.calls.add(message.parts, message.message_id)
        self.context_id = task.context_id or self.context_id
        for artifact in task.artifacts:
            self._add_artifact(artifact, append=False)
        self._add_status(task.status)
        self._note(task.metadata)

    def _add_status(self, status: TaskStatus) -> None:
        self._state = status.state
        if status.HasField("message"):
            self._add_message(status.message)

    def _add_message(self, message: Message) -> None:
        self.calls.add(message.parts, message.message_id)
        text = "".join(_texts(message.parts))
        self.size += len(text)
        self._message = text or self._message

    def _add_artifact(self, artifact: Artifact, *, append: bool) -> None:
        self.calls.add(artifact.parts, artifact.artifact_id)
        texts = list(_texts(artifact.parts))
        self.size += sum(map(len, texts))
        if append:
            self._artifacts.setdefault(artifact.artifact_id, []).extend(texts)
        else:
            self._artifacts[artifact.artifact_id] = texts

    def _note(self, metadata: Struct) -> None:
        self.calls.note(metadata)
        if "usage" in metadata.fields:
            self._usage = MessageToDict(metadata)["usage"]


def _texts(parts: Iterable[Part]) -> Iterable[str]:
    for part in parts:
        if part.HasField("text"):
            yield part.text
        elif part.HasField("data") and part_type(part) is None:
            yield json.dumps(MessageToDict(part.data), ensure_ascii=False)


def connect(agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector for `{type: a2a}`."""
    spec = agent.connector
    assert isinstance(spec, A2ASpec)
    return A2AAgent(spec, secrets, max_connections=agent.limits.max_concurrency)


class A2AAgent:
    """Sends each question as a message, and follows the task it becomes.

    Within a conversation the message has the context id of the agent's last answer, and the task's
    id if that task waits for input.
    """

    def __init__(self, spec: A2ASpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        headers = {name: secrets.fill(value) for name, value in spec.headers.items()}
        self._http = httpx.AsyncClient(
            auth=OwnHeaders(spec.url, headers),
            headers={"accept-encoding": "identity", "user-agent": "agent-arena"},
            # The question's own timeout covers the rest.
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=max_connections + 1),  # one more to cancel with
            event_hooks={"response": [cap]},
            follow_redirects=False,
        )
        self._client: Client | None = None
        self._is_streaming = False
        self._resolving = asyncio.Lock()

    async def answer(self, question: Question) -> Answer:
        """Send the question and collect the agent's output until its task has ended."""
        thread, message_id = Thread.of(question.context), str(uuid4())
        transcript = Transcript(thread)
        message = Message(
            message_id=message_id,
            role=Role.ROLE_USER,
            parts=[Part(text=question.prompt)],
            context_id=thread.context_id,
            task_id=thread.task_id,
        )
        try:
            async with asyncio.timeout(question.timeout_seconds):
                await self._converse(message, transcript)
        except TimeoutError:
            raise AgentTimedOut(timed_out(question)) from None
        except TooLong:
            raise AgentCrashed(
                "the agent sent far more than 1 MiB, or sent it compressed"
            ) from None
        except (A2AError, httpx.HTTPError) as error:
            raise self._fault(error) from None
        finally:
            is_waiting = question.is_conversation and transcript.asks_back
            if not transcript.is_final and not is_waiting:
                await self._cancel(transcript.task_id, message_id)
        answer = _answer(transcript, is_conversation=question.is_conversation)
        return replace(answer, context=transcript.thread.text)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _converse(self, message: Message, transcript: Transcript) -> None:
        client = await self._resolve()
        # Without a stream the agent is asked to return at once: only then is its task's id known,
        # and the task can be cancelled.
        configuration = SendMessageConfiguration(return_immediately=not self._is_streaming)
        request = SendMessageRequest(message=message, configuration=configuration)
        events = client.send_message(request)
        async with contextlib.aclosing(cast(AsyncGenerator[StreamResponse], events)):
            async for event in events:
                transcript.add(event)
                is_over = transcript.is_final or transcript.is_stuck
                if is_over or transcript.size > MAX_OUTPUT_BYTES:
                    return
        await self._poll(client, transcript)

    async def _poll(self, client: Client, transcript: Transcript) -> None:
        """Poll the task: some agents return at once with a running task."""
        pauses = iter(_POLL_SECONDS)
        while transcript.task_id and not (transcript.is_final or transcript.is_stuck):
            await asyncio.sleep(next(pauses, _POLL_SECONDS[-1]))
            transcript.add_task(await client.get_task(GetTaskRequest(id=transcript.task_id)))

    async def _resolve(self) -> Client:
        """The client for the transports in the agent's card, which is read once."""
        async with self._resolving:
            if self._client is None:
                # `url` is the address of the agent, or of the card itself.
                path = "" if self._spec.url.endswith(".json") else AGENT_CARD_WELL_KNOWN_PATH
                card = await A2ACardResolver(self._http, self._spec.url, path).get_agent_card()
                config = ClientConfig(
                    httpx_client=self._http,
                    supported_protocol_bindings=[
                        TransportProtocol.JSONRPC,
                        TransportProtocol.HTTP_JSON,
                    ],
                    accepted_output_modes=["text/plain"],
                )
                self._is_streaming = card.capabilities.streaming
                try:
                    self._client = ClientFactory(config).create(card)
                except ValueError as error:
                    raise AgentUnavailable(
                        f"the agent at {self._spec.url} offers no transport that Arena speaks"
                        f" (JSON-RPC or HTTP+JSON): {error}",
                        retryable=False,
                    ) from None
            return self._client

    async def _cancel(self, task_id: str | None, message_id: str) -> None:
        """Ask the agent to cancel its task; it may ignore that."""
        client = self._client
        if client is None:
            return
        with contextlib.suppress(A2AError, httpx.HTTPError, TooLong, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                for each in [task_id] if task_id else await _tasks_of(client, message_id):
                    await client.cancel_task(CancelTaskRequest(id=each))

    def _fault(self, error: Exception) -> ArenaError:
        cause = error.__cause__ if isinstance(error, A2AClientError) else error
        if isinstance(cause, httpx.HTTPStatusError):
            return fault_of_status(
                cause.response.status_code,
                excerpt="",
                retry_after=cause.response.headers.get("retry-after"),
            )
        if isinstance(cause, httpx.TransportError):
            is_malformed = isinstance(cause, httpx.LocalProtocolError)
            return unreachable(self._spec.url, cause, is_malformed=is_malformed)
        reason = shortened(self._secrets.redact(str(error)))
        if isinstance(error, AgentCardResolutionError):
            return AgentUnavailable(f"the agent has no usable card: {reason}", retryable=False)
        return AgentCrashed(f"the agent answered with an error: {reason}")


async def _tasks_of(client: Client, message_id: str) -> list[str]:
    """The tasks of a message to an agent that has not sent their ids, found among its newest."""
    try:
        found = await client.list_tasks(
            ListTasksRequest(page_size=_LISTED_TASKS, history_length=_LISTED_TASKS)
        )
    except NotImplementedError:  # version 0.3 of the protocol has no list
        return []
    return [
        task.id
        for task in found.tasks
        if any(message.message_id == message_id for message in task.history)
    ]


def _answer(transcript: Transcript, *, is_conversation: bool) -> Answer:
    if transcript.wants_login:
        raise AgentUnavailable(
            f"the agent requires a login; add a header: {shortened(transcript.message)}",
            retryable=False,
        )
    if transcript.is_stuck and not is_conversation:
        raise AgentCrashed(
            f"the agent asks back instead of answering: {shortened(transcript.message)}"
        )
    if transcript.failure is not None:
        reason = f": {shortened(transcript.message)}" if transcript.message else ""
        raise AgentCrashed(f"the agent's task {transcript.failure}{reason}")
    # Still sending when it passed the limit.
    is_cut = not transcript.is_final and not transcript.is_stuck
    steps, problem = transcript.calls.steps
    answer = answer_from_text(
        transcript.text, usage=transcript.usage, truncated=is_cut, steps=steps
    )
    return replace(answer, steps_problem=problem) if problem else answer
