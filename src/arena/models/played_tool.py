"""A tool that Arena plays for an agent: what it is called, and what it answers.

Fixed answers, answers by arguments, recorded answers, and faults. `agents/playing.py` plays them;
`catalog/tool_reading.py` reads them from a test file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FaultKind = Literal["timeout", "error", "garbage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFault:
    """How a tool fails."""

    kind: FaultKind
    """`timeout` and `error`: the agent is told so. `garbage`: it gets broken JSON."""
    message: str | None = None
    """What the agent is told; null: a general message."""
    calls: tuple[int, ...] = ()
    """Which calls fail, counted from 1 in every turn; empty: all."""

    def is_for(self, call: int) -> bool:
        """Whether the call with this number fails."""
        return not self.calls or call in self.calls


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answers to some calls."""

    arguments: Mapping[str, Any] | None = None
    """The calls: those with these arguments, whatever else they have; null: all."""
    answer: Any = None
    """A JSON value."""
    fault: ToolFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call that was recorded, with its outcome."""

    arguments: Any = None
    result: Any = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTool:
    """A tool of a test."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """A JSON Schema of the arguments."""
    answers: tuple[ToolAnswer, ...] = ()
    """The first one for the arguments is given."""
    recorded: tuple[RecordedCall, ...] | None = None
    """Played instead of `answers`; a call that was not recorded is an error."""
    fault: ToolFault | None = None
    """Of the calls it is for, whatever their arguments."""


def played_tool(body: Mapping[str, Any]) -> PlayedTool:
    """The tool of a test, from its stored body, which has been checked."""
    values: dict[str, Any] = {
        name: body[name] for name in ("name", "description", "parameters") if name in body
    }
    if "recorded" in body:
        recorded = (
            RecordedCall(
                arguments=one.get("arguments"), result=one.get("result"), error=one.get("error")
            )
            for one in body["recorded"]
        )
        values["recorded"] = tuple(recorded)
    elif "answers" in body:
        values["answers"] = tuple(
            ToolAnswer(
                arguments=one.get("arguments"),
                answer=one.get("answer"),
                fault=_fault(one.get("fault")),
            )
            for one in body["answers"]
        )
    else:
        values["answers"] = (ToolAnswer(answer=body.get("answer")),)
    return PlayedTool(**values, fault=_fault(body.get("fault")))


def _fault(value: str | Mapping[str, Any] | None) -> ToolFault | None:
    if value is None:
        return None
    if isinstance(value, str):
        return ToolFault(kind=value)  # pyright: ignore[reportArgumentType]
    calls = tuple(value.get("calls", ()))
    return ToolFault(kind=value["kind"], message=value.get("message"), calls=calls)
