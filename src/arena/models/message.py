"""The messages of a conversation with an agent."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

Role = Literal["system", "user", "assistant"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: what the user said, or what the agent replied."""

    role: Role
    content: str


class BadMessages(ValueError):
    """A list of messages that cannot be used; the message says why."""


def as_json(message: Message) -> dict[str, str]:
    """A message as it is stored, and as agents get it."""
    return {"role": message.role, "content": message.content}


def stored_message(value: Mapping[str, Any]) -> Message:
    """The message that `as_json` stored."""
    return Message(role=value["role"], content=value["content"])


def read_messages(value: object) -> tuple[Message, ...]:
    """The messages in JSON of unknown origin; raises `BadMessages`."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadMessages("messages must be a list")
    return tuple(
        _read_message(f"messages[{n}]", one) for n, one in enumerate(cast(list[object], value))
    )


def with_text(messages: Iterable[Message], change: Callable[[str], str]) -> tuple[Message, ...]:
    """The messages with their text changed."""
    return tuple(replace(message, content=change(message.content)) for message in messages)


def _read_message(name: str, value: object) -> Message:
    fields = cast(Mapping[str, object], value if isinstance(value, dict) else {})
    role, content = fields.get("role"), fields.get("content")
    if role not in ROLES:
        raise BadMessages(f"{name}.role must be one of {', '.join(ROLES)}")
    if not isinstance(content, str):
        raise BadMessages(f"{name}.content must be text")
    return Message(role=role, content=content)
