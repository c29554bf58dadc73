"""The examples of the document about the sandbox, in Python's spelling, run as it shows them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from arena.client import read_output
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import Resources
from arena.evaluation.standard import Checklist, JudgePrompt, TestCases
from arena.evaluation.verdict import Submission
from arena.sandbox.cases import calc_score, run_tests
from arena.sandbox.namespace.launch import find_node
from arena.sandbox.namespace.provider import NamespaceProvider
from integration.sandbox.machine import need, need_isolation
from integration.sandbox.test_run_tests import SEED, WRONG

pytestmark = pytest.mark.asyncio(loop_scope="module")
EVALUATION: dict[str, Any] = {"type": "test_cases", "functionName": "deepMerge", "cases": SEED}
JUDGED = {
    "type": "judge_prompt",
    "prompt": "Evaluate this code for: (1) correctness, (2) efficiency, (3) readability. "
    "Score 0-100.",
    "criteria": ["correctness", "efficiency", "readability"],
    "weights": [50, 30, 20],
}
LISTED = {
    "type": "checklist",
    "items": [
        "Function handles null/undefined inputs without throwing",
        "Returns a new object (does not mutate inputs)",
        "Correctly merges nested objects 3+ levels deep",
        "Handles circular references gracefully",
        "Includes JSDoc comments",
    ],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[NamespaceProvider]:
    need_isolation()
    need(find_node() is not None, "Node is not installed")
    async with NamespaceProvider() as provider:
        yield provider


async def test_the_example_of_the_document_runs_as_written(provider) -> None:
    submitted_code = WRONG
    results = await run_tests(provider, submitted_code, "deepMerge", EVALUATION["cases"])
    score = calc_score(results, 100)
    assert score == 66
    assert [(one.desc, one.passed, one.got, one.expected) for one in results] == [
        ("merge two flat objects", True, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ("deep merge nested objects", True, {"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 2}}),
        ("arrays overwrite (not merge)", False, {"a": [1, 2, 3]}, {"a": [3]}),
    ]
    assert calc_score(results, 10) == 6
    # The judge's flow gives the same.
    standard = read_standard_document(EVALUATION)
    submission = Submission(output=submitted_code)
    verdict = await evaluate(standard, submission, Resources(sandbox=provider))
    assert (verdict.score, verdict.passed) == (66, True)


async def test_the_interface_of_a_sandbox_is_the_documents(provider) -> None:
    sandbox = await provider.create(timeout=20)
    try:
        await sandbox.write_file("a.txt", "hello")
        assert await sandbox.read_file("a.txt") == "hello"
        done = await sandbox.exec("cat a.txt; echo no >&2; exit 3", timeout=20)
        assert (done.stdout, done.stderr, done.exit_code) == ("hello", "no\n", 3)
        assert (await sandbox.exec("true")).exit_code == 0
    finally:
        await sandbox.destroy()
    other = await provider.create()
    await provider.destroy(other.id)


@pytest.mark.parametrize(
    ("document", "kind"), [(EVALUATION, TestCases), (JUDGED, JudgePrompt), (LISTED, Checklist)]
)
async def test_the_standards_of_the_document_are_valid(document, kind) -> None:
    assert isinstance(read_standard_document(document), kind)


async def test_the_output_of_an_executor_is_the_documents() -> None:
    printed = b'{"resultHash": "QmResult", "resultPreview": "function deepMerge..."}'
    assert read_output(printed).result_hash == "QmResult"
