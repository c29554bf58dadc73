"""An answer that arrives as an event stream (`text/event-stream`), piece by piece."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import cast

from arena.agents.connector import (
    MAX_OUTPUT_BYTES,
    Answer,
    answer_from_text,
    has_output,
    named_context,
    named_language,
    reported_steps,
)
from arena.agents.pointer import NotThere, usage_at, value_at
from arena.agents.spec import HttpSpec, UsagePointers
from arena.errors import AgentCrashed
from arena.models.step import steps_of_tool_calls
from arena.models.usage import Usage, usage_from

MEDIA_TYPE = "text/event-stream"
MAX_STREAM_BYTES = 32 * MAX_OUTPUT_BYTES
"""A stream wraps every few characters in an event of some hundred bytes."""
END = "[DONE]"

_LINE_END = re.compile(rb"\r\n|\n|\r")
_WHOLE_TEXT = ("output", "text", "content")
"""Where an event that is no delta may have text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: its type, and its lines of data."""

    kind: str
    data: str


class EventReader:
    """Splits the bytes of a stream into events."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        """The parts of a line that has not ended yet; joined once, when it ends."""
        self._after_cr = False
        self._kind = ""
        self._data: list[str] = []

    def add(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in this chunk."""
        if self._after_cr:  # the second half of a CRLF
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        *lines, rest = _LINE_END.split(chunk)
        for line in lines:
            self._rest.append(line)
            whole, self._rest = b"".join(self._rest), []
            yield from self._line(whole)
        self._rest.append(rest)

    def end(self) -> Iterator[Event]:
        """The event that the end of the stream completes; many servers omit the last empty line."""
        yield from self._line(b"".join(self._rest))
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[Event]:
        if line:
            name, _, value = line.decode("utf-8", errors="replace").partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._kind = value
            return
        if self._data:
            yield Event(kind=self._kind, data="\n".join(self._data))
        self._kind, self._data = "", []


class StreamedAnswer:
    """Joins the pieces of an answer.

    An event has plain text, a chunk in the format of OpenAI, or JSON with its piece where the
    agent's file says (`answer`) or under `output`, `text`, `content` or `delta`.
    """

    def __init__(self, spec: HttpSpec, excerpt: Callable[[str], str]) -> None:
        self._spec = spec
        self._excerpt = excerpt
        """Makes text fit for a message: redacted and short."""
        self.is_done = False
        self.size = 0
        """How many characters have arrived."""
        self._pieces: list[str] = []
        self._whole: list[str] = []
        """Text of events that are no deltas; some agents send all of it again at the end."""
        self._calls: dict[str, dict[str, str]] = {}
        self._usage = Usage()
        self._final: Mapping[str, object] = {}
        self._reported: Mapping[str, object] = {}
        """The last event that has `steps`."""
        self._is_cut = False
        self._last = ""

    def add(self, event: Event) -> None:
        """Add one event; raises `AgentCrashed` if it reports an error."""
        data = self._last = event.data
        if event.kind == "error":
            raise AgentCrashed(f"the agent sent an error: {self._excerpt(data)}")
        if data.strip() == END:
            self.is_done = True
            return
        value = _json(data)
        if isinstance(value, dict):
            self._add_document(cast(dict[str, object], value))
        elif self._spec.answer is None:
            self._add_text(value if isinstance(value, str) else data, is_piece=True)

    def answer(self) -> Answer:
        """The whole answer."""
        text = "".join(self._pieces) or "".join(self._whole)
        steps = steps_of_tool_calls([{"function": call} for call in self._calls.values()])
        problem = None
        if not steps:
            steps, problem = reported_steps(self._reported)
        if not text.strip() and not steps and self._last:
            where = "say with 'answer' where it is in an event"
            raise AgentCrashed(f"the stream has no text; {where}: {self._excerpt(self._last)}")
        is_cut = self._is_cut or self.size > MAX_OUTPUT_BYTES
        answer = answer_from_text(text, usage=self._usage, truncated=is_cut, steps=steps)
        return replace(
            answer,
            steps_problem=problem,
            language=named_language(self._final),
            context=named_context(self._final),
        )

    def _add_document(self, value: dict[str, object]) -> None:
        if value.get("error"):
            raise AgentCrashed(f"the agent sent an error: {self._excerpt(self._last)}")
        self._note_usage(value)
        if isinstance(value.get("steps"), list):
            self._reported = value
        if self._spec.answer is not None:
            with contextlib.suppress(NotThere):
                self._add_text(value_at(value, self._spec.answer), is_piece=True)
            return
        if has_output(value):
            self._final = value
            if "steps" in value:
                self._reported = value
            self._is_cut |= value.get("truncated") is True
        choices = value.get("choices")
        if isinstance(choices, list) and choices:
            self._add_choice(_mapping(cast(list[object], choices)[0]))
        elif "delta" in value:
            delta, kind = value["delta"], str(value.get("type") or "text.delta")
            if fields := _mapping(delta):
                delta = fields.get("text", fields.get("content"))
            if kind.endswith(("text.delta", "block_delta")):  # others are deltas of tool calls
                self._add_text(delta, is_piece=True)
        else:
            text = next((value[name] for name in _WHOLE_TEXT if value.get(name) is not None), None)
            self._add_text(text, is_piece=False)

    def _add_choice(self, choice: Mapping[str, object]) -> None:
        """A chunk in the format of OpenAI."""
        self._is_cut |= choice.get("finish_reason") == "length"
        delta = _mapping(choice.get("delta"))
        self._add_text(delta.get("content") or choice.get("text"), is_piece=True)
        self._add_text(_mapping(choice.get("message")).get("content"), is_piece=False)
        calls = delta.get("tool_calls")
        for call in cast(list[object], calls) if isinstance(calls, list) else []:
            index = str(_mapping(call).get("index"))
            function = _mapping(_mapping(call).get("function"))
            whole = self._calls.setdefault(index, {"name": "", "arguments": ""})
            for name in whole:
                piece = function.get(name)
                if isinstance(piece, str):
                    whole[name] += piece
                    self.size += len(piece)

    def _add_text(self, text: object, *, is_piece: bool) -> None:
        if text is None:
            return
        piece = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        self.size += len(piece)
        (self._pieces if is_piece else self._whole).append(piece)

    def _note_usage(self, value: Mapping[str, object]) -> None:
        """Keep what the event says about usage; later events win."""
        if self._spec.usage != UsagePointers():
            found = usage_at(value, self._spec.usage)
        else:
            usage = _mapping(value.get("usage"))
            names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
            fields = {name: usage.get(name, usage.get(other)) for name, other in names.items()}
            fields |= {"model": usage.get("model") or value.get("model")}
            found = usage_from({**fields, "cost_usd": usage.get("cost_usd")})
        known = {name: given for name, given in asdict(found).items() if given is not None}
        if known:
            self._usage = replace(self._usage, **known)


def _json(data: str) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data


def _mapping(value: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}
