"""The OpenAI connector: a bare model behind any OpenAI-compatible chat endpoint."""

import asyncio

from arena.agents.agent import AgentDefinition
from arena.agents.connector import Answer, Connector, Question, answer_from_text
from arena.agents.http import fault_of_status
from arena.agents.secrets import Secrets
from arena.agents.spec import OpenAISpec
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable, ArenaError
from arena.models.client import ModelClient
from arena.models.completion import ModelFault, ModelTimedOut, Refused, Unreachable
from arena.models.usage import priced


def connect(agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector for `{type: openai}`."""
    spec = agent.connector
    assert isinstance(spec, OpenAISpec)
    return ChatModel(spec, secrets, max_connections=agent.limits.max_concurrency)


class ChatModel:
    """Sends each question as a chat of one message (and the system prompt)."""

    def __init__(self, spec: OpenAISpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        key = secrets.value(spec.api_key_env) if spec.api_key_env else None
        self._client = ModelClient(spec.base_url, api_key=key, max_connections=max_connections)

    async def answer(self, question: Question) -> Answer:
        """Ask the model."""
        try:
            completion = await self._client.complete(
                self._chat(question.prompt), timeout_seconds=question.timeout_seconds
            )
        except ModelFault as fault:
            raise self._fault(fault, question) from None
        # A refusal counts as an answer.
        text = completion.text or completion.refusal or ""
        # In a thread: the price list takes half a second to load.
        usage = await asyncio.to_thread(
            priced,
            completion.usage,
            base_url=self._spec.base_url,
            cached_tokens=completion.cached_tokens,
        )
        return answer_from_text(text, usage=usage)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _chat(self, prompt: str) -> dict[str, object]:
        spec = self._spec
        messages = [{"role": "user", "content": prompt}]
        if spec.system:
            messages.insert(0, {"role": "system", "content": spec.system})
        chat: dict[str, object] = {"model": spec.model, "messages": messages}
        if spec.temperature is not None:
            chat["temperature"] = spec.temperature
        if spec.max_tokens is not None:
            chat["max_tokens"] = spec.max_tokens
        return chat

    def _fault(self, fault: ModelFault, question: Question) -> ArenaError:
        match fault:
            case Refused():
                return fault_of_status(
                    fault.status,
                    excerpt=self._secrets.redact(fault.excerpt),
                    retry_after=fault.retry_after,
                )
            case Unreachable():
                return AgentUnavailable(
                    f"cannot reach {self._spec.base_url}: {fault.message}",
                    retryable=not fault.is_permanent,
                )
            case ModelTimedOut():
                return AgentTimedOut(
                    f"the model did not answer within {question.timeout_seconds:g} s"
                )
            case _:
                return AgentCrashed(f"the answer is not a chat completion: {fault.message}")
