"""The HTTP connector: an agent behind a URL that accepts JSON.

It returns JSON or text, an event stream, or 202 with the address where the answer will be.
"""

import asyncio
import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import urljoin, urlsplit

import httpx2
from pydantic import JsonValue

from arena.agents.agent import AgentDefinition
from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    AgentBusy,
    Answer,
    BlankAnswer,
    Connector,
    Question,
    answer_from_bytes,
    answer_from_value,
    history,
    named_context,
    reported_steps,
    timed_out,
)
from arena.agents.event_stream import MAX_STREAM_BYTES, MEDIA_TYPE, EventReader, StreamedAnswer
from arena.agents.pointer import NotThere, usage_at, value_at
from arena.agents.remote_files import MAX_FILES_BYTES, archive_text, with_files
from arena.agents.secrets import Secrets
from arena.agents.spec import HttpSpec, UsagePointers
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, ArenaError
from arena.models.connections import ConnectionPool, seconds_to_wait
from arena.models.message import as_json

MAX_EXCERPT = 300
POLL_SECONDS = (0.1, 0.2, 0.5, 1.0)
"""The waits between questions about a job that gives no Retry-After."""
CANCEL_SECONDS = 2.0
"""How long an agent may take to confirm that its job is cancelled."""
WORKING_STATES = frozenset(
    {"accepted", "created", "in_progress", "pending", "processing", "queued", "running", "started"}
)
FAILED_STATES = frozenset({"canceled", "cancelled", "error", "expired", "failed", "rejected"})

_PLACEHOLDER = re.compile(r"\{(prompt|id|timeout_seconds|workspace|messages|context|turn)\}")
MESSAGES = "{messages}"
"""As a whole string in a body it becomes a list, and in a list the items of that list."""
_BUSY = {429, 502, 503, 504}
_REMEDIES = {
    401: "the agent requires a valid key; check its headers or api_key_env",
    403: "the key is not allowed to do that",
    404: "there is no agent at this address; check its url",
}


