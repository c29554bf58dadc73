"""Plays the tools of a test for a chat model: what a call gets back, and the step it becomes."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

from arena import clock
from arena.errors import AgentCrashed
from arena.evaluation.guarded import guarded
from arena.evaluation.json_schema import first_misfit
from arena.evaluation.tool_checks import misfit_of
from arena.models.played_tool import PlayedTool, ToolAnswer, ToolFault
from arena.models.step import Step, steps_of_tool_calls
from arena.pools.effort import effort
from arena.pools.workers import SMALL_EFFORT, TooMuchWork
from arena.sandbox.values import equal

MAX_CALLS = 1000
"""Of one question; as many steps as a result keeps."""
MAX_TALK_CHARACTERS = 4 * 1024 * 1024
"""Of all messages together: the model is sent all of them in every round."""
GARBAGE = '{"status": "ok", "data": [{"id": 17, "na\ufffd\ufffd\x1b'
"""Broken JSON, as from a connection that was cut."""
MESSAGES = {"timeout": "the tool timed out", "error": "the tool failed"}


class ToolFailed(Exception):
    """The agent is told that its call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call in a message of a model."""

    id: str
    raw: Mapping[str, object]
    is_legacy: bool = False
    """Whether it is the only call of a message, in the older format (`function_call`)."""


def calls_in(message: Mapping[str, object]) -> tuple[dict[str, object], list[Call]]:
    """The message as it is sent back to the model, and its calls; each of them has an id then."""
    kept = {name: value for name, value in message.items() if value is not None}
    # Some servers want the content in every message, also if there is none.
    kept = {"role": "assistant", "content": None} | kept
    listed = message.get("tool_calls")
    if not isinstance(listed, list) or not listed:
        function = message.get("function_call")
        if not function:
            return kept, []
        return kept, [Call(id="", raw={"function": function}, is_legacy=True)]
    raw = [
        cast(dict[str, object], one) if isinstance(one, dict) else {}
        for one in cast(list[object], listed)
    ]
    calls = [Call(id=str(one.get("id") or f"call_{n}"), raw=one) for n, one in enumerate(raw, 1)]
    kept["tool_calls"] = [
        {"type": "function", **call.raw, "id": call.id} if call.raw else one
        for call, one in zip(calls, cast(list[object], listed), strict=True)
    ]
    return kept, calls


class Playing:
    """The tools of one question, and the calls so far."""

    def __init__(self, tools: Sequence[PlayedTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._counts: Counter[str] = Counter()
        self._used: Counter[int] = Counter()
        """How often each recorded call was played, by its identity."""
        self._talk = 0
        self.steps: list[Step] = []

    @property
    def functions(self) -> list[dict[str, object]]:
        """The tools, as they are offered to a model."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in self._tools.values()
        ]

    def read(self, message: Mapping[str, object]) -> tuple[dict[str, object], list[Call]]:
        """The message as it is sent back to the model, and its calls."""
        self._count(str(message))
        return calls_in(message)

    async def reply(self, call: Call) -> dict[str, object]:
        """Play the call; returns the message that answers it."""
        steps = steps_of_tool_calls([call.raw])
        step, content = await self._played(steps[0]) if steps else (None, _error("it has no name"))
        if step is not None:
            self.steps.append(step)
        if len(self.steps) > MAX_CALLS:
            raise AgentCrashed(f"the model called tools more than {MAX_CALLS:,} times")
        self._count(content)
        if call.is_legacy:
            return {"role": "function", "name": step.tool if step else "", "content": content}
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    def _count(self, text: str) -> None:
        self._talk += len(text)
        if self._talk > MAX_TALK_CHARACTERS:
            raise AgentCrashed("the messages of the model and of its tools have more than 4 MiB")

    async def _played(self, step: Step) -> tuple[Step, str]:
        called = replace(step, time=clock.now(), source="arena")
        try:
            result = await self._result(called)
        except ToolFailed as error:
            message = str(error)
            return replace(called, error=message), _error(message)
        content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return replace(called, result=result), content

    async def _result(self, step: Step) -> Any:
        tool = self._tools.get(step.tool)
        if tool is None:
            known = ", ".join(self._tools)
            raise ToolFailed(f"there is no tool {step.tool!r} here; known: {known}")
        self._counts[tool.name] += 1
        call = self._counts[tool.name]
        given: object = {} if step.arguments in (None, "") else step.arguments
        if not isinstance(given, dict):
            raise ToolFailed("the arguments are not a JSON object")
        arguments = cast(dict[str, Any], given)
        if misfit := await _misfit(tool, arguments):
            raise ToolFailed(f"the arguments do not fit: {misfit}")
        if tool.fault is not None and tool.fault.is_for(call):
            return _failed(tool.fault)
        if tool.recorded is not None:
            return self._recorded(tool, arguments)
        for answer in tool.answers:
            if answer.arguments is None or misfit_of(arguments, dict(answer.arguments)) is None:
                return _answered(answer, call)
        raise ToolFailed("the tool has no answer for these arguments")

    def _recorded(self, tool: PlayedTool, arguments: object) -> Any:
        """The outcome of the recorded call with these arguments; of several, the next one."""
        found = [one for one in tool.recorded or () if equal(one.arguments or {}, arguments)]
        if not found:
            raise ToolFailed("no call with these arguments was recorded")
        one = min(found, key=lambda each: self._used[id(each)])
        if self._used[id(one)]:
            one = found[-1]  # all were played; the last outcome lasts
        self._used[id(one)] += 1
        if one.error is not None:
            raise ToolFailed(one.error)
        return one.result


async def _misfit(tool: PlayedTool, arguments: dict[str, Any]) -> str | None:
    """Why the arguments do not fit the parameters; the model may send anything."""
    is_small = effort(arguments, limit=SMALL_EFFORT) <= SMALL_EFFORT
    check = partial(first_misfit, tool.parameters)
    try:
        return await guarded(check, arguments, is_small=is_small, is_slow=True)
    except TooMuchWork as error:
        return f"checking them {error}"


def _answered(answer: ToolAnswer, call: int) -> Any:
    if answer.fault is not None and answer.fault.is_for(call):
        return _failed(answer.fault)
    return answer.answer


def _failed(fault: ToolFault) -> str:
    if fault.kind == "garbage":
        return GARBAGE
    raise ToolFailed(fault.message or MESSAGES[fault.kind])


def _error(message: str) -> str:
    return json.dumps({"error": message}, ensure_ascii=False)
