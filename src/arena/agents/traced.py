"""A connector whose agent sends OpenTelemetry spans, which become the steps of its answers."""

import asyncio
from dataclasses import replace

from arena.agents.agent import AgentDefinition
from arena.agents.connector import Answer, Connector, Question
from arena.agents.secrets import Secrets
from arena.agents.spec import CommandSpec, PythonSpec, TracesSpec
from arena.errors import AgentUnavailable
from arena.traces.inbox import Session, Trace, new_token
from arena.traces.receiver import HOST, Receiver


class Traced:
    """Gives every question a place for its spans, and waits for them after the answer."""

    def __init__(self, connector: Connector, agent: AgentDefinition, secrets: Secrets) -> None:
        self._connector = connector
        self._agent = agent
        self._spec = spec = agent.traces or TracesSpec()
        self._token = secrets.value(spec.token_env) if spec.token_env else new_token()
        self._receiver = Receiver()
        self._session: Session | None = None
        self._starting = asyncio.Lock()

    async def answer(self, question: Question) -> Answer:
        """The answer of the connector, with what the spans say."""
        session = await self._opened()
        # Left also when the question fails or is cancelled: then its spans are refused.
        with session.open() as inbox:
            answer = await self._connector.answer(replace(question, trace=inbox.target))
            started = asyncio.get_running_loop().time()
            trace = await inbox.trace(self._spec.wait_seconds, has_ended=self._has_ended(question))
            waited = asyncio.get_running_loop().time() - started
        return replace(_with_trace(answer, trace), waited_seconds=waited)

    async def close(self) -> None:
        """Close the connector, then the receiver."""
        try:
            await self._connector.close()
        finally:
            if self._session is not None:
                self._session.close()
            await self._receiver.stop()

    def _has_ended(self, question: Question) -> bool:
        """Whether the process that answered this question has ended, and sends no more spans."""
        spec = self._agent.connector
        if isinstance(spec, CommandSpec) and not spec.persistent:
            return True
        return question.workspace is not None and isinstance(spec, CommandSpec | PythonSpec)

    async def _opened(self) -> Session:
        """The session; the first question starts the receiver."""
        async with self._starting:
            if self._session is None:
                port = self._spec.port or 0
                try:
                    await self._receiver.start(port)
                except OSError as error:
                    message = f"cannot receive traces on {HOST}:{port}: {error.strerror or error}"
                    raise AgentUnavailable(message) from None
                self._session = self._receiver.session(self._token)
            return self._session


def _with_trace(answer: Answer, trace: Trace) -> Answer:
    """The answer with what it does not say itself."""
    usage = answer.usage
    if usage.input_tokens is usage.output_tokens is usage.cost_usd is None:
        usage = replace(trace.usage, model=usage.model or trace.usage.model)
    answer = replace(answer, usage=usage)
    if answer.steps:
        return answer  # with those of the spans, every call would count twice
    problem = answer.steps_problem or trace.problem
    return replace(answer, steps=trace.steps, steps_problem=problem)
