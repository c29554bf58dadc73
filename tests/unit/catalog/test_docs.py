"""The page about the test format and the example file are correct."""

import json
import re
from pathlib import Path

import pytest

from arena.catalog.audit import audit, audit_test
from arena.catalog.catalog import lint
from arena.catalog.fix_hints import BY_AGENT
from arena.catalog.keys import DATA_KEYS, FILE_KEYS, TestKeys
from arena.catalog.loader import read_source
from arena.catalog.solution import SolutionKeys
from arena.catalog.source import Source
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import Resources
from arena.evaluation.standard import VALIDATIONS
from arena.evaluation.verdict import Submission
from arena.models.message import read_messages
from arena.models.step import read_steps
from arena.models.usage import usage_from
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.workspaces.collected import Collected, File

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/test-format.md").read_text()
EXAMPLES = ROOT / "examples/tests"
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n(.*?)(?=^```yaml|\Z)", flags=re.MULTILINE | re.DOTALL)
BLOCKS = [(match[1], match[2]) for match in BLOCK.finditer(PAGE)]
GOOD = [(text, after) for text, after in BLOCKS if not text.startswith("# bad")]
ANSWERS = [
    (text, kind == "passes", answer)
    for text, after in GOOD
    for kind, answer in re.findall(r"^- (passes|fails): `(.*)`$", after, flags=re.MULTILINE)
]


def load(folder: Path, text: str, name: str = "example.yaml") -> Source:
    path = folder / name
    path.write_text(text)
    return read_source(path)


def submission_in(answer: str) -> Submission:
    """A text, or everything that an agent did as a JSON object."""
    if not answer.startswith('{"output"'):
        return Submission(output=answer)
    body = json.loads(answer)
    return Submission(
        output=body["output"],
        messages=read_messages(body.get("messages")),
        steps=read_steps(body.get("steps")),
        usage=usage_from(body.get("usage")),
        duration_seconds=body.get("duration_seconds"),
        files=collected_from(body["files"]) if "files" in body else None,
    )


def collected_from(files: dict[str, str]) -> Collected:
    """Files that an agent left, by their text."""
    return Collected(files={path: File(content=text.encode()) for path, text in files.items()})


@pytest.mark.parametrize("text", [text for text, _ in GOOD])
def test_every_example_of_the_page_loads(tmp_path: Path, text: str) -> None:
    source = load(tmp_path, text)
    assert source.problems == ()
    assert source.tests


def test_the_example_of_the_page_about_reviews_loads(tmp_path: Path) -> None:
    ((text, _),) = BLOCK.findall((ROOT / "docs/reviews.md").read_text())
    source = load(tmp_path, text)
    assert source.problems == ()
    assert [test.validation for test in source.tests] == ["checklist"]


async def test_the_example_of_the_page_about_workspaces_judges_files(tmp_path: Path) -> None:
    text, *_ = (text for text, _ in BLOCK.findall((ROOT / "docs/workspaces.md").read_text()))
    source = load(tmp_path, text)
    assert source.problems == ()
    async with NamespaceProvider() as sandbox:
        for operator, passes in (("+", True), ("-", False)):
            files = {"calc.py": f"def add(a, b):\n    return a {operator} b\n"}
            submission = Submission(output="Done.", files=collected_from(files))
            verdict = await evaluate(
                source.tests[0].standard, submission, Resources(sandbox=sandbox)
            )
            assert verdict.passed is passes, verdict.reasoning


def test_the_example_of_the_page_about_tools_loads(tmp_path: Path) -> None:
    ((text, _),) = BLOCK.findall((ROOT / "docs/tools.md").read_text())
    source = load(tmp_path, text)
    assert source.problems == ()
    assert [tool["name"] for tool in source.tests[0].tools or ()] == ["weather", "forecast"]


@pytest.mark.parametrize(("text", "passes", "answer"), ANSWERS)
async def test_every_answer_on_the_page_is_judged_as_it_says(
    tmp_path: Path, text: str, passes: bool, answer: str
) -> None:
    (test,) = load(tmp_path, text).tests
    async with NamespaceProvider() as sandbox:
        resources = Resources(sandbox=sandbox)
        verdict = await evaluate(test.standard, submission_in(answer), resources)
    assert verdict.passed is passes, verdict.reasoning


def test_every_validation_has_an_example_with_right_and_wrong_answers(tmp_path: Path) -> None:
    judged = {(load(tmp_path, text).tests[0].validation, passes) for text, passes, _ in ANSWERS}
    assert judged == {(name, passes) for name in VALIDATIONS for passes in (True, False)} - {
        (name, passes)
        for name in ("any_of", "judge_prompt", "checklist")
        for passes in (True, False)
    }


def test_the_problems_on_the_page_are_those_that_are_reported(tmp_path: Path) -> None:
    ((text, after),) = (block for block in BLOCKS if block not in GOOD)
    expected = re.search(r"^```text\n(.*?)^```", after, flags=re.MULTILINE | re.DOTALL)
    assert expected is not None
    problems = load(tmp_path, text, "bad.yaml").problems
    lines = [str(problem).removeprefix(f"{tmp_path}/") for problem in problems]
    assert lines == expected[1].splitlines()


def test_the_page_has_every_key() -> None:
    keys = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, flags=re.MULTILINE))
    assert keys == {*TestKeys.model_fields, *FILE_KEYS, *DATA_KEYS}


async def test_the_echoed_example_is_echoed(tmp_path: Path) -> None:
    (test,) = load(tmp_path, GOOD[-1][0]).tests
    assert "echo" in {finding.agent for finding in await audit([test])}


async def test_the_example_file_is_good_and_passes_the_audit() -> None:
    report = lint([EXAMPLES])
    assert report.problems == ()
    assert len(report.tests) == 4
    assert [str(finding) for finding in await audit(report.tests)] == []


@pytest.mark.parametrize(
    ("test_id", "answer", "passes"),
    [
        ("kitchen_001", "350 °F are about 176.7 °C, so set the oven to 177.", True),
        ("kitchen_001", "About 180", False),
        ("kitchen_002", "A mashed banana does it.", True),
        ("kitchen_003", '{"flour_g": 750, "water_ml": 450}', True),
        ("kitchen_003", '{"flour_g": 700, "water_ml": 450}', False),
        ("kitchen_004", "Tomato sauce: tomatoes, garlic, olive oil.", True),
        ("kitchen_004", "Garlic cream: garlic, cream, pepper.", False),
    ],
)
async def test_the_example_file_distinguishes_right_from_wrong(
    test_id: str, answer: str, passes: bool
) -> None:
    test = lint([EXAMPLES]).test(test_id)
    verdict = await evaluate(test.standard, Submission(output=answer))
    assert verdict.passed is passes, verdict.reasoning


async def test_the_solutions_on_the_page_about_the_audit_pass(tmp_path: Path) -> None:
    ((text, _),) = BLOCK.findall((ROOT / "docs/audit.md").read_text())
    source = load(tmp_path, text)
    assert source.problems == ()
    async with NamespaceProvider() as sandbox:
        for test in source.tests:
            audited = await audit_test(test, Resources(sandbox=sandbox))
            assert audited is not None
            assert (audited.findings, audited.is_solved) == ((), True)


def test_the_page_about_the_audit_has_every_key_of_a_solution_and_every_cheat() -> None:
    page = (ROOT / "docs/audit.md").read_text()
    rows = re.findall(r"^\| ((?:`[a-z]+`(?:, )?)+) \|", page, flags=re.MULTILINE)
    named = {name for row in rows for name in re.findall("`([a-z]+)`", row)}
    assert named == {*SolutionKeys.model_fields, *BY_AGENT} - {"solution"}
