"""Where two documents differ, as deep as it can be told."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from arena.content.canonical import canonical
from arena.evaluation.faults import Path, dotted


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A place where a record does not say what comes out."""

    path: str
    recorded: object
    recomputed: object
    steps: Path = ()
    """The path, step by step: the names in it may hold dots."""


def differences(recorded: object, recomputed: object, at: Path = ()) -> Iterator[Difference]:
    """Each place where the two JSON values differ."""
    members = _members(recorded, recomputed)
    if members is None:
        if canonical(recorded) != canonical(recomputed):
            yield Difference(path=dotted(at), recorded=recorded, recomputed=recomputed, steps=at)
        return
    for step, left, right in members:
        yield from differences(left, right, (*at, step))


def _members(left: object, right: object) -> list[tuple[str | int, object, object]] | None:
    """What is inside both, pair by pair; None where they can only be compared as they are."""
    if isinstance(left, dict) and isinstance(right, dict):
        one, other = cast("dict[str, object]", left), cast("dict[str, object]", right)
        return [(key, one.get(key), other.get(key)) for key in sorted(one.keys() | other.keys())]
    if isinstance(left, list) and isinstance(right, list):
        first, second = cast("list[object]", left), cast("list[object]", right)
        if len(first) == len(second):
            pairs = zip(first, second, strict=True)
            return [(place, *pair) for place, pair in enumerate(pairs)]
    return None
