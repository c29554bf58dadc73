"""The OpenAI connector: a bare model behind any OpenAI-compatible chat endpoint."""

import asyncio
from dataclasses import replace
from typing import cast

from arena.agents.agent import AgentDefinition
from arena.agents.connector import Answer, BlankAnswer, Connector, Question, answer_from_text
from arena.agents.http import fault_of_status
from arena.agents.playing import Playing
from arena.agents.secrets import Secrets
from arena.agents.spec import OpenAISpec
from arena.errors import (
    AgentCrashed,
    AgentSaidNothing,
    AgentTimedOut,
    AgentUnavailable,
    ArenaError,
)
from arena.models.budget import spend
from arena.models.client import ModelClient
from arena.models.completion import Completion, ModelFault, ModelTimedOut, Refused, Unreachable
from arena.models.message import as_json
from arena.models.step import Step, steps_of_tool_calls
from arena.models.usage import Usage, priced, summed

MAX_ROUNDS = 50
"""How often a model may call tools before it must answer."""


def connect(agent: AgentDefinition, secrets: Secrets) -> Connector:
    """The connector for `{type: openai}`."""
    spec = agent.connector
    assert isinstance(spec, OpenAISpec)
    return ChatModel(spec, secrets, max_connections=agent.limits.max_concurrency)


class ChatModel:
    """Sends each question as a chat: the system prompt, the conversation so far, the prompt."""

    def __init__(self, spec: OpenAISpec, secrets: Secrets, *, max_connections: int) -> None:
        self._spec = spec
        self._secrets = secrets
        key = secrets.value(spec.api_key_env) if spec.api_key_env else None
        headers = {name: secrets.fill(value) for name, value in spec.headers.items()}
        self._client = ModelClient(
            spec.base_url, api_key=key, headers=headers, max_connections=max_connections
        )

    async def answer(self, question: Question) -> Answer:
        """Ask the model; while it calls tools that Arena plays, play them and ask again."""
        chat = self._chat(question)
        try:
            if question.tools:
                return await self._with_tools(question, chat)
            completion = await self._client.complete(chat, timeout_seconds=question.timeout_seconds)
        except ModelFault as fault:
            raise self._fault(fault, question) from None
        return _answer(completion, await self._usage(completion), completion.steps)

    async def _with_tools(self, question: Question, chat: dict[str, object]) -> Answer:
        playing, usages = Playing(question.tools), list[Usage]()
        chat["tools"] = [*self._own_tools(question), *playing.functions]
        messages = cast(list[object], chat["messages"])
        time = asyncio.get_running_loop().time
        deadline = time() + question.timeout_seconds
        for _ in range(MAX_ROUNDS):
            # Not below 0: a question that is late gets the fault of a model that is late.
            left = max(deadline - time(), 0)
            completion = await self._client.complete(chat, timeout_seconds=left)
            usages.append(await self._usage(completion))
            message, calls = playing.read(completion.message)
            if not calls:
                return _answer(completion, summed(usages), tuple(playing.steps))
            messages.append(message)
            for call in calls:
                messages.append(await playing.reply(call))
        raise AgentCrashed(
            f"the model still called tools after {MAX_ROUNDS} rounds ({len(playing.steps):,} calls)"
        )

    def _own_tools(self, question: Question) -> list[object]:
        """The tools in the agent's options; none may have the name of a tool of the test."""
        own = self._spec.options.get("tools")
        listed = cast(list[object], own) if isinstance(own, list) else []
        # A tool is defined in the same shape as it is called.
        names = {step.tool for step in steps_of_tool_calls(listed)}
        for tool in question.tools:
            if tool.name in names:
                raise AgentUnavailable(
                    f"the tool {tool.name!r} is in the agent's options and in the test: "
                    "rename one of them",
                    retryable=False,
                )
        return listed

    async def _usage(self, completion: Completion) -> Usage:
        """The usage of one call with its cost, counted for the run's budget."""
        usage = await self._priced(completion)
        spend(usage)  # here, because a call whose answer is of no use is paid for, too
        return usage

    async def _priced(self, completion: Completion) -> Usage:
        """The usage with its cost: by the configured price, or by the configured model.

        Not by the model that the server reports: a proxy or a local server may report any name.
        """
        usage, price = completion.usage, self._spec.price
        if price is not None:
            if usage.input_tokens is None or usage.output_tokens is None:
                return usage
            dollars = usage.input_tokens * price.input_usd_per_million
            dollars += usage.output_tokens * price.output_usd_per_million
            return replace(usage, cost_usd=dollars / 1_000_000)
        # In a thread: the price list takes half a second to load.
        known = await asyncio.to_thread(
            priced,
            replace(usage, model=self._spec.model),
            base_url=self._spec.base_url,
            cached_tokens=completion.cached_tokens,
        )
        return replace(usage, cost_usd=known.cost_usd)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _chat(self, question: Question) -> dict[str, object]:
        spec = self._spec
        messages: list[object] = [as_json(message) for message in question.messages]
        messages.append({"role": "user", "content": question.prompt})
        if spec.system:
            messages.insert(0, {"role": "system", "content": spec.system})
        chat: dict[str, object] = {"model": spec.model, "messages": messages}
        if spec.temperature is not None:
            chat["temperature"] = spec.temperature
        if spec.max_tokens is not None:
            chat["max_tokens"] = spec.max_tokens
        return chat | spec.options

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


def _answer(completion: Completion, usage: Usage, steps: tuple[Step, ...]) -> Answer:
    is_cut = completion.finish_reason == "length"
    try:
        answer = answer_from_text(
            # A refusal counts as an answer.
            completion.text or completion.refusal or "",
            usage=usage,
            truncated=is_cut,
            steps=steps,
        )
    except BlankAnswer:  # counted already
        cut = "the model reached its token limit before it answered (finish_reason: length)"
        raise AgentSaidNothing(cut if is_cut else None) from None
    return replace(answer, is_priced=True, is_counted=True)
