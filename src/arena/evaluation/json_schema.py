"""JSON Schema on untrusted answers: no fetching, no endless regular expressions."""

# The stubs of jsonschema leave half of its types open:
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import regex

PATTERN_SECONDS = 2.0
"""How long one regular expression may search one answer."""


class TooSlow(Exception):
    """A regular expression took longer than it may."""


def schema_fault(schema: Mapping[str, object] | bool) -> str | None:
    """What is wrong with a schema, or None."""
    from jsonschema.exceptions import SchemaError  # slow to import, and few tests need it

    try:
        _validator_class().check_schema(schema)
        json.dumps(schema, allow_nan=False)
    except SchemaError as wrong:
        return f"{wrong.message} (at {wrong.json_path})"
    except (TypeError, ValueError) as wrong:
        return str(wrong)
    return None


def first_misfit(schema: Mapping[str, object] | bool, value: object) -> str | None:
    """Why `value` does not fit the schema (the most telling reason), or None where it does."""
    from jsonschema.exceptions import best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    # An empty registry: a $ref to a web address is never fetched.
    validator = _validator_class()(schema, registry=Registry())
    try:
        error = best_match(validator.iter_errors(value))
    except Unresolvable as missing:
        return f"the schema refers to {missing.ref!r}, which it does not contain"
    except TooSlow as slow:
        return str(slow)
    except RecursionError:
        return "the answer is nested too deep to be checked"
    return f"{error.message} (at {error.json_path})" if error else None


@functools.cache
def _validator_class() -> Any:
    """The 2020-12 validator with the patterns of a schema under a time limit."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def pattern(_validator: Any, wanted: str, value: object, _schema: Any) -> Iterator[Any]:
        if isinstance(value, str) and not _found(wanted, value):
            yield ValidationError(f"{value[:80]!r} does not match {wanted!r}")

    def pattern_properties(
        validator: Any, patterns: dict[str, Any], value: object, _schema: Any
    ) -> Iterator[Any]:
        if not isinstance(value, dict):
            return
        for wanted, subschema in patterns.items():
            for key, member in cast(dict[str, object], value).items():
                if _found(wanted, key):
                    yield from validator.descend(member, subschema, path=key, schema_path=wanted)

    own = {"pattern": pattern, "patternProperties": pattern_properties}
    return extend(Draft202012Validator, validators=own)


def _found(pattern: str, text: str) -> bool:
    try:
        return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError as late:
        message = f"the pattern {pattern!r} took longer than {PATTERN_SECONDS:g} s on this answer"
        raise TooSlow(message) from late
