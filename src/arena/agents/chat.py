"""The OpenAI connector: a bare model behind any OpenAI-compatible chat endpoint."""

import asyncio
import json
from collections.abc import Mapping
from typing import cast

import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

from arena.agents.agent import Agent
from arena.agents.answers import answer_from_text, usage_from
from arena.agents.capped import CappedBytes, Stream, TooLong, refuse_compressed
from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Connector, Question, Usage
from arena.agents.pricing import priced
from arena.agents.secrets import Secrets
from arena.agents.spec import OpenAISpec
from arena.agents.status_faults import fault_of_status
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, ArenaError

_CONNECT_SECONDS = 10.0
# The text may be 1 MiB; JSON spells some characters with six bytes, and there is more beside it.
_MAX_BODY_BYTES = 8 * MAX_OUTPUT_BYTES


def connect(agent: Agent, secrets: Secrets) -> Connector:
    """The connector for `{type: openai}`."""
    spec = agent.connector
    assert isinstance(spec, OpenAISpec)
    return ChatModel(spec, secrets, max_connections=agent.limits.max_concurrency)


class ChatModel:
    """Sends each question as a chat of one message (and the system prompt)."""

    def __init__(self, spec: OpenAISpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        key = secrets.value(spec.api_key_env).strip() if spec.api_key_env else None
        self._client = openai.AsyncOpenAI(
            base_url=spec.base_url,
            api_key=key or "none",
            max_retries=0,  # who retries, and how often, is decided by the run
            http_client=openai.DefaultAsyncHttpxClient(
                event_hooks={"response": [_cap]},
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=max_connections),
            ),
            # The question's own time-out covers the rest.
            timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        )
        # The client would fill the first two from variables of its own, for any address.
        self._headers: Mapping[str, str | openai.Omit] = {
            "OpenAI-Organization": openai.omit,
            "OpenAI-Project": openai.omit,
            "Accept-Encoding": "identity",
            **({} if key else {"Authorization": openai.omit}),
        }

    async def answer(self, question: Question) -> Answer:
        """Ask the model."""
        try:
            async with asyncio.timeout(question.timeout_seconds):
                completion = await self._complete(question.prompt)
        except TimeoutError:
            raise AgentTimedOut(
                f"the model did not answer within {question.timeout_seconds:g} s"
            ) from None
        except TooLong:
            raise AgentCrashed("the answer is far longer than 1 MiB, or compressed") from None
        except json.JSONDecodeError as error:
            raise AgentCrashed(f"the answer is not a chat completion: {error}") from None
        except openai.APIError as error:
            raise self._fault(error) from None
        text = _text(completion)
        usage = await asyncio.to_thread(self._usage, completion)  # prices take long to load
        return answer_from_text(text, usage=usage)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _complete(self, prompt: str) -> ChatCompletion:
        spec = self._spec
        messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": prompt}]
        if spec.system:
            messages.insert(0, {"role": "system", "content": spec.system})
        return await self._client.chat.completions.create(
            model=spec.model,
            messages=messages,
            temperature=openai.omit if spec.temperature is None else spec.temperature,
            max_tokens=openai.omit if spec.max_tokens is None else spec.max_tokens,
            extra_headers=self._headers,
        )

    def _fault(self, error: openai.APIError) -> ArenaError:
        if isinstance(error, openai.APIStatusError):
            return fault_of_status(
                error.status_code,
                excerpt=self._secrets.redact(str(error.message)),
                retry_after=error.response.headers.get("retry-after"),
            )
        if isinstance(error, openai.APIConnectionError):
            reason = str(error.__cause__ or error)
            return AgentUnavailable(f"cannot reach {self._spec.base_url}: {reason}")
        return AgentCrashed(f"the answer is not a chat completion: {error.message}")

    def _usage(self, completion: ChatCompletion) -> Usage:
        # The client does not check what it was sent, so neither field need be what it says.
        reported = completion.usage
        model = cast(object, completion.model) or self._spec.model
        usage = usage_from(
            {
                "input_tokens": getattr(reported, "prompt_tokens", None),
                "output_tokens": getattr(reported, "completion_tokens", None),
                "model": model,
            }
        )
        details = getattr(reported, "prompt_tokens_details", None)
        cached = getattr(details, "cached_tokens", None)
        cached_tokens = cached if isinstance(cached, int) and cached > 0 else 0
        return priced(usage, base_url=self._spec.base_url, cached_tokens=cached_tokens)


class _CappedBody(CappedBytes, httpx2.AsyncByteStream):
    pass


async def _cap(response: httpx2.Response) -> None:
    refuse_compressed(response.headers)
    response.stream = _CappedBody(cast(Stream, response.stream), _MAX_BODY_BYTES)


def _text(completion: ChatCompletion) -> str:
    """What the model said; a refusal is an answer too."""
    # Servers that are merely compatible leave out what they like.
    choices = cast(object, getattr(completion, "choices", None))
    if not isinstance(choices, list) or not choices:
        raise AgentCrashed("the answer is not a chat completion: it has no choices")
    message = getattr(cast(list[object], choices)[0], "message", None)
    text = getattr(message, "content", None) or getattr(message, "refusal", None)
    return text if isinstance(text, str) else ""
