"""A JSON Schema of test files, for editors: made from the keys and the standards themselves.

`arena tests lint` stays the judge: a schema cannot say everything that it checks.
"""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from arena.catalog.keys import TEST_KEYS, FileKeys, TestKeys
from arena.catalog.test import DEFAULT_VALIDATION
from arena.evaluation.grader import GRADERS
from arena.evaluation.packaged import installed_validators
from arena.evaluation.reading import FLAGS
from arena.evaluation.standard import VALIDATIONS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REFERENCE = "#/$defs/{model}"
STANDARD = {"$ref": "#/$defs/standard"}
TEMPLATE = {"type": "string", "pattern": r"\{\{"}
"""A value that a variable of the test gives."""
DATE = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
"""What pydantic calls the limits of a number that a function reads."""
SHORT_FORMS: Mapping[str, JsonSchemaValue] = {
    "quarantine": DATE,
    "solution": {"type": "string", "pattern": r"\S"},
}
"""Keys that may have a text instead of their mapping."""
ASKED = ("prompt", "expected")
SPOKEN = ("turns", "user")
"""Keys that can stand instead of those of a single question."""
DESCRIPTIONS = {
    "id": "Unique among all loaded tests.",
    "name": "For people.",
    "description": "For people.",
    "prompt": "What the agent is asked.",
    "turns": "A conversation: what the user says, and what each reply must satisfy.",
    "user": "A simulated user, who speaks instead of turns.",
    "tools": "Tools that Arena plays for the agent.",
    "workspace": "The folder of files that the agent works in.",
    "expected": "What a good answer is; its keys depend on validation.",
    "validation": "How the answer is judged.",
    "timeout": "Seconds.",
    "points": "What the test is worth.",
    "agents": "The agents that it is for; default: all.",
    "active": "Whether it is used.",
    "tags": "Words to select tests by.",
    "trials": "How often it is asked.",
    "budget_tokens": "Tokens before the answer loses points for cost.",
    "case_sensitive": "Whether upper and lower case differ.",
    "whole_word": "Whether keywords must be whole words.",
    "pass_score": "The score that passes, 0 to 100, of a graded standard.",
    "group": "Tests of one group are not independent of each other.",
    "quarantine": "Until this day the test informs and blocks no gate.",
    "vars": "Variables: what {{name}} stands for.",
    "dataset": "A file of rows (.csv, .jsonl, .yaml), each of which is a test.",
    "matrix": "Names with lists of values; every combination is a test.",
    "solution": "A right answer; `arena tests audit` proves that it passes.",
}


DATA_KEYS: Mapping[str, JsonSchemaValue] = {
    "vars": {"type": "object"},
    "dataset": {"type": "string"},
    "matrix": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"type": "array", "minItems": 1},
    },
}


