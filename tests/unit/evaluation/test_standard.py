from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.documents.validation import dotted
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import MAX_DEPTH, read_standard
from arena.evaluation.standard import VALIDATIONS, AllOf, AnyOf, Part
from arena.evaluation.validators import (
    Contains,
    ContainsAny,
    Exact,
    JsonSchema,
    Keywords,
    LastNumber,
    NotContains,
    Pattern,
)


def faults(validation: str, expected: object) -> dict[str, str]:
    with pytest.raises(InvalidStandard) as caught:
        read_standard(validation, expected)
    return {dotted(fault.path): fault.message for fault in caught.value.faults}


@pytest.mark.parametrize(
    ("validation", "expected", "standard"),
    [
        ("exact", {"value": "Yes"}, Exact(value="Yes")),
        ("contains", {"contains": ["a"]}, Contains(contains=("a",))),
        ("contains_any", {"contains": ["a"]}, ContainsAny(contains=("a",))),
        ("not_contains", {"contains": ["a"]}, NotContains(contains=("a",))),
        ("regex", {"pattern": "a+"}, Pattern(pattern="a+")),
        ("json_schema", {"schema": {"type": "object"}}, JsonSchema(schema={"type": "object"})),
        ("json_schema", {"schema": True}, JsonSchema(schema=True)),
        ("number", {"value": 3}, LastNumber(value=3.0)),
        ("number", {"value": 3, "tolerance": 0.5}, LastNumber(value=3.0, tolerance=0.5)),
        (
            "all_of",
            {"all_of": [{"expected": {"contains": ["a"]}, "weight": 2}]},
            AllOf(all_of=(Part(standard=Contains(contains=("a",)), weight=2.0),)),
        ),
    ],
)
def test_every_validation_has_its_body(validation: str, expected: object, standard: object) -> None:
    assert read_standard(validation, expected) == standard


def test_only_exact_is_case_sensitive_by_default() -> None:
    exact = read_standard("exact", {"value": "a"})
    assert isinstance(exact, Exact)
    assert exact.case_sensitive
    for validation in ("contains", "contains_any", "not_contains"):
        words = read_standard(validation, {"contains": ["a"]})
        assert isinstance(words, Keywords)
        assert not words.case_sensitive


@pytest.mark.parametrize("flag", [True, False])
def test_the_options_reach_every_validator(flag: bool) -> None:
    exact = read_standard("exact", {"value": "a"}, case_sensitive=flag)
    words = read_standard("contains", {"contains": ["a"]}, case_sensitive=flag, whole_word=flag)
    pattern = read_standard("regex", {"pattern": "a"}, case_sensitive=flag)
    assert isinstance(exact, Exact)
    assert isinstance(words, Keywords)
    assert isinstance(pattern, Pattern)
    assert exact.case_sensitive == pattern.case_sensitive == words.case_sensitive == flag
    assert words.whole_word == flag


def test_a_part_of_a_composite_takes_the_options_over_and_may_have_its_own() -> None:
    parts = [
        {"expected": {"contains": ["a"]}},
        {"expected": {"contains": ["b"]}, "whole_word": False, "case_sensitive": True},
    ]
    standard = read_standard("any_of", {"any_of": parts}, whole_word=True)
    assert isinstance(standard, AnyOf)
    assert standard.parts == (
        Contains(contains=("a",), whole_word=True),
        Contains(contains=("b",), case_sensitive=True),
    )


