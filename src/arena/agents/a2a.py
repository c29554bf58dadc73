"""The A2A connector: an agent that speaks the Agent2Agent protocol, version 1 or 0.3."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator, Mapping
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
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, TransportProtocol
from a2a.utils.errors import A2AError

from arena.agents.a2a_transcript import Transcript
from arena.agents.agent import Agent
from arena.agents.answers import answer_from_text
from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Connector, Question
from arena.agents.http import unreachable
from arena.agents.secrets import Secrets
from arena.agents.spec import A2ASpec
from arena.agents.status_faults import fault_of_status, shortened
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, ArenaError
from arena.models.capped import CappedBytes, Stream, TooLong, refuse_compressed
from arena.models.lines import CONNECT_SECONDS

CANCEL_SECONDS = 2.0
"""How long an agent may take to accept that its task is over."""
_POLL_SECONDS = (0.1, 0.2, 0.5, 1.0)
# A stream wraps every few letters into an event of some hundred bytes.
_MAX_STREAM_BYTES = 32 * MAX_OUTPUT_BYTES


def connect(agent: Agent, secrets: Secrets) -> Connector:
    """The connector for `{type: a2a}`."""
    spec = agent.connector
    assert isinstance(spec, A2ASpec)
    return A2AAgent(spec, secrets, max_connections=agent.limits.max_concurrency)


class A2AAgent:
    """Sends each question as a message of its own, and follows the task it becomes."""

    def __init__(self, spec: A2ASpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        headers = {name: secrets.fill(value) for name, value in spec.headers.items()}
        self._http = httpx.AsyncClient(
            auth=_Headers(spec.url, headers),
            headers={"accept-encoding": "identity", "user-agent": "agent-arena"},
            # The question's own time-out covers the rest.
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=max_connections + 1),  # one more to cancel with
            event_hooks={"response": [_cap]},
            follow_redirects=False,
        )
        self._client: Client | None = None
        self._resolving = asyncio.Lock()

    async def answer(self, question: Question) -> Answer:
        """Send the question, collect what the agent says until its task is over."""
        transcript = Transcript()
        try:
            async with asyncio.timeout(question.timeout_seconds):
                await self._converse(question, transcript)
        except TimeoutError:
            raise AgentTimedOut(
                f"the agent did not answer within {question.timeout_seconds:g} s"
            ) from None
        except TooLong:
            raise AgentCrashed(
                "the agent sent far more than 1 MiB, or sent it compressed"
            ) from None
        except (A2AError, httpx.HTTPError) as error:
            raise self._fault(error) from None
        finally:
            if not transcript.is_final:
                await self._cancel(transcript.task_id)
        return _answer(transcript)

    async def close(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _converse(self, question: Question, transcript: Transcript) -> None:
        client = await self._resolve()
        message = Message(
            message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text=question.prompt)]
        )
        events = client.send_message(SendMessageRequest(message=message))
        async with contextlib.aclosing(cast(AsyncGenerator[StreamResponse], events)):
            async for event in events:
                transcript.add(event)
                if transcript.is_final or transcript.size > MAX_OUTPUT_BYTES:
                    return
        await self._poll(client, transcript)

    async def _poll(self, client: Client, transcript: Transcript) -> None:
        """Some agents answer at once with a task that is still at work."""
        pauses = iter(_POLL_SECONDS)
        while transcript.task_id and not transcript.is_final:
            await asyncio.sleep(next(pauses, _POLL_SECONDS[-1]))
            transcript.add_task(await client.get_task(GetTaskRequest(id=transcript.task_id)))

    async def _resolve(self) -> Client:
        """The client for what the agent's card offers; the card is read once."""
        async with self._resolving:
            if self._client is None:
                # `url` is where the agent lives, or the address of the card itself.
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
                try:
                    self._client = ClientFactory(config).create(card)
                except ValueError as error:
                    raise AgentUnavailable(
                        f"the agent at {self._spec.url} offers no transport that Arena speaks"
                        f" (JSON-RPC or HTTP+JSON): {error}",
                        retryable=False,
                    ) from None
            return self._client

    async def _cancel(self, task_id: str | None) -> None:
        """Tell the agent that nobody waits any more; whether it listens is its own affair."""
        if task_id is None or self._client is None:
            return
        with contextlib.suppress(A2AError, httpx.HTTPError, TooLong, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._client.cancel_task(CancelTaskRequest(id=task_id))

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


class _Headers(httpx.Auth):
    """Sends the agent's headers to its own address only.

    A card may point anywhere, and a key must not follow it there.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._origin = _origin(httpx.URL(url))
        self._headers = headers

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if _origin(request.url) == self._origin:
            request.headers.update(self._headers)
        yield request


class _CappedBody(CappedBytes, httpx.AsyncByteStream):
    pass


async def _cap(response: httpx.Response) -> None:
    refuse_compressed(response.headers)
    response.stream = _CappedBody(cast(Stream, response.stream), _MAX_STREAM_BYTES)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.host, url.port or default


def _answer(transcript: Transcript) -> Answer:
    if transcript.wants_login:
        raise AgentUnavailable(
            f"the agent asks for a login; give it a header: {shortened(transcript.message)}",
            retryable=False,
        )
    if transcript.failure is not None:
        reason = f": {shortened(transcript.message)}" if transcript.message else ""
        raise AgentCrashed(f"the agent's task {transcript.failure}{reason}")
    is_cut = not transcript.is_final  # it was still talking when it had said too much
    return answer_from_text(transcript.text, usage=transcript.usage, truncated=is_cut)
