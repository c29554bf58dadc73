"""Parses what a submission wrote to its result descriptor, as untrusted bytes.

One line per result: [index, "value", value, output_bytes], [index, "error", text, output_bytes] or
[index, "memory", text, output_bytes]; index -1 means that the submission could not be loaded. The
indices must come in order, each once. Anything else is a violation: that case and all later ones
fail.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from arena.sandbox.errors import ProtocolViolation
from arena.sandbox.harness.encode import MAX_DEPTH
from arena.sandbox.limits import Limit
from arena.sandbox.ports import CaseOutcome
from arena.sandbox.values import UNDEFINED, MapValue, SetValue

LINE_FIELDS = 4
MAX_VALUES = 1_000_000
"""In all results of a run: two bytes of JSON can become a hundred bytes of Python objects."""
_CONSTANTS = {"nan": math.nan, "infinity": math.inf, "-infinity": -math.inf, "undefined": UNDEFINED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The parsed outcomes, and why parsing stopped."""

    outcomes: Sequence[CaseOutcome]
    output_marks: Sequence[int]
    """How many bytes of standard output had been written at each outcome."""
    failure: CaseOutcome | None = None
    """The outcome for every case without one; None if unknown."""


def over_limit(limit: Limit, detail: str = "", duration_ms: float = 0.0) -> CaseOutcome:
    """The outcome of a case that a limit ended."""
    error = f"over the limit: {limit.value}{detail}"
    return CaseOutcome(error=error, limit=limit, duration_ms=duration_ms)


def decode(text: str | bytes) -> object:
    """The value of one tagged JSON document from a submission."""
    if has_too_many_values(text if isinstance(text, bytes) else text.encode(errors="replace")):
        raise ProtocolViolation(f"a result holds more than {MAX_VALUES:,} values")
    return _decode(text)


def has_too_many_values(data: bytes) -> bool:
    """Whether `data` holds more values than are safe to decode; only counts, never decodes."""
    if _count(data) <= MAX_VALUES:
        return False
    # Commas inside strings do not count: look only at the text between the strings.
    plain = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return (
        plain.count(b'"') > 2 * MAX_VALUES or _count(b"".join(plain.split(b'"')[::2])) > MAX_VALUES
    )


def _count(data: bytes) -> int:
    return sum(map(data.count, (b",", b"[", b"{")))


def _decode(text: str | bytes) -> object:
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        raise ProtocolViolation("a result is nested too deeply") from None
    except ValueError as error:
        raise ProtocolViolation(f"a result is not valid JSON: {error}") from None
    _check_depth(value)
    return value


def read_results(data: bytes, expected_count: int) -> Results:
    """Every outcome in `data`, up to the first violation."""
    if has_too_many_values(data):
        failure = over_limit(Limit.RESULT, f" (more than {MAX_VALUES:,} values)")
        return Results(outcomes=(), output_marks=(), failure=failure)
    outcomes: list[CaseOutcome] = []
    marks: list[int] = []
    try:
        if data.count(b"\n") > expected_count:
            raise ProtocolViolation("there are more results than inputs")
        lines = data.split(b"\n")
        if lines.pop():
            raise ProtocolViolation("the last result is cut off")
        for line in lines:
            index, outcome, mark = _read_line(line)
            if index == -1 and not outcomes:
                return Results(outcomes=(), output_marks=(), failure=outcome)
            if index != len(outcomes) or index >= expected_count:
                raise ProtocolViolation(f"got result {index}, expected result {len(outcomes)}")
            outcomes.append(outcome)
            marks.append(mark)
    except ProtocolViolation as violation:
        failure = CaseOutcome(error=f"protocol violation: {violation}")
        return Results(outcomes=outcomes, output_marks=marks, failure=failure)
    return Results(outcomes=outcomes, output_marks=marks)


def _read_line(line: bytes) -> tuple[int, CaseOutcome, int]:
    fields = _decode(line)
    if not isinstance(fields, list) or len(cast("list[object]", fields)) != LINE_FIELDS:
        raise ProtocolViolation("a result does not have its four fields")
    index, kind, content, mark = cast("list[object]", fields)
    # Exactly: a bool is an int too.
    if type(index) is not int or type(mark) is not int:
        raise ProtocolViolation("a result has an index or a mark that is not a number")
    if kind == "value":
        return index, CaseOutcome(value=content), mark
    if kind == "error":
        return index, CaseOutcome(error=str(content)), mark
    if kind == "memory":
        outcome = CaseOutcome(error=f"{content} (over the limit: memory)", limit=Limit.MEMORY)
        return index, outcome, mark
    raise ProtocolViolation(f"a result has the unknown kind {kind!r}")


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, object]]) -> object:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("an object has a key twice")
    tag = document.get("$arena")
    if tag is None:
        return document
    if isinstance(tag, str) and tag in _CONSTANTS and len(document) == 1:
        return _CONSTANTS[tag]
    if tag == "set":
        return SetValue(_list(document.get("members")))
    entries = [_entry(entry) for entry in _list(document.get("entries"))]
    if tag == "map":
        return MapValue(entries)
    if tag == "object":
        return {str(key): value for key, value in entries}
    raise ValueError(f"unknown tag {tag!r}")


# Built once: with hooks, json.loads would build one for every line.
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_constant)


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("a tagged value has no list")
    return cast("list[object]", value)


def _entry(value: object) -> tuple[object, object]:
    entry = _list(value)
    if len(entry) != 2:
        raise ValueError("an entry is not a pair")
    return entry[0], entry[1]


def _check_depth(value: object) -> None:
    """Raise if `value` is nested deeper than the encoder of the harness allows."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 8):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return
    raise ProtocolViolation("a result is nested too deeply")


def _inside(value: object) -> Sequence[object]:
    if isinstance(value, list):
        return cast("list[object]", value)
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    if isinstance(value, SetValue):
        return value.members
    if isinstance(value, MapValue):
        return [part for entry in value.entries for part in entry]
    return ()


def complete(results: Results, count: int, failure: CaseOutcome) -> list[CaseOutcome]:
    """One outcome per input: the missing ones have failed."""
    missing = count - len(results.outcomes)
    return [*results.outcomes, *[results.failure or failure] * missing]
