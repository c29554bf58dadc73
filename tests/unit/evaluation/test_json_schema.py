import socket
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.evaluation import json_schema, pattern
from arena.evaluation.json_schema import first_misfit, schema_fault

PERSON: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "additionalProperties": False,
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 0.5])
    | st.text("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
)


def test_a_value_that_fits_has_no_misfit() -> None:
    assert first_misfit(PERSON, {"name": "Ada", "age": 36}) is None


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({}, "'name' is a required property (at $)"),
        ({"name": 1}, "1 is not of type 'string' (at $.name)"),
        ({"name": "a", "age": -1}, "-1 is less than the minimum of 0 (at $.age)"),
        ({"name": "a", "x": 1}, "Additional properties are not allowed"),
        ([], "[] is not of type 'object' (at $)"),
    ],
)
def test_a_misfit_says_what_and_where(value: object, reason: str) -> None:
    assert reason in str(first_misfit(PERSON, value))


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "strin"}, "is not valid under any of the given schemas (at $.type)"),
        ({"minimum": "1"}, "'1' is not of type 'number' (at $.minimum)"),
        ({"pattern": "("}, "missing )"),
        ({"patternProperties": {"[": {}}}, "unterminated character set"),
        ({"pattern": "(?R)"}, "calls itself"),
        ({"const": float("nan")}, "not JSON compliant"),
        ({"$ref": "#/definitions/x"}, "it refers to '#/definitions/x', which it does not contain"),
        ({"items": {"$ref": "#no-anchor"}}, "it refers to '#no-anchor', which it does not"),
        ({"$defs": {"a": {"$ref": "http://127.0.0.1:1/"}}}, "which it does not contain"),
        ({"$ref": "#/x", "x": {"minimum": "1"}}, "'1' is not of type 'number' (at $.minimum)"),
        ({"$ref": "#/x", "x": {"$ref": 5}}, "5 is not of type 'string'"),
        ({"allOf": [True], "$ref": "#/allOf/x"}, "invalid literal"),
        ({"$ref": "http://["}, "it refers to 'http://[', which it does not contain"),
        ({"$ref": "#"}, "it refers to itself without end"),
        ({"allOf": [{"not": {"$ref": "#"}}]}, "it refers to itself without end"),
        (
            {"$ref": "#/x", "x": {"anyOf": [{"$ref": "#/y"}]}, "y": {"$ref": "#/x"}},
            "it refers to itself without end",
        ),
    ],
)
def test_an_invalid_schema_is_refused(schema: dict[str, object], fault: str) -> None:
    assert fault in str(schema_fault(schema))


def test_patterns_have_the_syntax_of_the_regex_validation() -> None:
    schema = {"pattern": r"^\p{Lu}"}
    assert schema_fault(schema) is None
    assert first_misfit(schema, "Éa") is None
    assert "does not match" in str(first_misfit(schema, "éa"))


def test_pattern_properties_are_checked() -> None:
    schema = {"patternProperties": {"^n_": {"type": "integer"}}}
    assert first_misfit(schema, {"n_a": 1, "other": "x"}) is None
    assert "(at $.n_a)" in str(first_misfit(schema, {"n_a": "x"}))


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
def test_an_endless_pattern_is_stopped(keyword: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "PATTERN_SECONDS", 0.3)
    endless, text = "(a|aa)+$", "a" * 5000 + "!"
    by_keyword: dict[str, tuple[dict[str, object], object]] = {
        "pattern": ({"pattern": endless}, text),
        "patternProperties": ({"patternProperties": {endless: True}}, {text: 1}),
    }
    start = time.monotonic()
    assert "took longer than 0.3 s" in str(first_misfit(*by_keyword[keyword]))
    assert time.monotonic() - start < 30


def test_a_schema_that_multiplies_work_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_schema, "SCHEMA_SECONDS", 0.2)
    twice: dict[str, object] = {"type": "string"}
    for _ in range(40):
        twice = {"anyOf": [twice, twice]}  # 2 to the 40 checks
    start = time.monotonic()
    assert "took longer than 0.2 s" in str(first_misfit(twice, 1))
    assert time.monotonic() - start < 30


