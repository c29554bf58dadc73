"""JSON Schema on untrusted answers: nothing is fetched, and every check has a time limit."""

# The stubs of jsonschema leave half of its types open:
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import functools
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from arena.evaluation.pattern import (
    TooSlow,
    pattern_fault,
    refuse_if_only_quick,
    search,
    time_limit,
    too_slow,
)
from arena.evaluation.text import excerpt

SCHEMA_SECONDS = 5.0
"""CPU time for one answer and one schema. Not wall time: a busy machine must not fail answers."""

_deadline: ContextVar[float] = ContextVar("deadline")

Check = Callable[[Any, Any, Any, Any], Iterator[Any] | None]
"""A keyword of JSON Schema: (validator, the keyword's value, the answer's value, the schema)."""


def schema_fault(schema: Mapping[str, object] | bool) -> str | None:
    """What is wrong with a schema, or None."""
    # Imported in functions, here and below: jsonschema takes 60 ms to load, and few tests need it.
    from jsonschema.exceptions import SchemaError

    try:
        _validator_class().check_schema(schema, format_checker=_pattern_format())
        json.dumps(schema, allow_nan=False)
        return _reference_fault(schema)
    except SchemaError as error:
        cause = f": it {error.cause}" if error.cause else ""
        return f"{error.message}{cause} (at {error.json_path})"
    except (TypeError, ValueError) as error:
        return str(error)
    except RecursionError:
        return "it is nested too deep"


def _reference_fault(schema: Mapping[str, object] | bool) -> str | None:
    """A reference without a target, or a cycle of references that never descends into a value."""
    # Besides the schema itself a reference may target the schemas of the specification.
    from jsonschema_specifications import REGISTRY  # pyright: ignore[reportMissingTypeStubs]
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root = DRAFT202012.create_resource(cast(Any, schema))
    uri = root.id() or ""
    waiting = deque([(root, REGISTRY.with_resource(uri, root).crawl().resolver(uri), True)])
    same_value: dict[int, list[int]] = {}
    """For each subschema (by identity), the subschemas that are applied to the same value."""
    while waiting:
        resource, resolver, is_checked = waiting.pop()
        contents = resource.contents
        if not isinstance(contents, Mapping) or id(contents) in same_value:
            continue
        if not is_checked:
            _validator_class().check_schema(contents, format_checker=_pattern_format())
        same_value[id(contents)] = tried = [id(one) for one in _tried_here(contents)]
        for child in resource.subresources():
            waiting.append((child, resolver.in_subresource(child), True))
        for ref in (contents[name] for name in ("$ref", "$dynamicRef") if name in contents):
            try:
                found = resolver.lookup(ref)
            except Unresolvable:
                return f"it refers to {excerpt(ref)!r}, which it does not contain"
            tried.append(id(found.contents))
            # After all children: a target still unseen then is outside the subschema keywords, so
            # it was not checked with the rest.
            target = DRAFT202012.create_resource(found.contents)
            waiting.appendleft((target, found.resolver, False))
    try:
        TopologicalSorter(same_value).prepare()
    except CycleError:
        return "it refers to itself without end"
    return None


def _tried_here(schema: Mapping[str, Any]) -> Iterator[object]:
    """The subschemas that apply to the value itself, not to its parts."""
    for name in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(name, ())
    for name in ("not", "if", "then", "else"):
        if name in schema:
            yield schema[name]
    yield from schema.get("dependentSchemas", {}).values()


def first_misfit(schema: Mapping[str, object] | bool, value: object) -> str | None:
    """Why `value` does not fit the schema (the most relevant reason), or None if it does."""
    from jsonschema.exceptions import best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if _has_unlimited_search(schema):
        refuse_if_only_quick()
    # An empty registry: a $ref to a web address is never fetched.
    validator = _validator_class()(schema, registry=Registry())
    before = _deadline.set(time.thread_time() + time_limit(SCHEMA_SECONDS))
    try:
        error = best_match(validator.iter_errors(value))
    except Unresolvable as missing:
        return f"the schema refers to {missing.ref!r}, which it does not contain"
    except TooSlow as slow:
        return str(slow)
    except RecursionError:
        return "the answer is nested too deep to be checked"
    except (OverflowError, ZeroDivisionError) as error:
        return f"the answer has a number that cannot be checked: {error}"
    finally:
        _deadline.reset(before)
    return f"{excerpt(error.message)} (at {excerpt(error.json_path)})" if error else None


