"""The steps in the events of an A2A agent.

The protocol has no tool calls of its own. Two forms are read: `steps` in metadata, as in the
answers of every agent; and data parts as the Agent Development Kit sends them, whose metadata has
`adk_type` (or `type`): `function_call` (`id`, `name`, `args`) or `function_response` (`id`, `name`,
`response`). Such parts are not text of the answer.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from a2a.types import Part
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from arena.agents.connector import reported_steps
from arena.models.step import MAX_STEPS, Step

CALL, RESPONSE = "function_call", "function_response"
TYPE_KEYS = ("adk_type", "type")


def _digest(reported: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(reported, sort_keys=True).encode()).hexdigest()


def part_type(part: Part) -> str | None:
    """Whether a part is a call or a response; None if it is neither."""
    if not part.HasField("data"):
        return None
    for key in TYPE_KEYS:
        value = part.metadata.fields[key].string_value if key in part.metadata.fields else ""
        if value in (CALL, RESPONSE):
            return value
    return None


class EventSteps:
    """Collects the steps; events repeat what earlier ones have said.

    `before` are those that the task had in earlier turns of a conversation (`known`): it repeats
    its whole history in every turn.
    """

    def __init__(self, before: Iterable[str] = ()) -> None:
        self._before = frozenset(before)
        self._steps: dict[str, Step] = {}
        """By the id of the call, or else by its place."""
        self._answered: set[str] = set()
        self._reported: Mapping[str, object] = {}

    @property
    def known(self) -> tuple[str, ...]:
        """What has been read so far, also in earlier turns."""
        reported = {_digest(self._reported)} if self._reported else set[str]()
        return tuple(self._before | self._answered | self._steps.keys() | reported)

    @property
    def steps(self) -> tuple[tuple[Step, ...], str | None]:
        """The steps, and why they are not what the agent reported."""
        if self._steps:
            return tuple(self._steps.values()), None
        if self._reported and _digest(self._reported) in self._before:
            return (), None
        return reported_steps(self._reported)

    def note(self, metadata: Struct) -> None:
        """Keep the `steps` in metadata; later ones win."""
        if "steps" in metadata.fields:
            self._reported = {"steps": cast(object, MessageToDict(metadata)["steps"])}

    def add(self, parts: Iterable[Part], place: str) -> None:
        """Add the calls and responses among the parts; `place` is the id of what holds them."""
        for number, part in enumerate(parts):
            kind = part_type(part)
            if kind is None or len(self._steps) > MAX_STEPS:
                continue
            # Of any JSON value, whatever the types of the library say.
            value = cast(object, MessageToDict(part.data))
            body = cast(dict[str, Any], value) if isinstance(value, dict) else {}
            name, call = body.get("name"), body.get("id")
            if not isinstance(name, str) or not name.strip():
                continue
            key = call if isinstance(call, str) and call else f"{place} {number}"
            if key in self._before:
                continue
            if kind == CALL:
                self._steps.setdefault(key, Step(tool=name, arguments=body.get("args")))
            else:
                self._respond(key, name, body.get("response"))

    def _respond(self, key: str, name: str, response: object) -> None:
        if key in self._answered:
            return
        self._answered.add(key)
        if key not in self._steps:
            # Without an id it belongs to the oldest call of the tool that has no response yet.
            open_calls = (
                one
                for one, step in self._steps.items()
                if step.tool == name and one not in self._answered
            )
            key = next(open_calls, key)
            self._answered.add(key)
        step = self._steps.get(key) or Step(tool=name)
        fields = cast(dict[str, object], response) if isinstance(response, dict) else {}
        error = fields.get("error")
        self._steps[key] = replace(
            step, result=response, error=error if isinstance(error, str) and error else None
        )
