"""Reads the bodies of the plain validators."""

from collections.abc import Callable, Mapping
from typing import Literal, cast

from arena.evaluation.faults import Body, name_of
from arena.evaluation.json_schema import schema_fault
from arena.evaluation.pattern import pattern_fault
from arena.evaluation.standard import Exact, JsonSchema, Keywords, Number, Pattern, Simple


def _exact(body: dict[object, object], here: Body) -> Simple | None:
    if not here.only(body, needs="value"):
        return None
    value = here.text(body["value"], ("value",))
    if value is None:
        return None
    sensitive = here.options.case_sensitive
    return Exact(value=value, case_sensitive=True if sensitive is None else sensitive)


def _keywords(
    needed: Literal["all", "any", "none"],
) -> "Reader":
    def read(body: dict[object, object], here: Body) -> Simple | None:
        if not here.only(body, needs="contains"):
            return None
        words = body["contains"]
        if not isinstance(words, list):
            here.fault(("contains",), f"must be a list of strings, is {name_of(words)}")
            return None
        listed = cast(list[object], words)
        if not listed:
            here.fault(("contains",), "must name at least one keyword")
        read_words = [here.text(word, ("contains", i)) for i, word in enumerate(listed)]
        return Keywords(
            keywords=tuple(word for word in read_words if word is not None),
            needed=needed,
            case_sensitive=here.options.case_sensitive or False,
            whole_word=here.options.whole_word,
        )

    return read


def _pattern(body: dict[object, object], here: Body) -> Simple | None:
    if not here.only(body, needs="pattern"):
        return None
    pattern = here.text(body["pattern"], ("pattern",))
    if pattern is None:
        return None
    wrong = pattern_fault(pattern)
    if wrong:
        here.fault(("pattern",), wrong)
        return None
    return Pattern(pattern=pattern, case_sensitive=here.options.case_sensitive or False)


def _json_schema(body: dict[object, object], here: Body) -> Simple | None:
    if not here.only(body, needs="schema"):
        return None
    schema = body["schema"]
    if not isinstance(schema, dict | bool):
        here.fault(("schema",), f"must be a mapping, is {name_of(schema)}")
        return None
    wrong = schema_fault(cast(Mapping[str, object] | bool, schema))
    if wrong:
        here.fault(("schema",), f"is not a JSON Schema: {wrong}")
        return None
    here.json(cast(object, schema), ("schema",))
    return JsonSchema(schema=cast(Mapping[str, object] | bool, schema))


def _number(body: dict[object, object], here: Body) -> Simple | None:
    if not here.only(body, needs="value", allows=("tolerance",)):
        return None
    value = here.number(body["value"], ("value",))
    tolerance = here.number(body.get("tolerance", 0), ("tolerance",))
    if tolerance is not None and tolerance < 0:
        here.fault(("tolerance",), f"must be 0 or more, is {tolerance:g}")
    if value is None or tolerance is None:
        return None
    # As it was written: a float cannot tell large whole numbers apart.
    return Number(value=cast(float, body["value"]), tolerance=tolerance)


Reader = Callable[[dict[object, object], Body], Simple | None]

READERS: dict[str, Reader] = {
    "exact": _exact,
    "contains": _keywords("all"),
    "contains_any": _keywords("any"),
    "not_contains": _keywords("none"),
    "regex": _pattern,
    "json_schema": _json_schema,
    "number": _number,
}
