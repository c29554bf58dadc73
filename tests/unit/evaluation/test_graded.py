"""Test cases, judge prompts and checklists are read, or refused with the path to the fault."""

import math
from typing import Any

import pytest

from arena.documents.validation import dotted
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard, read_standard_document
from arena.evaluation.standard import (
    AllOf,
    Case,
    Checklist,
    JudgeChoice,
    JudgePrompt,
    Part,
    TestCases,
    passes_from,
)
from arena.evaluation.validators import Contains

CASES: dict[str, Any] = {"type": "test_cases", "functionName": "f", "cases": [{"expected": 1}]}
JUDGED: dict[str, Any] = {"type": "judge_prompt", "prompt": "Is it right?"}
LISTED: dict[str, Any] = {"type": "checklist", "items": ["a", "b"]}


def faults(document: object) -> dict[str, str]:
    with pytest.raises(InvalidStandard) as caught:
        read_standard_document(document)
    return {dotted(fault.path): fault.message for fault in caught.value.faults}


def test_a_document_and_a_yaml_body_are_the_same_standard() -> None:
    for document in (CASES, JUDGED, LISTED):
        body = dict(document)
        kind = body.pop("type")
        assert read_standard(kind, body) == read_standard_document(document)


def test_every_key_of_test_cases_is_kept() -> None:
    document = {
        "type": "test_cases",
        "functionName": "$f_1",
        "tolerance": 0.5,
        "language": "js",
        "pass_score": 80,
        "cases": [
            {"input": [1, None], "expected": {"a": [1.5]}, "desc": "first", "tolerance": 0},
            {"expected": None, "language": "py"},
        ],
    }
    assert read_standard_document(document) == TestCases(
        function_name="$f_1",
        cases=(
            Case(input=[1, None], expected={"a": [1.5]}, desc="first", tolerance=0.0),
            Case(expected=None, language="python"),
        ),
        language="javascript",
        tolerance=0.5,
        pass_score=80,
    )


def test_a_program_needs_no_function_name_and_may_be_of_any_language() -> None:
    document = {"type": "test_cases", "language": "rust", "cases": [{"expected": 1}]}
    standard = read_standard_document(document)
    assert isinstance(standard, TestCases)
    assert (standard.function_name, standard.language) == (None, "rust")


def test_a_judge_prompt_without_criteria_has_one() -> None:
    assert read_standard_document(JUDGED) == JudgePrompt(
        prompt="Is it right?", criteria=("overall",), weights=(1.0,)
    )


def test_a_standard_may_choose_its_judges() -> None:
    chosen = {**JUDGED, "judge": {"models": ["a", "b"], "votes": 3}}
    standard = read_standard_document(chosen)
    assert isinstance(standard, JudgePrompt)
    assert standard.judge == JudgeChoice(models=("a", "b"), votes=3)


