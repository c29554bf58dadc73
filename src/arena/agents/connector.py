"""The interface to an agent: one question in, one answer out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeGuard

from arena.errors import AgentCrashed, AgentSaidNothing, AgentUnavailable
from arena.models.message import Message, as_json
from arena.models.played_tool import PlayedTool
from arena.models.step import BadSteps, Step, calls_text, read_steps
from arena.models.usage import Usage, usage_from
from arena.text import storable
from arena.traces.target import TraceTarget

if TYPE_CHECKING:
    from arena.agents.workspace_folder import WorkspaceFolder

MAX_OUTPUT_BYTES = 1024 * 1024
"""A longer answer is truncated, and marked so (`truncated`)."""
MAX_CONTEXT_LENGTH = 10_000
"""A longer `context` is ignored: it is sent back with every question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to an agent."""

    id: str
    """The same for every attempt at the question."""
    prompt: str
    """What the user says now."""
    timeout_seconds: float
    messages: tuple[Message, ...] = ()
    """The conversation before the prompt."""
    context: str | None = None
    """What the agent's last answer named as its own id of the conversation."""
    turn: int = 1
    """Which question of the conversation it is."""
    is_conversation: bool = False
    """Whether the agent may ask back: the user may answer with the next question."""
    trace: TraceTarget | None = None
    """Where the agent sends its spans; another one for every attempt."""
    workspace: "WorkspaceFolder | None" = None
    """The files that the agent works on."""
    tools: tuple[PlayedTool, ...] = ()
    """Tools that Arena plays for the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An agent's answer."""

    output: str
    usage: Usage = field(default_factory=Usage)
    truncated: bool = False
    """True if it is not all of the agent's output: longer than Arena keeps, or cut by its model."""
    steps: tuple[Step, ...] = ()
    """The tools that the agent called, in order."""
    steps_problem: str | None = None
    """Why `steps` are not what the agent reported."""
    language: str | None = None
    """The language of the code in it, if the agent named one."""
    is_priced: bool = False
    """True if the cost is final: no price is looked up by the name of the model."""
    is_counted: bool = False
    """True if the connector has counted the usage for the run's budget, call by call."""
    context: str | None = None
    """The agent's own id of the conversation, sent back with the next question."""
    waited_seconds: float = 0.0
    """How long Arena waited for late spans after the answer; not time that the agent took."""
    archive: bytes | None = None
    """The files of the workspace, if the agent works elsewhere and sent all of them."""
    patch: str | None = None
    """What the agent changed in the workspace, if it sent that."""


class Connector(Protocol):
    """A way to reach an agent.

    `answer` raises `AgentFault` if the agent failed and `InfrastructureError` if it could not be
    asked at all. After `timeout_seconds`, or when it is cancelled, it must have ended the work it
    started (killed processes, closed requests).
    """

    async def answer(self, question: Question) -> Answer:
        """Ask, and wait for the answer at most `question.timeout_seconds`."""
        ...

    async def close(self) -> None:
        """Release processes and connections; the connector is not used again."""
        ...


class AgentBusy(AgentUnavailable):
    """The agent is busy; try again later."""

    def __init__(self, message: str | None = None, *, retry_after_seconds: float | None) -> None:
        super().__init__(message, retryable=True)
        self.retry_after_seconds = retry_after_seconds
        """The requested wait; None if it gave none."""


class BlankAnswer(AgentSaidNothing):
    """The agent answered with nothing."""

    def __init__(self, message: str | None = None, *, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()
        """What it reports to have used: that is paid for, too."""


def timed_out(question: Question) -> str:
    """The message for an agent that did not answer in time."""
    return f"the agent did not answer within {question.timeout_seconds:g} s"


def answer_from_bytes(raw: bytes, *, truncated: bool = False) -> Answer:
    """The answer in plain text, or in a JSON object that has `output`."""
    text = raw.decode("utf-8", errors="replace").strip()
    if text.startswith("{") and not truncated:
        value = _json(text)
        # An answer may be some other JSON object: that is treated as plain text.
        if has_output(value):
            return answer_from_value(value)
    return answer_from_text(text, truncated=truncated)


def answer_from_value(value: object) -> Answer:
    """The answer in a decoded value: text, or a mapping that has `output`."""
    if not has_output(value):
        return answer_from_text(_text(value))
    steps, problem = reported_steps(value)
    answer = answer_from_text(
        _text(value["output"]),
        usage=usage_from(value.get("usage")),
        truncated=value.get("truncated") is True,
        steps=steps,
    )
    return replace(
        answer, steps_problem=problem, language=named_language(value), context=named_context(value)
    )


def history(question: Question) -> dict[str, object]:
    """What a question within a conversation has besides its prompt; nothing for any other."""
    if not question.messages:
        return {}
    body: dict[str, object] = {
        "messages": [as_json(message) for message in question.messages],
        "turn": question.turn,
    }
    return body if question.context is None else {**body, "context": question.context}


def reported_steps(value: Mapping[str, object]) -> tuple[tuple[Step, ...], str | None]:
    """The `steps` in an answer, or why they cannot be used."""
    try:
        return read_steps(value.get("steps")), None
    except BadSteps as error:
        # Not a failure: agents of other systems have keys of this name and another meaning.
        return (), str(error)


def named_language(value: Mapping[str, object]) -> str | None:
    """The `language` in an answer; None if it is not one that Arena can run."""
    name = value.get("language")
    if not isinstance(name, str):
        return None
    from arena.sandbox.languages import languages, normal_language  # few answers have one

    # Others are ignored: agents of other systems say {"language": "en"}.
    language = normal_language(name)
    return language if language in languages() else None


def named_context(value: Mapping[str, object]) -> str | None:
    """The `context` in an answer: the agent's own id of the conversation."""
    context = value.get("context")
    if not isinstance(context, str) or len(context) > MAX_CONTEXT_LENGTH:
        return None
    return context or None


def has_output(value: object) -> TypeGuard[dict[str, object]]:
    """Whether `value` is an object with an answer in it."""
    return isinstance(value, dict) and "output" in value


def answer_from_text(
    text: str,
    *,
    usage: Usage | None = None,
    truncated: bool = False,
    steps: tuple[Step, ...] = (),
) -> Answer:
    """The answer `text`, cut at the limit, or the tool calls; neither is a `BlankAnswer`."""
    output = storable(text)
    if steps and (not output or output.isspace()):
        output = storable(calls_text(steps))
    # Counting characters first avoids encoding every answer just to measure it.
    if 4 * len(output) > MAX_OUTPUT_BYTES and len(raw := output.encode()) > MAX_OUTPUT_BYTES:
        output, truncated = raw[:MAX_OUTPUT_BYTES].decode(errors="ignore"), True
    if not output or output.isspace():
        raise BlankAnswer(usage=usage)
    return Answer(output=output, usage=usage or Usage(), truncated=truncated, steps=steps)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str:
    """A value as text; an agent may answer with a number or a structure."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise AgentCrashed("the agent's answer is nested too deep") from None
