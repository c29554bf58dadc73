"""The steps of an agent on its way to an answer: the tools it called."""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, cast

from arena.text import storable

MAX_STEPS = 1_000
MAX_STEPS_BYTES = 1024 * 1024
"""Of all steps of an answer together, as JSON."""
MAX_DEPTH = 100
Source = Literal["agent", "trace", "arena"]
SOURCES: Mapping[Source, str] = {
    "agent": "claimed by the agent",
    "trace": "from the agent's trace",
    "arena": "played by Arena",
}
"""Who says that a step happened, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One tool call of an agent."""

    tool: str
    """The name of the tool."""
    arguments: Any = None
    """What the tool was called with: a JSON value, usually an object."""
    result: Any = None
    """What the tool returned: a JSON value; null if unknown."""
    time: datetime | None = None
    """When the tool was called; null if unknown."""
    error: str | None = None
    """Why the call failed; null if it did not."""
    source: Source = "agent"
    """`arena`: Arena played the tool. The others are claims of the agent: in its answer, or in a
    trace that it sent."""
    turn: int | None = None
    """The turn of the conversation, from 1; null if there was only one."""


class BadSteps(ValueError):
    """A list of steps that cannot be used; the message says why."""


def read_steps(value: object) -> tuple[Step, ...]:
    """The steps that an agent reports in JSON; raises `BadSteps`."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadSteps("steps must be a list")
    return tuple(
        _read_step(f"steps[{n}]", each) for n, each in enumerate(cast(list[object], value))
    )


def kept_steps(steps: Sequence[Step]) -> tuple[tuple[Step, ...], str | None]:
    """The steps that Arena keeps, with text that can be stored, and why there are not all."""
    kept: list[Step] = []
    size = 0
    for step in steps[:MAX_STEPS]:
        try:
            clean = with_text(step, storable)
            size += len(json.dumps(as_json(clean), ensure_ascii=False, allow_nan=False).encode())
        except (TypeError, ValueError, RecursionError):
            return (), f"steps[{len(kept)}] is not a JSON value, or is nested too deep"
        if size > MAX_STEPS_BYTES:
            return tuple(kept), f"only the first {len(kept)} of {len(steps)} steps fit in 1 MiB"
        kept.append(clean)
    problem = f"only the first {MAX_STEPS} of {len(steps)} steps are kept"
    return tuple(kept), problem if len(steps) > MAX_STEPS else None


def steps_of_tool_calls(calls: object) -> tuple[Step, ...]:
    """The steps in the `tool_calls` of a chat message; malformed calls are left out."""
    listed = cast(list[object], calls) if isinstance(calls, list) else []
    return tuple(filter(None, map(_of_tool_call, listed)))


def calls_text(steps: Iterable[Step]) -> str:
    """The text of an answer that consists of tool calls alone: a JSON list of the calls."""
    calls = [{"tool": step.tool, "arguments": step.arguments} for step in steps]
    return json.dumps(calls, ensure_ascii=False)


def step_line(step: Step) -> str:
    """A step in one line: the call, what came of it, and who says so."""
    line = step.tool
    if step.arguments is not None:
        line += f" {json.dumps(step.arguments, ensure_ascii=False)}"
    if step.error is not None:
        line += f" failed: {step.error}"
    elif step.result is not None:
        line += f" → {json.dumps(step.result, ensure_ascii=False)}"
    return f"{line} ({SOURCES[step.source]})"


def sources_text(steps: Iterable[Step]) -> str:
    """Who says that the steps happened."""
    found = {step.source for step in steps}
    return ", ".join(words for source, words in SOURCES.items() if source in found)


def as_json(step: Step) -> dict[str, object]:
    """A step as it is stored."""
    time = step.time.isoformat() if step.time else None
    body: dict[str, object] = {
        "tool": step.tool,
        "arguments": step.arguments,
        "result": step.result,
        "time": time,
    }
    later = {"error": step.error, "source": step.source, "turn": step.turn}
    return body | {name: value for name, value in later.items() if value not in (None, "agent")}


def stored_step(value: Mapping[str, Any]) -> Step:
    """The step that `as_json` stored."""
    time = value["time"]
    moment = datetime.fromisoformat(time) if time else None
    fields: dict[str, Any] = {**value, "time": moment}
    return Step(**fields)


def with_text(step: Step, change: Callable[[str], str]) -> Step:
    """The step with every text in it changed, also the keys of objects."""
    return replace(
        step,
        tool=change(step.tool),
        arguments=_changed(step.arguments, change),
        result=_changed(step.result, change),
        error=None if step.error is None else change(step.error),
    )


def _read_step(name: str, value: object) -> Step:
    if not isinstance(value, dict):
        raise BadSteps(f"{name} must be an object")
    fields = cast(Mapping[str, object], value)
    tool, time, error = fields.get("tool"), fields.get("time"), fields.get("error")
    if not isinstance(tool, str) or not tool.strip():
        raise BadSteps(f"{name}.tool must be the name of a tool")
    moment = None
    if time is not None:
        try:
            moment = datetime.fromisoformat(time if isinstance(time, str) else "")
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            moment = zoned.astimezone(UTC)
        except (ValueError, OverflowError):
            raise BadSteps(f"{name}.time must be like 2026-01-31T12:00:00Z") from None
    return Step(
        tool=tool,
        arguments=_changed(fields.get("arguments"), str),
        result=_changed(fields.get("result"), str),
        time=moment,
        error=error if isinstance(error, str) and error else None,
    )


def _of_tool_call(call: object) -> Step | None:
    fields = cast(dict[str, object], call) if isinstance(call, dict) else {}
    # {"function": {"name", "arguments": text of JSON}}, or {"custom": {"name", "input": text}}
    function = fields.get("function") or fields.get("custom")
    described = cast(dict[str, object], function) if isinstance(function, dict) else {}
    name = described.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    arguments = described.get("arguments", described.get("input"))
    if isinstance(arguments, str):
        # Text that is not JSON, or nested too deep, is kept as text, to be judged as it is.
        with contextlib.suppress(ValueError, RecursionError):
            arguments = _changed(json.loads(arguments, parse_constant=_no_constant), str)
    return Step(tool=name, arguments=arguments)


def _no_constant(name: str) -> None:
    """JSON has no NaN or Infinity, but Python's parser accepts them."""
    raise ValueError(f"{name} is not a JSON value")


def _changed(value: Any, change: Callable[[str], str], depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise BadSteps("steps are nested too deep")
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_changed(item, change, depth + 1) for item in cast(Iterable[Any], value)]
    if isinstance(value, dict):
        pairs = cast(dict[Any, Any], value).items()
        return {change(str(key)): _changed(item, change, depth + 1) for key, item in pairs}
    return value
