"""Finds values in a JSON document: `/choices/0/text`, `choices.0.text` or `$.choices[0].text`."""

import contextlib
import re
from typing import cast

from arena.agents.spec import UsagePointers
from arena.models.usage import Usage, usage_from

_INDEX = re.compile(r"\[(\d+)\]")


class NotThere(LookupError):
    """The pointer has no target; the message says where it failed."""


def value_at(document: object, pointer: str) -> object:
    """The value at `pointer`."""
    value = document
    for key in keys_of(pointer):
        value = _child(value, key, pointer)
    return value


def keys_of(pointer: str) -> list[str]:
    """The keys and indexes of a pointer, in any of its three notations."""
    if pointer.startswith("/"):
        # In this notation (RFC 6901) a key can contain any character.
        return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]
    dotted = _INDEX.sub(r".\1", pointer.removeprefix("$"))
    return dotted.removeprefix(".").split(".")


def _child(value: object, step: str, pointer: str) -> object:
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        if step in fields:
            return fields[step]
        raise NotThere(f"{pointer!r} not found: there is no key {step!r}")
    if isinstance(value, list):
        items = cast(list[object], value)
        if step.isdecimal() and int(step) < len(items):
            return items[int(step)]
        raise NotThere(f"{pointer!r} not found: the list has no item {step!r}")
    raise NotThere(f"{pointer!r} not found: the parent of {step!r} is not an object or a list")


def usage_at(document: object, pointers: UsagePointers) -> Usage:
    """The usage in an answer; missing values are unknown."""
    fields: dict[str, object] = {}
    for name in ("input_tokens", "output_tokens", "model", "cost_usd"):
        pointer: str | None = getattr(pointers, name)
        if pointer is not None:
            with contextlib.suppress(NotThere):
                fields[name] = value_at(document, pointer)
    return usage_from(fields)
