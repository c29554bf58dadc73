"""The problem set: problems whose tests are code, run as they are."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.catalog.loader import read_source
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission
from arena.sandbox.namespace.provider import NamespaceProvider

FOLDER = Path(__file__).parents[3] / "examples/problems"


def rows() -> Iterator[tuple[str, dict[str, Any]]]:
    for language in ("python", "javascript"):
        for line in (FOLDER / f"{language}.jsonl").read_text().splitlines():
            yield language, json.loads(line)


PROBLEMS = list(rows())


def test_there_are_many_problems_of_all_kinds() -> None:
    tests = [row["test"] for _, row in PROBLEMS]
    assert len(tests) >= 60
    for kind in (
        "random.",
        "isclose",
        "except ValueError",
        "def check(",
        "import unittest",
        "def test_",
        "def grade(",
        "islice",
    ):
        assert any(kind in test for test in tests), kind
    assert any(len(row["entry_points"]) > 1 for _, row in PROBLEMS)
    assert any(row["classes"] for _, row in PROBLEMS)
    assert all(row["wrong"] for _, row in PROBLEMS)


@pytest.mark.parametrize(("language", "row"), PROBLEMS, ids=[row["id"] for _, row in PROBLEMS])
async def test_the_right_solution_scores_100_and_wrong_ones_less(
    language: str, row: dict[str, Any]
) -> None:
    body = {"script": row["test"], "entry_points": row["entry_points"], "classes": row["classes"]}
    standard = read_standard(language, body)
    async with NamespaceProvider() as sandbox:
        for code in (row["solution"], *row["wrong"]):
            submission = Submission(output=f"Here it is:\n```{language}\n{code}```\n")
            verdict = await evaluate(standard, submission, Resources(sandbox=sandbox))
            is_right = code == row["solution"]
            assert (verdict.score == 100) is is_right, f"{verdict.reasoning}\n{code}"


def test_the_test_file_makes_a_test_of_every_problem() -> None:
    pytest.importorskip("arena.catalog.dataset")
    source = read_source(FOLDER / "problems.yaml")
    assert source.problems == ()
    expected = [(f"{language}[{row['id']}]", row["test"]) for language, row in PROBLEMS]
    assert [(test.id, test.expected["script"]) for test in source.tests] == expected
