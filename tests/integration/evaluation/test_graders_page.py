"""The examples of the page about graders are judged as it says."""

import re
from pathlib import Path

import pytest

from arena.catalog.loader import read_source
from arena.evaluation.evaluate import evaluate
from arena.evaluation.resources import Resources
from arena.evaluation.verdict import Submission
from arena.sandbox.namespace.provider import NamespaceProvider

PAGE = (Path(__file__).parents[3] / "docs/graders.md").read_text()
BLOCK = re.compile(r"^```yaml\n(.*?)^```\n(.*?)(?=^```|\Z)", flags=re.MULTILINE | re.DOTALL)
ANSWER = re.compile(r"^- (passes|fails): `(.*)`$", flags=re.MULTILINE)
EXAMPLES = [
    (text, kind == "passes", answer)
    for text, after in BLOCK.findall(PAGE)
    for kind, answer in ANSWER.findall(after)
]


@pytest.mark.parametrize(("text", "passes", "answer"), EXAMPLES)
async def test_an_answer_is_judged_as_the_page_says(
    tmp_path: Path, text: str, passes: bool, answer: str
) -> None:
    (tmp_path / "page.yaml").write_text(text)
    source = read_source(tmp_path / "page.yaml")
    assert source.problems == ()
    async with NamespaceProvider() as sandbox:
        submission = Submission(output=answer)
        verdict = await evaluate(source.tests[0].standard, submission, Resources(sandbox=sandbox))
    assert verdict.passed is passes, verdict.reasoning


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 5
