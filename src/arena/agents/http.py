"""The HTTP connector: an agent behind a URL that takes JSON and answers with JSON or text."""

import asyncio
import contextlib
import json
import re
from dataclasses import dataclass

import httpx2
from pydantic import JsonValue

from arena.agents.agent import Agent
from arena.agents.answers import answer_from_bytes, answer_from_value
from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Connector, Question, Usage
from arena.agents.pointer import NotThere, value_at
from arena.agents.secrets import Secrets
from arena.agents.spec import HttpSpec, UsagePointers
from arena.agents.status_faults import fault_of_status, shortened
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable
from arena.models.lines import Lines
from arena.models.usage import usage_from

_PLACEHOLDER = re.compile(r"\{(prompt|id|timeout_seconds)\}")


def connect(agent: Agent, secrets: Secrets) -> Connector:
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
        self._lines = Lines(headers, max_connections=max_connections)

    async def answer(self, question: Question) -> Answer:
        """Post the question and read the answer out of what comes back."""
        content = json.dumps(filled(self._spec.body, question)).encode()
        try:
            async with asyncio.timeout(question.timeout_seconds):
                reply = await self._post(content)
        except TimeoutError:
            raise AgentTimedOut(
                f"the agent did not answer within {question.timeout_seconds:g} s"
            ) from None
        except httpx2.TransportError as error:
            is_malformed = isinstance(error, httpx2.LocalProtocolError)
            raise unreachable(self._spec.url, error, is_malformed=is_malformed) from None
        if not 200 <= reply.status < 300:
            # Redacted before it is shortened: half a secret would not be recognised.
            said = self._secrets.redact(reply.body.decode(errors="replace"))
            raise fault_of_status(reply.status, excerpt=said, retry_after=reply.retry_after)
        return self._read(reply)

    async def close(self) -> None:
        """Close all connections."""
        await self._lines.close()

    async def _post(self, content: bytes) -> _Reply:
        async with self._lines.post(self._spec.url, content) as response:
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
        usage = usage_at(document, self._spec.usage)
        answer = answer_from_value(output)
        return Answer(output=answer.output, usage=usage, truncated=answer.truncated)

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
    """`template` with the question put into its strings, each in one pass.

    Only whole JSON strings are touched, so that no prompt can change the shape of the body.
    """
    if isinstance(template, str):
        return _PLACEHOLDER.sub(lambda match: _text(question, match[1]), template)
    if isinstance(template, list):
        return [filled(item, question) for item in template]
    if isinstance(template, dict):
        return {key: filled(value, question) for key, value in template.items()}
    return template


def usage_at(document: object, pointers: UsagePointers) -> Usage:
    """The usage in an answer; what is not there is unknown."""
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
        # Its message quotes headers, in a spelling in which a secret is not recognised.
        return AgentUnavailable(f"the request to {url} is not valid HTTP", retryable=False)
    reason = str(error) or type(error).__name__
    is_certificate = "CERTIFICATE_VERIFY_FAILED" in reason
    return AgentUnavailable(f"cannot reach {url}: {reason}", retryable=not is_certificate)


def _text(question: Question, name: str) -> str:
    if name == "timeout_seconds":
        return f"{question.timeout_seconds:g}"
    return question.prompt if name == "prompt" else question.id
