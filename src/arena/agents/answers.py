"""From what an agent sent to an `Answer`: one reading of output and usage for all connectors."""

import json
import math
from collections.abc import Mapping
from typing import TypeGuard, cast

from arena.agents.connector import MAX_OUTPUT_BYTES, Answer, Usage
from arena.errors import AgentSaidNothing

_MAX_TOKENS = 2_000_000_000
"""Fits an integer column everywhere; a larger figure is a mistake, not a usage."""
_MAX_MODEL_LENGTH = 200


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


def usage_from(value: object) -> Usage:
    """The usage an agent reports about itself; what makes no sense is unknown."""
    if not isinstance(value, Mapping):
        return Usage()
    fields = cast(Mapping[str, object], value)
    model = fields.get("model")
    return Usage(
        input_tokens=_tokens(fields.get("input_tokens")),
        output_tokens=_tokens(fields.get("output_tokens")),
        model=_storable(model)[0][:_MAX_MODEL_LENGTH] if isinstance(model, str) else None,
        cost_usd=_dollars(fields.get("cost_usd")),
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str:
    """A value as text; an agent may well answer with a number or a structure."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _storable(text: str) -> tuple[str, bool]:
    """`text` as every database keeps it, and whether it was cut at the cap."""
    if len(text) <= MAX_OUTPUT_BYTES and text.isascii() and "\0" not in text:
        return text, False
    # JSON can smuggle in half a surrogate pair, which is no character, and PostgreSQL keeps no
    # zero byte: both become the replacement character.
    raw = text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass")
    raw = raw.decode("utf-16", "replace").encode()
    if len(raw) <= MAX_OUTPUT_BYTES:
        return raw.decode(), False
    return raw[:MAX_OUTPUT_BYTES].decode(errors="ignore"), True


def _tokens(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value <= _MAX_TOKENS and value == int(value) else None


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1e9 else None