def connect(agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector for `{type: http}`."""
    spec = agent.connector
    assert isinstance(spec, HttpSpec)
    return HttpAgent(spec, secrets, max_connections=agent.limits.max_concurrency)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    status: int
    headers: httpx2.Headers
    body: bytes = b""
    is_cut: bool = False
    streamed: StreamedAnswer | None = None
    """The answer, if it came as an event stream."""

    @property
    def retry_after(self) -> str | None:
        return self.headers.get("retry-after")


class HttpAgent:
    """Posts each question to the agent's URL."""

    def __init__(self, spec: HttpSpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        headers = {name: secrets.fill(value) for name, value in spec.headers.items()}
        self._connections = ConnectionPool(headers, max_connections=max_connections)

    async def answer(self, question: Question) -> Answer:
        """Post the question and read the answer, now or, if it is a job, when it is done."""
        content = json.dumps(self._body(question)).encode()
        most = MAX_FILES_BYTES if question.workspace else MAX_OUTPUT_BYTES
        job: str | None = None
        try:
            async with asyncio.timeout(question.timeout_seconds):
                headers = question.trace.request_headers() if question.trace else None
                reply = await self._send(
                    "POST", self._spec.url, content, headers=headers, most=most
                )
                job = self._status_address(reply)
                if job is not None:
                    reply = await self._finished(job, reply, most)
                    job = None
        except TimeoutError:
            raise AgentTimedOut(timed_out(question)) from None
        except httpx2.TransportError as error:
            is_malformed = isinstance(error, httpx2.LocalProtocolError)
            raise unreachable(self._spec.url, error, is_malformed=is_malformed) from None
        finally:
            if job is not None and self._spec.cancel:
                await self._cancel(job)
        if not 200 <= reply.status < 300:
            # Redacted before it is shortened: half a secret would not be recognised.
            body = self._secrets.redact(reply.body.decode(errors="replace"))
            raise fault_of_status(reply.status, excerpt=body, retry_after=reply.retry_after)
        answer = reply.streamed.answer() if reply.streamed else self._read(reply)
        return with_files(answer, reply.body) if question.workspace else answer

    def _body(self, question: Question) -> JsonValue:
        """The request; the files are at their placeholder, or else beside the other keys."""
        body = filled(self._spec.body, question)
        if not self._spec.has_own_body and isinstance(body, dict):
            body |= cast(dict[str, JsonValue], history(question))
        if question.workspace is None or _has_placeholder(self._spec.body, "{workspace}"):
            return body
        if not isinstance(body, dict):
            message = "the body of the agent is not an object: say where its files go: {workspace}"
            raise AgentUnavailable(message, retryable=False)
        return {**body, "workspace": {"archive": archive_text(question)}}

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    async def _send(
        self,
        method: str,
        url: str,
        content: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        most: int = MAX_OUTPUT_BYTES,
    ) -> _Reply:
        async with self._connections.request(method, url, content, headers) as response:
            status, headers = response.status_code, response.headers
            if headers.get("content-encoding", "identity") != "identity":
                raise AgentCrashed("the agent sent a compressed answer although asked not to")
            media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
            if media_type == MEDIA_TYPE and response.is_success:
                streamed = StreamedAnswer(self._spec, self._shortened)
                await _follow(response, streamed)
                return _Reply(status=status, headers=headers, streamed=streamed)
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > most:
                    break
        is_cut = len(body) > most
        return _Reply(status=status, headers=headers, body=bytes(body[:most]), is_cut=is_cut)

    def _status_address(self, reply: _Reply) -> str | None:
        """Where to ask for the answer of a job that was accepted; None if this is the answer."""
        if reply.status != 202:
            return None
        body = _object(reply.body)
        address = reply.headers.get("location") or body.get("status_url") or body.get("location")
        return self._same_origin(address) if isinstance(address, str) and address else None

    def _same_origin(self, address: str) -> str:
        """`address` made absolute; it gets the agent's headers, so it must be of the agent."""
        try:
            url = urljoin(self._spec.url, address)
            is_ours = _origin(url) == _origin(self._spec.url)
        except ValueError:
            url, is_ours = "", False
        if not is_ours:
            where = self._shortened(address)
            raise AgentCrashed(f"the agent's job has a status address on another server: {where}")
        return url

    async def _finished(self, job: str, reply: _Reply, most: int) -> _Reply:
        """Ask for the state of a job until it is done; returns its result."""
        pauses = iter(POLL_SECONDS)
        while True:
            pause = next(pauses, POLL_SECONDS[-1])
            await asyncio.sleep(max(seconds_to_wait(reply.retry_after) or pause, POLL_SECONDS[0]))
            reply = await self._send("GET", job, most=most)
            if reply.status == 303 and (result := reply.headers.get("location")):
                reply = await self._send("GET", self._same_origin(result), most=most)
            if reply.status == 202 or reply.status in _BUSY:
                continue
            if not 200 <= reply.status < 300:
                raise AgentCrashed(f"the agent's job answered with status {reply.status}")
            body = _object(reply.body)
            state = str(body.get("status") or body.get("state") or "").lower()
            if state in FAILED_STATES:
                raise AgentCrashed(f"the agent's job {state}: {self._excerpt(reply)}")
            if state not in WORKING_STATES:
                return reply

    async def _cancel(self, job: str) -> None:
        """Ask the agent to cancel its job; it may ignore that."""
        with contextlib.suppress(httpx2.TransportError, AgentCrashed, TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                await self._send("DELETE", job)

    def _read(self, reply: _Reply) -> Answer:
        pointer = self._spec.answer
        if pointer is None and self._spec.usage == UsagePointers():
            return answer_from_bytes(reply.body, truncated=reply.is_cut)
        document = self._document(reply)
        try:
            output = document if pointer is None else value_at(document, pointer)
        except NotThere as error:
            raise AgentCrashed(f"{error} in {self._excerpt(reply)}") from None
        usage = usage_at(document, self._spec.usage)
        try:
            answer = replace(answer_from_value(output), usage=usage)
        except BlankAnswer:
            raise BlankAnswer(usage=usage) from None
        if not answer.steps and not answer.steps_problem:
            steps, problem = reported_steps(_mapping(document))
            answer = replace(answer, steps=steps, steps_problem=problem)
        context = named_context(_mapping(document))
        return answer if context is None else replace(answer, context=context)

    def _document(self, reply: _Reply) -> object:
        if reply.is_cut:
            raise AgentCrashed("the agent's answer is longer than 1 MiB, too long to be searched")
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            raise AgentCrashed(f"the answer is not JSON: {self._excerpt(reply)}") from None

    def _excerpt(self, reply: _Reply) -> str:
        return self._shortened(reply.body.decode(errors="replace"))

    def _shortened(self, text: str) -> str:
        return shortened(self._secrets.redact(text))


async def _follow(response: httpx2.Response, streamed: StreamedAnswer) -> None:
    """Read an event stream to its end, or until it is longer than Arena keeps."""
    reader, size = EventReader(), 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > MAX_STREAM_BYTES:
            raise AgentCrashed("the agent sent a stream of far more than 1 MiB")
        for event in reader.add(chunk):
            streamed.add(event)
            if streamed.is_done or streamed.size > MAX_OUTPUT_BYTES:
                return
    for event in reader.end():
        streamed.add(event)


def _object(body: bytes) -> dict[str, object]:
    """The JSON object in a body; empty if there is none."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return _mapping(value)


def _mapping(value: object) -> dict[str, object]:
    return cast(dict[str, object], value) if isinstance(value, dict) else {}


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, parts.port or default


def filled(template: JsonValue, question: Question) -> JsonValue:
    """`template` with the question substituted in its strings, each in one pass.

    Substitution is inside JSON strings only, so that no prompt can change the shape of the body.
    """
    if template == MESSAGES:
        return _messages(question)
    if isinstance(template, str):
        return _PLACEHOLDER.sub(lambda match: _text(question, match[1]), template)
    if isinstance(template, list):
        items: list[JsonValue] = []
        for item in template:
            items += _messages(question) if item == MESSAGES else [filled(item, question)]
        return items
    if isinstance(template, dict):
        return {key: filled(value, question) for key, value in template.items()}
    return template


def _has_placeholder(template: JsonValue, placeholder: str) -> bool:
    if isinstance(template, dict | list):
        values = template.values() if isinstance(template, dict) else template
        return any(_has_placeholder(value, placeholder) for value in values)
    return isinstance(template, str) and placeholder in template


def unreachable(url: str, error: Exception, *, is_malformed: bool) -> AgentUnavailable:
    """The error for a connection that could not be made or broke."""
    if is_malformed:
        # Its message quotes headers escaped, so that a secret in it would not be recognised.
        return AgentUnavailable(f"the request to {url} is not valid HTTP", retryable=False)
    reason = str(error) or type(error).__name__
    is_certificate = "CERTIFICATE_VERIFY_FAILED" in reason
    return AgentUnavailable(f"cannot reach {url}: {reason}", retryable=not is_certificate)


def _messages(question: Question) -> list[JsonValue]:
    return [cast(JsonValue, as_json(message)) for message in question.messages]


def _text(question: Question, name: str) -> str:
    match name:
        case "prompt":
            return question.prompt
        case "timeout_seconds":
            return f"{question.timeout_seconds:g}"
        case "workspace":
            return archive_text(question)
        case "messages":
            return json.dumps(_messages(question), ensure_ascii=False)
        case "context":
            return question.context or ""
        case "turn":
            return str(question.turn)
        case _:
            return question.id


def fault_of_status(status: int, *, excerpt: str, retry_after: str | None = None) -> ArenaError:
    """The error for a status that is not a success; `excerpt` is the body, redacted.

    The same for every connector that speaks HTTP: it decides whose fault a status is.
    """
    detail = f": {shortened(excerpt)}" if excerpt.strip() else ""
    if status in _BUSY:
        message = f"the agent answered with status {status}{detail}"
        seconds = seconds_to_wait(retry_after)
        if status == 429 or seconds is not None:
            return AgentBusy(message, retry_after_seconds=seconds)
        return AgentUnavailable(message)
    if status in _REMEDIES:
        message = f"the agent answered with status {status}; {_REMEDIES[status]}{detail}"
        return AgentUnavailable(message, retryable=False)
    if 300 <= status < 400:
        message = f"the agent redirects (status {status}); give its final address as url"
        return AgentUnavailable(message, retryable=False)
    return AgentCrashed(f"the agent answered with status {status}{detail}")


def shortened(text: str) -> str:
    """`text` in one line, short enough for a message."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_EXCERPT else f"{line[:MAX_EXCERPT]}..."