class _Generator(GenerateJsonSchema):
    """Defaults are not repeated, and a number with a check of its own is still a number."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """The schema without its default, which may be a marker for "not given"."""
        return self.generate_inner(schema["schema"])

    def function_plain_schema(
        self, schema: core_schema.PlainValidatorFunctionSchema
    ) -> JsonSchemaValue:
        """A number with a check of its own is a number; of other values nothing is known."""
        function: Any = schema["function"]["function"]
        return {"type": "number"} if function.__name__ == "_finite" else {}


def file_schema() -> dict[str, Any]:
    """The schema of a whole file."""
    adapters: dict[str, Any] = {f"expected_{name}": kind for name, kind in VALIDATIONS.items()}
    inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (name, "validation", TypeAdapter(kind))
        for name, kind in (*adapters.items(), ("test", TestKeys), ("file", FileKeys))
    ]
    made, shared = TypeAdapter.json_schemas(
        inputs, ref_template=REFERENCE, schema_generator=_Generator
    )
    definitions: dict[str, Any] = dict(cast(dict[str, Any], shared.get("$defs", {})))
    bodies = {name: _resolved(made[name, "validation"], definitions) for name in adapters}
    test = _resolved(made["test", "validation"], definitions)
    whole = _resolved(made["file", "validation"], definitions)
    for name in VALIDATIONS:
        body = _with_parts(name, bodies[f"expected_{name}"])
        definitions[f"expected_{name}"] = body
    definitions = {name: _with_templates(one) for name, one in definitions.items()}
    if turn := definitions.get("TurnKeys"):
        # What the user says may stand alone.
        properties = {**turn["properties"], "expect": STANDARD}
        definitions["TurnKeys"] = {
            "anyOf": [{"type": "string"}, {**turn, "properties": properties}]
        }
    definitions |= {"standard": _standard(), "part": _part(), "test": _test(test)}
    whole["properties"] |= {"tests": {"type": "array", "minItems": 1, "items": _ref("test")}}
    used = {name: definitions[name] for name in sorted(_used(whole, definitions))}
    return {
        "$schema": DIALECT,
        "title": "Arena test file",
        "type": "object",
        "properties": _clean(whole["properties"]),
        "required": ["tests"],
        "additionalProperties": False,
        "patternProperties": {"^x-": {}},
        "$defs": {name: _clean(one) for name, one in used.items()},
    }


def _validations() -> list[str]:
    """The names of all standards, also of those that installed packages bring."""
    return sorted({*VALIDATIONS, *installed_validators()})


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _resolved(schema: JsonSchemaValue, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the schema itself, where pydantic gives a reference to it."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    return dict(cast(dict[str, Any], definitions[name])) if name else dict(schema)


def _test(schema: dict[str, Any]) -> dict[str, Any]:
    """The keys of a test; what `expected` may hold depends on `validation`."""
    properties: dict[str, Any] = dict(schema["properties"])
    for name in TEST_KEYS:
        value = properties.get(name, DATA_KEYS.get(name, {}))
        if name in SHORT_FORMS:
            value = {"anyOf": [SHORT_FORMS[name], value]}
        value = _with_templates(value)
        about = DESCRIPTIONS.get(name)
        properties[name] = {**value, "description": about} if about else value
    properties["validation"] = {**properties["validation"], "enum": _validations()}
    spoken = [key for key in SPOKEN if key in properties]
    return {
        "type": "object",
        "properties": properties,
        "required": [key for key in schema.get("required", []) if key not in ASKED],
        # A conversation has its own words, and says with each turn what is expected.
        "anyOf": [{"required": [*ASKED]}, *({"required": [key]} for key in spoken)],
        "additionalProperties": False,
        "allOf": _conditions("validation", "expected"),
    }


def _conditions(key: str, body: str) -> list[dict[str, Any]]:
    """The schema of the body for each value of the key; `contains` where it is left out."""
    return [
        {
            "if": {
                "properties": {key: {"const": name}},
                "required": [] if name == DEFAULT_VALIDATION else [key],
            },
            "then": {"properties": {body: _ref(f"expected_{name}")}},
        }
        for name in VALIDATIONS
    ]


def _standard() -> dict[str, Any]:
    """A standard inside another: with `validation` and `expected`, or with a `type`."""
    flags = {name: {"type": "boolean"} for name in FLAGS}
    own = {"validation": {"enum": _validations()}, "expected": {"type": "object"}}
    return {
        "type": "object",
        "properties": {**own, **flags, "type": {"enum": _validations()}},
        "anyOf": [{"required": ["expected"]}, {"required": ["type"]}],
        "if": {"not": {"required": ["type"]}},
        "then": {
            "propertyNames": {"enum": [*own, *FLAGS, "weight"]},
            "allOf": _conditions("validation", "expected"),
        },
    }


def _part() -> dict[str, Any]:
    return {"allOf": [STANDARD], "properties": {"weight": {"type": "number", "minimum": 0}}}


def _with_parts(name: str, body: dict[str, Any]) -> dict[str, Any]:
    """The body of a composite, whose parts are standards."""
    properties: dict[str, Any] = dict(body.get("properties", {}))
    if name in ("all_of", "any_of"):
        properties[name] = {"type": "array", "minItems": 1, "items": _ref("part")}
    elif name == "reply":
        properties["standard"] = STANDARD
    elif name in GRADERS:
        # The script may be in a file of its own.
        properties["file"] = {"type": "string"}
        either = [{"required": ["script"]}, {"required": ["file"]}]
        others = [key for key in body.get("required", []) if key != "script"]
        return {**body, "properties": properties, "required": others, "oneOf": either}
    return {**body, "properties": properties}


def _with_templates(schema: Any) -> Any:
    """The schema, with a variable allowed wherever it wants something else than text."""
    if isinstance(schema, list):
        return [_with_templates(one) for one in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    body = {
        key: {name: _with_templates(one) for name, one in value.items()}
        if key == "properties"
        else _with_templates(value)
        for key, value in cast(dict[str, Any], schema).items()
    }
    if body.get("type") in ("number", "integer", "boolean", "array"):
        return {"anyOf": [body, TEMPLATE]}
    return body


def _clean(schema: Any) -> Any:
    """The schema without the titles that pydantic makes of names, and with the usual limits."""
    if isinstance(schema, list):
        return [_clean(one) for one in cast(list[Any], schema)]
    if not isinstance(schema, dict):
        return schema
    body = cast(dict[str, Any], schema)
    return {
        LIMITS.get(key, key): {name: _clean(one) for name, one in value.items()}
        if key == "properties"
        else _clean(value)
        for key, value in body.items()
        if key != "title" or not isinstance(value, str)
    }


def _used(whole: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    """The names of the definitions that are referred to, also by each other."""
    used: set[str] = set()
    todo: list[Any] = [whole]
    while todo:
        value = todo.pop()
        if isinstance(value, list):
            todo += cast(list[Any], value)
        elif isinstance(value, dict):
            body = cast(dict[str, Any], value)
            name = str(body.get("$ref", "")).removeprefix("#/$defs/")
            if name and name not in used:
                used.add(name)
                todo.append(definitions[name])
            todo += body.values()
    return used