@pytest.mark.parametrize(
    ("document", "at", "message"),
    [
        ([], "", "not a list"),
        ({}, "", "needs the key 'expected' or 'type'"),
        ({"type": "checklists", "items": ["a"]}, "type", "did you mean 'checklist'?"),
        ({**CASES, "functionName": ""}, "functionName", "must not be empty"),
        ({**CASES, "functionName": "a b"}, "functionName", "is not a name"),
        ({**CASES, "functionname": "f"}, "functionname", "did you mean 'functionName'?"),
        ({**CASES, "cases": []}, "cases", "must not be empty"),
        ({**CASES, "cases": "x"}, "cases", "must be a list"),
        ({**CASES, "cases": [1]}, "cases[0]", "must be a mapping"),
        ({**CASES, "cases": [{"input": [1]}]}, "cases[0]", "needs the key 'expected'"),
        (
            {**CASES, "cases": [{"input": 1, "expected": 1}]},
            "cases[0].input",
            "must be a list, is a number",
        ),
        ({**CASES, "cases": [{"expected": math.nan}]}, "cases[0].expected", "JSON has no nan"),
        (
            {**CASES, "cases": [{"expected": [{"a": {1: 2}}]}]},
            "cases[0].expected[0].a",
            "text keys",
        ),
        ({**CASES, "cases": [{"expected": {1, 2}}]}, "cases[0].expected", "JSON has no set"),
        ({**CASES, "cases": [{"expected": "\ud800"}]}, "cases[0].expected", "surrogate"),
        ({**CASES, "tolerance": -1}, "tolerance", "must be 0 or more"),
        ({**CASES, "language": "rust"}, "language", "leave functionName out"),
        ({**CASES, "pass_score": 0}, "pass_score", "above 0"),
        ({**CASES, "pass_score": 101}, "pass_score", "at most 100"),
        ({**CASES, "pass_score": True}, "pass_score", "must be a number"),
        ({**JUDGED, "prompt": " "}, "prompt", "must not be empty"),
        ({**JUDGED, "criteria": []}, "criteria", "must not be empty"),
        ({**JUDGED, "criteria": ["a", "b", "a "]}, "criteria[2]", "duplicate 'a '"),
        ({**JUDGED, "criteria": ["a", "b"], "weights": [1]}, "weights", "1 weights for 2 criteria"),
        ({**JUDGED, "weights": [0]}, "weights", "must not all be 0"),
        ({**JUDGED, "criteria": ["a", "b"], "weights": [2, -1]}, "weights[1]", "must be 0 or more"),
        ({**JUDGED, "judge": {"votes": 3}}, "judge", "needs the key 'models'"),
        ({**JUDGED, "judge": {"models": ["a"], "votes": 0}}, "judge.votes", "must be 1 or more"),
        ({**LISTED, "items": []}, "items", "must not be empty"),
        ({**LISTED, "items": ["a", 1]}, "items[1]", "must be a string"),
        ({**LISTED, "items": ["a", "a"]}, "items[1]", "duplicate 'a'"),
    ],
)
def test_a_bad_standard_is_refused_with_the_path_to_the_fault(
    document: object, at: str, message: str
) -> None:
    assert message in faults(document)[at]


def test_every_fault_is_reported_at_once() -> None:
    document = {**JUDGED, "prompt": "", "weights": [0], "criteria": ["a", "a"], "colour": 1}
    assert faults(document).keys() == {"prompt", "weights", "criteria[1]", "colour"}


def test_parts_may_be_written_in_either_form() -> None:
    parts = [
        {"type": "contains", "contains": ["a"], "weight": 2},
        {"validation": "contains", "expected": {"contains": ["a"]}},
        LISTED,
    ]
    standard = read_standard_document({"type": "all_of", "all_of": parts})
    words = Contains(contains=("a",))
    checklist = Checklist(items=("a", "b"))
    parts = (Part(standard=words, weight=2), Part(standard=words), Part(standard=checklist))
    assert standard == AllOf(all_of=parts, pass_score=60)
    invalid = {"type": "all_of", "all_of": [LISTED, {**LISTED, "items": []}]}
    assert "must not be empty" in faults(invalid)["all_of[1].items"]


def test_a_pass_score_is_set_once() -> None:
    body = {"items": ["a"], "pass_score": 70}
    assert read_standard("checklist", body, pass_score=70) == Checklist(items=("a",), pass_score=70)
    with pytest.raises(InvalidStandard, match="70 here and 80 in the test"):
        read_standard("checklist", body, pass_score=80)


@pytest.mark.parametrize(
    ("document", "agrees"),
    [
        (CASES, True),
        ({**CASES, "pass_score": 61}, False),
        ({"type": "contains", "contains": ["a"]}, True),
        ({"type": "all_of", "all_of": [CASES, LISTED]}, True),
        ({"type": "all_of", "all_of": [CASES, LISTED], "pass_score": 70}, False),
        ({"type": "all_of", "all_of": [{"type": "contains", "contains": ["a"]}] * 2}, False),
        ({"type": "any_of", "any_of": [CASES, LISTED]}, True),
        ({"type": "any_of", "any_of": [CASES, {**LISTED, "pass_score": 90}]}, False),
    ],
)
def test_whether_a_verdict_agrees_with_the_market(document: object, agrees: bool) -> None:
    assert passes_from(read_standard_document(document), 60) is agrees
