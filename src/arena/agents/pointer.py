"""Finds a value in a JSON answer: `/choices/0/text`, `choices.0.text` or `$.choices[0].text`."""

import re
from typing import cast

_INDEX = re.compile(r"\[(\d+)\]")


class NotThere(LookupError):
    """The pointer leads nowhere; the message says how far it led."""


def value_at(document: object, pointer: str) -> object:
    """The value that `pointer` leads to."""
    value = document
    for step in steps(pointer):
        value = _child(value, step, pointer)
    return value


def steps(pointer: str) -> list[str]:
    """The keys and indexes of a pointer, in any of its three spellings."""
    if pointer.startswith("/"):
        # In this spelling (RFC 6901) a key can hold every character.
        return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]
    dotted = _INDEX.sub(r".\1", pointer.removeprefix("$"))
    return dotted.removeprefix(".").split(".")


def _child(value: object, step: str, pointer: str) -> object:
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        if step in fields:
            return fields[step]
        raise NotThere(f"{pointer!r} leads nowhere: there is no key {step!r}")
    if isinstance(value, list):
        items = cast(list[object], value)
        if step.isdecimal() and int(step) < len(items):
            return items[int(step)]
        raise NotThere(f"{pointer!r} leads nowhere: the list has no item {step!r}")
    raise NotThere(f"{pointer!r} leads nowhere: {step!r} is asked of a plain value")
