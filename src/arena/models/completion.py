"""A model's answer, or why there is none.

    ModelFault
    ├── Refused          the endpoint answered with a status that is not a success
    ├── Unreachable      no connection, or it broke
    ├── ModelTimedOut    no complete answer in time
    └── BadCompletion    an answer, but not a chat completion

These are not Arena errors: whose fault it is depends on who was asked, an agent or a judge.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from arena.models.step import Step, steps_of_tool_calls
from arena.models.usage import Usage, usage_from


class ModelFault(Exception):
    """A model gave no usable answer."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class Refused(ModelFault):
    """The endpoint answered with a status that is not a success."""

    def __init__(self, status: int, *, excerpt: str, retry_after: str | None) -> None:
        self.status = status
        self.excerpt = excerpt
        """Its body, without the key."""
        self.retry_after = retry_after
        """The header, as it was sent."""
        super().__init__(f"status {status}")


class Unreachable(ModelFault):
    """No connection could be made, or it broke."""

    def __init__(self, message: str, *, is_permanent: bool = False) -> None:
        super().__init__(message)
        self.is_permanent = is_permanent
        """Whether trying again cannot help: a bad certificate, a malformed request."""


class ModelTimedOut(ModelFault):
    """No complete answer in time."""


class BadCompletion(ModelFault):
    """An answer that is not a chat completion."""


class BodyTooLong(BadCompletion):
    """The answer is too long to be used, or compressed so that its size is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model; merely compatible endpoints omit many of the fields."""

    text: str | None
    refusal: str | None = None
    """Its explanation, if it declined to answer."""
    finish_reason: str | None = None
    has_tool_calls: bool = False
    steps: tuple[Step, ...] = ()
    """The tool calls."""
    choices: int = 1
    """How many answers there were; this is the first."""
    usage: Usage
    """Without a price."""
    message: Mapping[str, object] = field(default_factory=dict[str, object])
    """The whole message, as it was sent."""
    cached_tokens: int = 0
    """How many of the input tokens came from the endpoint's cache."""


def read_completion(body: bytes, *, model: str) -> Completion:
    """Parse a completion; raises `BadCompletion`. `model` is the requested one."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadCompletion(f"it is not JSON: {error}") from None
    answer = _mapping(value)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise BadCompletion("it has no choices")
    listed = cast(list[object], choices)
    choice = _mapping(listed[0])
    message = _mapping(choice.get("message"))
    reported = _mapping(answer.get("usage"))
    calls = message.get("tool_calls")
    if message.get("function_call"):  # what endpoints sent before there were several calls
        calls = [{"function": message["function_call"]}]
    cached = _mapping(reported.get("prompt_tokens_details")).get("cached_tokens")
    return Completion(
        text=_text(message.get("content")),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(choice.get("finish_reason")),
        has_tool_calls=bool(calls),
        steps=steps_of_tool_calls(calls) if calls else (),
        choices=len(listed),
        message=message,
        usage=usage_from(
            {
                "input_tokens": reported.get("prompt_tokens"),
                "output_tokens": reported.get("completion_tokens"),
                "model": answer.get("model") or model,
            }
        ),
        cached_tokens=cached if isinstance(cached, int) and cached > 0 else 0,
    )


def _mapping(value: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