def test_a_long_list_of_objects_is_searched_for_duplicates_quickly() -> None:
    items: list[object] = [{"n": n} for n in range(50_000)]
    start = time.monotonic()
    assert first_misfit({"uniqueItems": True}, items) is None
    assert "same item twice" in str(first_misfit({"uniqueItems": True}, [*items, {"n": 7.0}]))
    assert time.monotonic() - start < 30


def test_numbers_with_the_same_hash_are_compared_quickly() -> None:
    # Python hashes an integer modulo 2**61 - 1: in a set these would be compared each with each.
    items: list[object] = [n * (2**61 - 1) for n in range(100_000)]
    assert first_misfit({"uniqueItems": True}, items) is None
    assert "same item twice" in str(first_misfit({"uniqueItems": True}, [*items, items[1]]))


@pytest.mark.parametrize("other", [False, {"type": "string"}])
def test_an_endless_pattern_of_other_properties_is_stopped(
    other: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pattern, "PATTERN_SECONDS", 0.2)
    # First, so that it comes before the check of the pattern's own properties.
    schema = {"additionalProperties": other, "patternProperties": {"^(a|aa)+$": {}}}
    assert "took longer than 0.2 s" in str(first_misfit(schema, {"a" * 5000 + "!": 1}))


@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 1), max_size=3),
    st.sampled_from([True, False, {"const": 1}]),
    st.sampled_from([{}, {"patternProperties": {}}, {"patternProperties": {"a|b": {}}}]),
)
def test_additional_properties_mean_what_the_library_means(
    value: dict[str, int], other: object, more: dict[str, object]
) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    schema: dict[str, Any] = {"properties": {"a": {}}, "additionalProperties": other, **more}
    expected = best_match(Draft202012Validator(schema).iter_errors(value))
    found = first_misfit(schema, value)
    assert (found is None) == (expected is None)
    if expected is not None and other is False:
        assert str(found).startswith(expected.message)


@given(st.lists(VALUES, max_size=5))
def test_unique_items_means_what_the_library_means(items: list[object]) -> None:
    from jsonschema import Draft202012Validator

    schema: dict[str, Any] = {"uniqueItems": True}
    assert (first_misfit(schema, items) is None) == Draft202012Validator(schema).is_valid(items)


def test_a_reference_to_an_address_is_never_fetched() -> None:
    calls: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.5)

        def listen() -> None:
            try:
                calls.append(server.accept())
            except TimeoutError:
                return

        listener = threading.Thread(target=listen)
        listener.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        misfit = first_misfit({"$ref": address}, {})
        listener.join()
    assert misfit == f"the schema refers to {address!r}, which it does not contain"
    assert calls == []


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "object", "properties": {"next": {"$ref": "#"}}},  # a list, as long as it is
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}}}},
        {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {}}},
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "string"}}},
        {"$id": "http://a/b", "$ref": "c", "$defs": {"c": {"$id": "c", "type": "string"}}},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"const": {"$ref": "#/nowhere"}, "properties": {"$ref": {"type": "string"}}},
        {"$ref": "#/$defs/a%25b", "$defs": {"a%b": True}},
    ],
)
def test_references_that_resolve_are_no_fault(schema: dict[str, object] | bool) -> None:
    assert schema_fault(schema) is None


def test_a_reference_within_the_schema_is_followed() -> None:
    schema = {"$defs": {"n": {"type": "number"}}, "$ref": "#/$defs/n"}
    assert first_misfit(schema, 1) is None
    assert first_misfit(schema, "1") is not None


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"multipleOf": 0.1}, 10**400),
        ({"multipleOf": 1e-300}, 1e300),
        ({"$ref": "#"}, []),
    ],
)
def test_a_value_that_cannot_be_checked_is_a_misfit_and_no_crash(
    schema: dict[str, object], value: object
) -> None:
    misfit = first_misfit(schema, value)
    assert misfit is None or isinstance(misfit, str)


def test_a_misfit_of_a_long_answer_is_reported_briefly() -> None:
    assert len(str(first_misfit({"type": "integer"}, "x" * 100_000))) < 400
