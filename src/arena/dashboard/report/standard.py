"""A standard, field by field under the names of the YAML file, as the dashboard shows it.

It knows the shapes of values and no kind of standard, so a new kind needs no change here.
"""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from arena.dashboard.report.markup import Html, element, joined, untrusted

MOST_CHARACTERS = 4_000
"""Per value; the data file next to the page has all of it."""
MOST_VALUES = 100
FILES = ("hidden", "files")
"""Fields that hold whole files, shown by their names."""


def standard(kind: str, body: Mapping[str, object]) -> Html:
    """What a good answer is."""
    fields = [
        element(
            "div",
            element("dt", untrusted(_words(name))),
            element("dd", _value(_names(value) if name in FILES else value)),
        )
        for name, value in body.items()
        if value is not None and value is not False
    ]
    return joined(
        element("p", untrusted(_words(kind)), class_="name"),
        element("dl", *fields, class_="standard") if fields else None,
    )


def _value(value: object) -> Html:
    if isinstance(value, list):
        values = cast(Sequence[object], value)
        lines = [element("li", _part(one)) for one in values[:MOST_VALUES]]
        if len(values) > MOST_VALUES:
            lines.append(element("li", f"and {len(values) - MOST_VALUES:,} more"))
        return element("ul", *lines)
    return _part(value)


def _names(value: object) -> object:
    return sorted(cast(Mapping[str, object], value)) if isinstance(value, Mapping) else value


def _part(value: object) -> Html:
    """A part of a composite names its kind as `type`, or as `validation` like a test."""
    if isinstance(value, Mapping):
        part = dict(cast(Mapping[str, object], value))
        if part.keys() & {"type", "validation", "expected"}:
            kind = part.pop("type", None) or part.pop("validation", None) or "contains"
            inner = part.pop("expected", None)
            body: Mapping[str, object] = (
                cast(Mapping[str, object], inner) if isinstance(inner, Mapping) else {}
            )
            return standard(str(kind), {**body, **part})
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
    return element("code", untrusted(cut))


def _words(key: str) -> str:
    return key.replace("_", " ")
