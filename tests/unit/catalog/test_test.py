import json
from dataclasses import replace

import pytest

from arena.catalog.catalog import load_catalog
from arena.catalog.test import Test
from arena.evaluation.reading import read_standard_document
from factories import a_test


def test_a_test_survives_serialization() -> None:
    test = a_test(agents=("a", "b"), tags=("x",), budget_tokens=7, case_sensitive=False)
    assert Test.from_json(json.loads(json.dumps(test.as_json()))) == test


def test_the_digest_changes_with_anything_the_test_says() -> None:
    test = a_test()
    assert replace(test).digest == test.digest
    changes: list[dict[str, object]] = [
        {"id": "other"},
        {"prompt": "other"},
        {"expected": {"contains": ["no"]}},
        {"points": 2.0},
        {"agents": ()},
        {"whole_word": True},
        {"case_sensitive": False},
    ]
    digests = {replace(test, **change).digest for change in changes}  # type: ignore[arg-type]
    assert len(digests | {test.digest}) == len(changes) + 1


@pytest.mark.parametrize(
    ("agents", "active", "answers"),
    [
        (None, True, True),
        (("me",), True, True),
        (("you",), True, False),
        ((), True, False),
        (None, False, False),
    ],
)
def test_a_test_is_for_an_agent(
    agents: tuple[str, ...] | None, active: bool, answers: bool
) -> None:
    assert a_test(agents=agents, active=active).is_for("me") is answers


def test_the_token_budget_grows_with_the_points() -> None:
    assert a_test(points=1.5).token_budget == 3000
    assert a_test(points=1.5, budget_tokens=10).token_budget == 10


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"case_sensitive": True, "whole_word": True},
        {"validation": "exact", "expected": {"value": "yes"}, "case_sensitive": False},
        {"validation": "checklist", "expected": {"items": ["a", "b"]}, "pass_score": 50.0},
        {
            "validation": "all_of",
            "expected": {"all_of": [{"expected": {"contains": ["a"]}, "weight": 2}]},
            "pass_score": 30.0,
            "whole_word": True,
        },
        {
            "validation": "any_of",
            "expected": {"any_of": [{"validation": "checklist", "expected": {"items": ["b"]}}]},
        },
    ],
)
def test_the_document_of_a_test_is_its_standard(changes: dict[str, object]) -> None:
    test = a_test(**changes)
    assert read_standard_document(test.document) == test.standard


def test_the_documents_of_the_builtin_tests_are_their_standards() -> None:
    for test in load_catalog(()).tests:
        assert read_standard_document(test.document) == test.standard
