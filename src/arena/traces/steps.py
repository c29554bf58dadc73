"""Spans become steps and usage."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from arena.models.step import Step
from arena.models.usage import Usage, usage_from
from arena.traces.span import (
    AGENT_INPUT_TOKENS,
    AGENT_OUTPUT_TOKENS,
    ARGUMENTS,
    CALL_IDS,
    COST,
    INPUT_TOKENS,
    KINDS,
    MODELS,
    OPERATION,
    OUTPUT_TOKENS,
    REQUEST_TYPE,
    RESULTS,
    TOOL_NAMES,
    Span,
)

_MAX_DEPTH = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOOL_KINDS = {"tool", "ai.toolcall"}
_MODEL_OPERATIONS = {"chat", "text_completion", "generate_content"}
_MODEL_KINDS = {
    *("llm", "chat_model"),
    *("ai.generatetext.dogenerate", "ai.streamtext.dostream"),
    *("ai.generateobject.dogenerate", "ai.streamobject.dostream"),
}
_AGENT_OPERATIONS = {"invoke_agent", "invoke_workflow"}
_AGENT_KINDS = {"agent", "workflow"}


def steps_of(spans: Collection[Span]) -> tuple[Step, ...]:
    """The tool calls among the spans, by the time at which they began."""
    by_id = {span.id: span for span in spans}
    calls = [span for span in spans if _is_tool(span)]
    # Sorting is stable: calls that began at the same moment stay in the order they arrived in.
    calls.sort(key=lambda span: span.start_nanoseconds)
    return tuple(_step(span) for span in calls if not _is_repeated(span, by_id))


def usage_of(spans: Collection[Span]) -> Usage:
    """The usage of the model calls among the spans, or else that of the outermost agents."""
    by_id = {span.id: span for span in spans}
    calls = list(_outermost(spans, by_id, _is_model_call))
    if calls:
        return _sum(calls, INPUT_TOKENS, OUTPUT_TOKENS)
    agents = list(_outermost(spans, by_id, _is_agent))
    return _sum(agents, AGENT_INPUT_TOKENS, AGENT_OUTPUT_TOKENS)


def is_call(span: Span) -> bool:
    """Whether a span is one call of a tool or a model, and so not the whole work of an agent."""
    operation = span.attributes.get(OPERATION)
    if operation is not None:
        return operation == "execute_tool" or operation in _MODEL_OPERATIONS
    return _is_tool(span) or _kind(span) in _MODEL_KINDS or REQUEST_TYPE in span.attributes


def _is_tool(span: Span) -> bool:
    if not _tool_name(span):
        return False
    operation = span.attributes.get(OPERATION)
    if operation is not None:
        return operation == "execute_tool"
    # Without an operation, the name alone: pydantic-ai's "running tool".
    return "gen_ai.tool.name" in span.attributes or _kind(span) in _TOOL_KINDS


def _tool_name(span: Span) -> str | None:
    name = span.first(TOOL_NAMES)
    if name is None and _kind(span) in _TOOL_KINDS:
        name = span.name  # OpenInference leaves it to the name of the span
    return name.strip() or None if isinstance(name, str) else None


def _kind(span: Span) -> str:
    """The kind of a span in conventions other than GenAI's."""
    kind = span.first(KINDS)
    return kind.strip('"').lower() if isinstance(kind, str) else ""


def _is_model_call(span: Span) -> bool:
    has_usage = span.first(INPUT_TOKENS) is not None or span.first(OUTPUT_TOKENS) is not None
    operation = span.attributes.get(OPERATION)
    if operation is not None:
        return has_usage and operation in _MODEL_OPERATIONS
    return has_usage and (_kind(span) in _MODEL_KINDS or REQUEST_TYPE in span.attributes)


def _is_agent(span: Span) -> bool:
    has_usage = span.first(AGENT_INPUT_TOKENS) is not None
    return has_usage and (
        span.attributes.get(OPERATION) in _AGENT_OPERATIONS or _kind(span) in _AGENT_KINDS
    )


def _ancestors(span: Span, by_id: Mapping[bytes, Span]) -> Iterator[Span]:
    """The spans around a span, from the inside out."""
    # Bounded: a hostile agent could send a circle, or a chain of thousands.
    for _ in range(_MAX_DEPTH):
        parent = by_id.get(span.parent_id)
        if parent is None:
            return
        yield parent
        span = parent


def _is_repeated(span: Span, by_id: Mapping[bytes, Span]) -> bool:
    """Whether a span describes the same call as one around it.

    Two instrumentations (of the framework, and of its MCP client, say) may describe one call.
    """
    outer = next(filter(_is_tool, _ancestors(span, by_id)), None)
    if outer is None or _tool_name(outer) != _tool_name(span):
        return False
    ids = (outer.first(CALL_IDS), span.first(CALL_IDS))
    return None in ids or ids[0] == ids[1]


def _outermost(
    spans: Collection[Span], by_id: Mapping[bytes, Span], is_wanted: Callable[[Span], bool]
) -> Iterator[Span]:
    """The wanted spans that are not inside another wanted one, which has counted them already."""
    return (
        span
        for span in spans
        if is_wanted(span) and not any(map(is_wanted, _ancestors(span, by_id)))
    )


def _sum(
    spans: Collection[Span], input_names: tuple[str, ...], output_names: tuple[str, ...]
) -> Usage:
    each = [
        usage_from(
            {
                "input_tokens": span.first(input_names),
                "output_tokens": span.first(output_names),
                "model": span.first(MODELS),
                "cost_usd": span.first(COST),
            }
        )
        for span in spans
    ]
    models = {one.model for one in each}
    costs = [one.cost_usd for one in each if one.cost_usd is not None]
    return usage_from(
        {
            "input_tokens": _total([one.input_tokens for one in each]),
            "output_tokens": _total([one.output_tokens for one in each]),
            # With several models no price could be found by a name.
            "model": models.pop() if len(models) == 1 else None,
            "cost_usd": sum(costs) if costs and len(costs) == len(each) else None,
        }
    )


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _step(span: Span) -> Step:
    return Step(
        tool=_tool_name(span) or "",
        arguments=_arguments(span.first(ARGUMENTS)),
        result=_result(span.first(RESULTS)),
        time=_time(span.start_nanoseconds),
        error=span.error,
        source="trace",
    )


def _arguments(value: Any) -> Any:
    """What the tool was called with; text that is not JSON stays text."""
    parsed = _parsed(value) if isinstance(value, str) else value
    fields = cast(dict[str, Any], parsed) if isinstance(parsed, dict) else {}
    # Traceloop writes how a Python function, or a tool of LangChain, was called.
    if fields.keys() == {"args", "kwargs"} and not fields["args"]:
        return fields["kwargs"]
    if {"input_str", "inputs"} <= fields.keys():
        return fields["inputs"]
    return cast(Any, parsed)


def _result(value: Any) -> Any:
    """What the tool returned. Only objects and lists are JSON: "42" may well be a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return _parsed(value)
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _refuse(constant: str) -> Any:
    raise ValueError(constant)  # NaN and the infinities are no JSON


def _time(nanoseconds: int) -> datetime | None:
    # 64 bits of nanoseconds end in the year 2554, which every clock and column can hold.
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000) if nanoseconds else None
