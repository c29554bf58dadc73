"""What a model said, read from the answer of its endpoint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from arena.models.faults import BadCompletion
from arena.models.usage import Usage, usage_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model, as far as its endpoint tells; compatible ones leave much out."""

    text: str | None
    refusal: str | None = None
    """What it said instead, where it would not answer."""
    finish_reason: str | None = None
    has_tool_calls: bool = False
    choices: int = 1
    """How many answers there were; this is the first."""
    usage: Usage
    """Without a price."""
    cached_tokens: int = 0
    """How many of the input tokens the endpoint had in its cache."""


def read_completion(body: bytes, *, model: str) -> Completion:
    """The completion in a body, or `BadCompletion`; `model` is who was asked."""
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
    details = _mapping(reported.get("prompt_tokens_details"))
    cached = details.get("cached_tokens")
    return Completion(
        text=_text(message.get("content")),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(choice.get("finish_reason")),
        has_tool_calls=bool(message.get("tool_calls") or message.get("function_call")),
        choices=len(listed),
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
