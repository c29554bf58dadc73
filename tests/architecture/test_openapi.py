"""The HTTP API of 0.1 still holds: every path, parameter and field, by name and type.

The fixture is the description of the last 0.1 commit without its prose. Additions are allowed: a
new path, parameter, response field, or optional request field.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
THEN = json.loads((ROOT / "tests" / "fixtures" / "v0_1" / "openapi.json").read_text())
NOW = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())
OPERATIONS = [(path, method) for path, methods in THEN["paths"].items() for method in methods]

Fields = dict[str, set[str]]
"""From a field's place (`results[].score`) to the JSON types it may have."""


def flatten(document: Any, schema: Any, place: str = "", seen: tuple[str, ...] = ()) -> Fields:
    """All fields of a schema with their types; `$ref`, `allOf` and `anyOf` are resolved."""
    fields: Fields = {}
    for part in alternatives(document, schema, seen):
        kind, refs = part
        fields.setdefault(place, set()).update(types(kind))
        for name, inner in kind.get("properties", {}).items():
            merge(fields, flatten(document, inner, f"{place}.{name}", refs))
        for inner in [kind.get("items"), *kind.get("prefixItems", ())]:
            if isinstance(inner, dict):
                merge(fields, flatten(document, inner, f"{place}[]", refs))
        if isinstance(kind.get("additionalProperties"), dict):
            merge(fields, flatten(document, kind["additionalProperties"], f"{place}.*", refs))
    return fields


def alternatives(
    document: Any, schema: Any, seen: tuple[str, ...]
) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The schemas without references or alternatives that this one expands to."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in seen:  # a schema that contains itself: its fields are listed once
            yield {"type": "object"}, seen
        else:
            target = document["components"]["schemas"][name]
            yield from alternatives(document, target, (*seen, name))
        return
    choices = [one for key in ("anyOf", "oneOf", "allOf") for one in schema.get(key, ())]
    for choice in choices:
        yield from alternatives(document, choice, seen)
    if not choices or "properties" in schema:
        yield schema, seen


def types(schema: Any) -> set[str]:
    """The JSON types that a schema allows, with their format: `string:date-time`."""
    if "const" in schema or "enum" in schema:
        values = schema.get("enum", [schema.get("const")])
        return {NAMES[type(value)] for value in values}
    if "type" not in schema:
        return {"any"} if not schema.get("properties") else {"object"}
    given = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    suffix = f":{schema['format']}" if "format" in schema else ""
    return {one + suffix if one == "string" else one for one in given}


NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def merge(fields: Fields, more: Fields) -> None:
    for place, kinds in more.items():
        fields.setdefault(place, set()).update(kinds)


def required(document: Any, schema: Any) -> set[str]:
    """The fields at the top of a request that it must have."""
    found = [set(one.get("required", ())) for one, _ in alternatives(document, schema, ())]
    return set.intersection(*found) if found else set()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_an_operation_of_0_1_is_still_there(path: str, method: str):
    assert method in NOW["paths"].get(path, {})
    then, now = THEN["paths"][path][method], NOW["paths"][path][method]
    assert now.get("operationId") == then.get("operationId")


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_its_parameters_have_their_names_and_types(path: str, method: str):
    def parameters(document: Any) -> dict[tuple[str, str], Any]:
        listed = document["paths"][path][method].get("parameters", ())
        return {(one["in"], one["name"]): one for one in listed}

    then, now = parameters(THEN), parameters(NOW)
    assert then.keys() <= now.keys()
    for key, one in then.items():
        assert one["required"] or not now[key]["required"], key
        before, after = flatten(THEN, one["schema"]), flatten(NOW, now[key]["schema"])
        assert all(kinds <= after.get(place, set()) for place, kinds in before.items()), key
    added = now.keys() - then.keys()
    assert not [key for key in added if now[key]["required"]]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_its_request_is_still_understood(path: str, method: str):
    then, now = THEN["paths"][path][method], NOW["paths"][path][method]
    if "requestBody" not in then:
        assert not now.get("requestBody", {}).get("required")
        return
    for media, one in then["requestBody"]["content"].items():
        assert media in now["requestBody"]["content"]
        other = now["requestBody"]["content"][media]
        before, after = flatten(THEN, one["schema"]), flatten(NOW, other["schema"])
        lost = {place: kinds - after.get(place, set()) for place, kinds in before.items()}
        assert {place: kinds for place, kinds in lost.items() if kinds} == {}
        assert required(NOW, other["schema"]) <= required(THEN, one["schema"])


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_its_answers_have_their_fields_and_types(path: str, method: str):
    then, now = THEN["paths"][path][method], NOW["paths"][path][method]
    for status, answer in then["responses"].items():
        assert status in now["responses"]
        for media, one in answer.get("content", {}).items():
            assert media in now["responses"][status].get("content", {}), status
            other = now["responses"][status]["content"][media]
            before = flatten(THEN, one.get("schema", {}))
            after = flatten(NOW, other.get("schema", {}))
            changed = {
                place: (kinds, after.get(place))
                for place, kinds in before.items()
                if after.get(place) != kinds
            }
            assert changed == {}
