"""From what an agent sent to an `Answer`: one reading of output and usage for all connectors."""

import json
from typing import TypeGuard

from arena.agents.connector import MAX_OUTPUT_BYTES, Answer
from arena.errors import AgentCrashed, AgentSaidNothing
from arena.models.usage import Usage, usage_from
from arena.text import storable


def answer_from_bytes(raw: bytes, *, truncated: bool = False) -> Answer:
    """The answer in plain text, or in a JSON object that has `output`."""
    text = raw.decode("utf-8", errors="replace").strip()
    if text.startswith("{") and not truncated:
        value = _json(text)
        # An agent's answer may well be some other JSON object: that is plain text here.
        if has_output(value):
            return answer_from_value(value)
    return answer_from_text(text, truncated=truncated)


def answer_from_value(value: object) -> Answer:
    """The answer in a decoded value: text, or a mapping that has `output`."""
    if has_output(value):
        return answer_from_text(_text(value["output"]), usage=usage_from(value.get("usage")))
    return answer_from_text(_text(value))


def has_output(value: object) -> TypeGuard[dict[str, object]]:
    """Whether `value` is an answer in an object."""
    return isinstance(value, dict) and "output" in value


def answer_from_text(text: str, *, usage: Usage | None = None, truncated: bool = False) -> Answer:
    """The answer `text`, cut at the cap; an empty one is `AgentSaidNothing`."""
    output, is_cut = _storable(text)
    if not output or output.isspace():
        raise AgentSaidNothing
    return Answer(output=output, usage=usage or Usage(), truncated=truncated or is_cut)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str:
    """A value as text; an agent may well answer with a number or a structure."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise AgentCrashed("the agent's answer is nested too deep") from None


def _storable(text: str) -> tuple[str, bool]:
    """`text` as every database keeps it, and whether it was cut at the cap."""
    if len(text) <= MAX_OUTPUT_BYTES and text.isascii() and "\0" not in text:
        return text, False
    raw = storable(text).encode()
    if len(raw) <= MAX_OUTPUT_BYTES:
        return raw.decode(), False
    return raw[:MAX_OUTPUT_BYTES].decode(errors="ignore"), True