@pytest.mark.parametrize(
    ("validation", "expected", "path", "message"),
    [
        ("contain", {}, "validation", "did you mean 'contains'?"),
        ("contains", ["a"], "expected", "must be a mapping, is a list"),
        ("contains", None, "expected", "must be a mapping, is nothing"),
        ("contains", {}, "expected", "needs the key 'contains'"),
        ("contains", {"contains": "a"}, "expected.contains", "must be a list, is a string"),
        ("contains", {"contains": []}, "expected.contains", "must not be empty"),
        ("contains", {"contains": ["a", 1]}, "expected.contains[1]", "is a number: quote it"),
        ("contains", {"contains": [True]}, "expected.contains[0]", "is true or false: quote it"),
        ("contains", {"contains": [" "]}, "expected.contains[0]", "must not be empty"),
        ("contains_any", {"any": ["a"]}, "expected.any", "unknown key 'any'"),
        ("exact", {"value": ""}, "expected.value", "must not be empty"),
        ("exact", {"valu": "a"}, "expected.valu", "did you mean 'value'?"),
        ("regex", {"pattern": "["}, "expected.pattern", "is not a regular expression"),
        ("json_schema", {"schema": []}, "expected.schema", "must be a mapping, is a list"),
        ("json_schema", {"schema": {"type": 1}}, "expected.schema", "is not a JSON Schema"),
        ("number", {"value": "3"}, "expected.value", "must be a number, is a string"),
        ("number", {"value": True}, "expected.value", "must be a number, is true or false"),
        ("number", {"value": float("nan")}, "expected.value", "finite"),
        ("number", {"value": 10**400}, "expected.value", "finite"),
        ("number", {"value": 1, "tolerance": -1}, "expected.tolerance", "must be 0 or more"),
        ("all_of", {"all_of": []}, "expected.all_of", "must not be empty"),
        ("all_of", {"all_of": ["a"]}, "expected.all_of[0]", "must be a mapping"),
        ("all_of", {"all_of": [{}]}, "expected.all_of[0]", "needs the key 'expected'"),
        (
            "any_of",
            {"any_of": [{"expected": {"contains": ["a"]}, "whole_word": "yes"}]},
            "expected.any_of[0].whole_word",
            "must be true or false, is a string",
        ),
        (
            "all_of",
            {"all_of": [{"validation": "regex", "expected": {"pattern": "("}}]},
            "expected.all_of[0].expected.pattern",
            "is not a regular expression",
        ),
        (
            "all_of",
            {"all_of": [{"expected": {"contains": ["a"]}, "weight": 0}]},
            "expected.all_of",
            "must not all be 0",
        ),
        (
            "all_of",
            {"all_of": [{"expected": {"contains": ["a"]}, "weight": 1e308}]},
            "expected.all_of[0].weight",
            "must be at most 1e+06",
        ),
    ],
)
def test_a_body_that_does_not_fit_says_where_and_why(
    validation: str, expected: object, path: str, message: str
) -> None:
    assert message in faults(validation, expected)[path]


def test_all_faults_are_reported_at_once() -> None:
    parts = [
        {"validation": "exact", "expected": {"value": 1}},
        {"validation": "nope", "expected": {}},
        {"expected": {"contains": [1, 2]}},
    ]
    assert set(faults("all_of", {"all_of": parts})) == {
        "expected.all_of[0].expected.value",
        "expected.all_of[1].validation",
        "expected.all_of[2].expected.contains[0]",
        "expected.all_of[2].expected.contains[1]",
    }


def test_a_fault_says_whether_the_key_itself_is_wrong() -> None:
    with pytest.raises(InvalidStandard) as caught:
        read_standard("exact", {"valu": "a"})
    assert {fault.of_key for fault in caught.value.faults if fault.path[-1] == "valu"} == {True}
    with pytest.raises(InvalidStandard) as caught:
        read_standard("exact", {"value": 1})
    assert [fault.of_key for fault in caught.value.faults] == [False]


def nested(levels: int) -> dict[str, Any]:
    body: dict[str, Any] = {"validation": "contains", "expected": {"contains": ["a"]}}
    for _ in range(levels):
        body = {"validation": "all_of", "expected": {"all_of": [body]}}
    return body


def test_composites_nest_up_to_a_limit() -> None:
    deepest = nested(MAX_DEPTH)
    assert isinstance(read_standard(deepest["validation"], deepest["expected"]), AllOf)
    deeper = nested(MAX_DEPTH + 1)
    (message,) = faults(deeper["validation"], deeper["expected"]).values()
    assert "nested more than 8 deep" in message


KEYS = ["contains", "value", "pattern", "schema", "all_of", "any_of", "expected", "validation"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.sampled_from(sorted(VALIDATIONS)), JSON)
def test_any_body_is_read_or_refused_and_never_a_crash(validation: str, expected: object) -> None:
    try:
        read_standard(validation, expected)
    except InvalidStandard as wrong:
        assert wrong.faults
        assert all(fault.path and fault.message for fault in wrong.faults)


def test_a_pass_score_that_alternatives_would_ignore_is_a_fault():
    parts = [{"type": "checklist", "items": ["a"]}]
    with pytest.raises(InvalidStandard, match="give the parts the pass_score"):
        read_standard("any_of", {"any_of": parts}, pass_score=90)
