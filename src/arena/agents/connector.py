"""The interface to an agent: one question in, one answer out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeGuard

from arena.errors import AgentCrashed, AgentSaidNothing, AgentUnavailable
from arena.models.step import BadSteps, Step, calls_text, read_steps
from arena.models.usage import Usage, usage_from
from arena.text import storable

MAX_OUTPUT_BYTES = 1024 * 1024
"""A longer answer is truncated, and marked so (`truncated`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to an agent."""

    id: str
    """The same for every attempt at the question."""
    prompt: str
    timeout_seconds: float


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
    return replace(answer, steps_problem=problem, language=named_language(value))


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
    """The answer `text`, cut at the limit, or the tool calls; neither is `AgentSaidNothing`."""
    output = storable(text)
    if steps and (not output or output.isspace()):
        output = storable(calls_text(steps))
    # Counting characters first avoids encoding every answer just to measure it.
    if 4 * len(output) > MAX_OUTPUT_BYTES and len(raw := output.encode()) > MAX_OUTPUT_BYTES:
        output, truncated = raw[:MAX_OUTPUT_BYTES].decode(errors="ignore"), True
    if not output or output.isspace():
        raise AgentSaidNothing
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
