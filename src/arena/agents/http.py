"""The HTTP connector: an agent behind a URL that accepts JSON and returns JSON or text."""

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass, replace
from typing import cast

import httpx2
from pydantic import JsonValue

from arena.agents.agent import AgentDefinition
from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    AgentBusy,
    Answer,
    Connector,
    Question,
    answer_from_bytes,
    answer_from_value,
    timed_out,
)
from arena.agents.secrets import Secrets
from arena.agents.spec import HttpSpec, UsagePointers
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, ArenaError
from arena.models.connections import ConnectionPool, seconds_to_wait
from arena.models.usage import Usage, usage_from

MAX_EXCERPT = 300

_PLACEHOLDER = re.compile(r"\{(prompt|id|timeout_seconds)\}")
_INDEX = re.compile(r"\[(\d+)\]")
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
    body: bytes
    is_cut: bool
    retry_after: str | None


class HttpAgent:
    """Posts each question to the agent's URL."""

    def __init__(self, spec: HttpSpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        headers = {name: secrets.fill(value) for name, value in spec.headers.items()}
        self._connections = ConnectionPool(headers, max_connections=max_connections)

    async def answer(self, question: Question) -> Answer:
        """Post the question and read the answer from the response."""
        content = json.dumps(filled(self._spec.body, question)).encode()
        try:
            async with asyncio.timeout(question.timeout_seconds):
                reply = await self._post(content)
        except TimeoutError:
            raise AgentTimedOut(timed_out(question)) from None
        except httpx2.TransportError as error:
            is_malformed = isinstance(error, httpx2.LocalProtocolError)
            raise unreachable(self._spec.url, error, is_malformed=is_malformed) from None
        if not 200 <= reply.status < 300:
            # Redacted before it is shortened: half a secret would not be recognised.
            body = self._secrets.redact(reply.body.decode(errors="replace"))
            raise fault_of_status(reply.status, excerpt=body, retry_after=reply.retry_after)
        return self._read(reply)

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    async def _post(self, content: bytes) -> _Reply:
        async with self._connections.post(self._spec.url, content) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise AgentCrashed("the agent sent a compressed answer although asked not to")
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > MAX_OUTPUT_BYTES:
                    break
        return _Reply(
            status=response.status_code,
            body=bytes(body[:MAX_OUTPUT_BYTES]),
            is_cut=len(body) > MAX_OUTPUT_BYTES,
            retry_after=response.headers.get("retry-after"),
        )

    def _read(self, reply: _Reply) -> Answer:
        pointer = self._spec.answer
        if pointer is None and self._spec.usage == UsagePointers():
            return answer_from_bytes(reply.body, truncated=reply.is_cut)
        document = self._document(reply)
        try:
            output = document if pointer is None else value_at(document, pointer)
        except NotThere as error:
            raise AgentCrashed(f"{error} in {self._excerpt(reply)}") from None
        return replace(answer_from_value(output), usage=usage_at(document, self._spec.usage))

    def _document(self, reply: _Reply) -> object:
        if reply.is_cut:
            raise AgentCrashed("the agent's answer is longer than 1 MiB, too long to be searched")
        try:
            return json.loads(reply.body)
        except (ValueError, RecursionError):
            raise AgentCrashed(f"the answer is not JSON: {self._excerpt(reply)}") from None

    def _excerpt(self, reply: _Reply) -> str:
        return shortened(self._secrets.redact(reply.body.decode(errors="replace")))


def filled(template: JsonValue, question: Question) -> JsonValue:
    """`template` with the question substituted in its strings, each in one pass.

    Substitution is inside JSON strings only, so that no prompt can change the shape of the body.
    """
    if isinstance(template, str):
        return _PLACEHOLDER.sub(lambda match: _text(question, match[1]), template)
    if isinstance(template, list):
        return [filled(item, question) for item in template]
    if isinstance(template, dict):
        return {key: filled(value, question) for key, value in template.items()}
    return template


def usage_at(document: object, pointers: UsagePointers) -> Usage:
    """The usage in an answer; missing values are unknown."""
    fields: dict[str, object] = {}
    for name in ("input_tokens", "output_tokens", "model", "cost_usd"):
        pointer: str | None = getattr(pointers, name)
        if pointer is not None:
            with contextlib.suppress(NotThere):
                fields[name] = value_at(document, pointer)
    return usage_from(fields)


def unreachable(url: str, error: Exception, *, is_malformed: bool) -> AgentUnavailable:
    """The error for a connection that could not be made or broke."""
    if is_malformed:
        # Its message quotes headers escaped, so that a secret in it would not be recognised.
        return AgentUnavailable(f"the request to {url} is not valid HTTP", retryable=False)
    reason = str(error) or type(error).__name__
    is_certificate = "CERTIFICATE_VERIFY_FAILED" in reason
    return AgentUnavailable(f"cannot reach {url}: {reason}", retryable=not is_certificate)


def _text(question: Question, name: str) -> str:
    if name == "timeout_seconds":
        return f"{question.timeout_seconds:g}"
    return question.prompt if name == "prompt" else question.id


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


class NotThere(LookupError):
    """The pointer has no target; the message says where it failed."""


def value_at(document: object, pointer: str) -> object:
    """The value at `pointer`."""
    value = document
    for step in steps(pointer):
        value = _child(value, step, pointer)
    return value


def steps(pointer: str) -> list[str]:
    """The keys and indexes of a pointer, in any of its three notations."""
    if pointer.startswith("/"):
        # In this notation (RFC 6901) a key can contain any character.
        return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]
    dotted = _INDEX.sub(r".\1", pointer.removeprefix("$"))
    return dotted.removeprefix(".").split(".")


def _child(value: object, step: str, pointer: str) -> object:
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        if step in fields:
            return fields[step]
        raise NotThere(f"{pointer!r} not found: there is no key {step!r}")
    if isinstance(value, list):
        items = cast(list[object], value)
        if step.isdecimal() and int(step) < len(items):
            return items[int(step)]
        raise NotThere(f"{pointer!r} not found: the list has no item {step!r}")
    raise NotThere(f"{pointer!r} not found: the parent of {step!r} is not an object or a list")