def _has_unlimited_search(schema: Mapping[str, object] | bool) -> bool:
    """Whether the library may search for a pattern itself, without a limit and with the GIL."""
    seen: set[int] = set()  # a schema from YAML may hold one part in many places
    keys: set[str] = set()
    pending: list[Any] = [schema]
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            keys |= part.keys()
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)
    return {"patternProperties", "unevaluatedProperties"} <= keys


@functools.cache
def _validator_class() -> Any:
    """The 2020-12 validator with a time limit on every keyword."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    own = {
        "additionalProperties": _additional_properties,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
    }
    keywords: dict[str, Check] = {**Draft202012Validator.VALIDATORS, **own}
    return extend(Draft202012Validator, {name: _timed(check) for name, check in keywords.items()})


def _timed(check: Check) -> Check:
    """The check, which stops when the time for the whole answer is used up."""

    def timed(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        _check_time()
        yield from check(validator, wanted, value, schema) or ()

    return timed


def _check_time() -> None:
    if time.thread_time() > _deadline.get(float("inf")):
        raise too_slow(f"checking the answer took longer than {SCHEMA_SECONDS:g} s")


def _pattern(_validator: Any, wanted: str, value: object, _schema: Any) -> Iterator[Any]:
    if isinstance(value, str) and not search(wanted, value, case_sensitive=True):
        yield _misfit(f"{excerpt(value)!r} does not match {wanted!r}")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], value: object, _schema: Any
) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for wanted, subschema in patterns.items():
        for key, member in cast(dict[str, object], value).items():
            if search(wanted, key, case_sensitive=True):
                yield from validator.descend(member, subschema, path=key, schema_path=wanted)


def _additional_properties(
    validator: Any, wanted: Any, value: object, schema: dict[str, Any]
) -> Iterator[Any]:
    # The library searches for the patterns of the other properties without a time limit.
    if not isinstance(value, dict):
        return
    patterns: dict[str, Any] | None = schema.get("patternProperties")
    extras: list[str] = []
    for key, member in cast(dict[str, object], value).items():
        _check_time()
        if key in schema.get("properties", {}):
            continue
        if any(search(pattern, key, case_sensitive=True) for pattern in patterns or ()):
            continue
        if isinstance(wanted, dict):
            yield from validator.descend(member, wanted, path=key)
        elif not wanted:
            extras.append(key)
    if extras:
        yield _misfit(_additional_message(sorted(extras), patterns))


def _additional_message(extras: list[str], patterns: dict[str, Any] | None) -> str:
    """In the words of the library, which records hold."""
    keys, is_one = ", ".join(map(repr, extras)), len(extras) == 1
    if patterns is None:
        verb = "was" if is_one else "were"
        return f"Additional properties are not allowed ({keys} {verb} unexpected)"
    known = ", ".join(map(repr, sorted(patterns)))
    return f"{keys} {'does' if is_one else 'do'} not match any of the regexes: {known}"


def _unique_items(_validator: Any, wanted: bool, value: object, _schema: Any) -> Iterator[Any]:
    # The library compares every item with every other: minutes for a long answer.
    if wanted and isinstance(value, list):
        items = cast(list[object], value)
        if len({_identity(item) for item in items}) < len(items):
            yield _misfit("the list has the same item twice")


def _identity(value: object) -> str:
    """A text that is equal for equal JSON values: 1 equals 1.0, but not true.

    Not the values themselves: one can choose numbers that all have the same hash.
    """
    _check_time()
    if isinstance(value, list):
        return f"[{','.join(_identity(item) for item in cast(list[object], value))}]"
    if isinstance(value, dict):
        members = sorted(cast(dict[str, object], value).items())
        return f"{{{','.join(f'{key!r}:{_identity(member)}' for key, member in members)}}}"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value)


def _misfit(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


@functools.cache
def _pattern_format() -> Any:
    """Checks the regular expressions in a schema itself."""
    from jsonschema import FormatChecker

    formats = FormatChecker(formats=())

    def is_pattern(value: object) -> bool:
        fault = pattern_fault(value) if isinstance(value, str) else None
        if fault:
            raise ValueError(fault)
        return True

    formats.checks("regex", raises=ValueError)(is_pattern)
    return formats
