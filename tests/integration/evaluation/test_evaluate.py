"""Graded standards with real judging: code in the sandbox, answers of people."""

from collections.abc import AsyncIterator

import pytest

from arena.errors import InvalidInput
from arena.evaluation.evaluate import evaluate
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import NotJudged, Resources, ReviewNeeded
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import ItemAnswer, Judgement, Submission, Verdict
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.namespace.provider import NamespaceProvider

ADD = {
    "type": "test_cases",
    "functionName": "add",
    "cases": [{"input": [1, 2], "expected": 3}, {"input": [2, 2], "expected": 4}],
}
LISTED = {"type": "checklist", "items": ["a", "b", "c"]}
YES, NO = ItemAnswer(passed=True), ItemAnswer(passed=False, note="not there")


@pytest.fixture
async def resources() -> AsyncIterator[Resources]:
    async with NamespaceProvider() as sandbox:
        yield Resources(sandbox=sandbox)


async def judge(
    document: object, output: str, resources: Resources, language: str | None = None
) -> Verdict:
    submission = Submission(output=output, language=language)
    return await evaluate(read_standard_document(document), submission, resources)


async def test_each_case_is_a_finding_and_the_engine_is_reported(resources: Resources) -> None:
    verdict = await judge(ADD, "def add(a, b): return 3", resources)
    assert (verdict.score, verdict.passed) == (50, False)
    assert [finding.passed for finding in verdict.findings] == [True, False]
    assert verdict.findings[1].reason == "expected 4, got 3"
    assert verdict.engine.startswith("python")
    assert verdict.reasoning.startswith("1 of 2 cases passed; case 2: expected 4, got 3")


@pytest.mark.parametrize(
    "text", ["I cannot do that.", "", "package main\nfunc add(a, b int) int { return a + b }"]
)
async def test_code_whose_language_cannot_be_told_has_no_score(
    resources: Resources, text: str
) -> None:
    with pytest.raises(LanguageRefused, match="name it"):
        await judge(ADD, text, resources)


async def test_a_language_that_has_no_functions_is_refused(resources: Resources) -> None:
    for code, language in (("```rust\nfn add() {}\n```", None), ("fn add() {}", "rust")):
        with pytest.raises(LanguageRefused, match="leave the function name out"):
            await judge(ADD, code, resources, language)


PROGRAM = {
    "type": "test_cases",
    "cases": [{"input": [1], "expected": 1}, {"input": [2], "expected": 1}],
}


@pytest.mark.parametrize(
    "hostile",
    [
        "```sh\nrm -f input.json; mkdir input.json; echo 1\n```",
        "```sh\nrm -f input.json; ln -s /etc/passwd input.json; echo 1\n```",
        "```sh\nchmod 000 .; echo 1\n```",
    ],
)
async def test_a_program_cannot_refuse_to_be_judged(resources: Resources, hostile: str) -> None:
    assert not (await judge(PROGRAM, hostile, resources)).passed


async def test_an_unknown_language_is_the_callers_mistake(resources: Resources) -> None:
    with pytest.raises(InvalidInput, match="no language is called 'cobol'"):
        await judge(PROGRAM, "DISPLAY 1.", resources, "cobol")
    with pytest.raises(InvalidStandard, match="no language is called 'pyhton'") as error:
        await judge({**PROGRAM, "language": "pyhton"}, "print(1)", resources)
    assert "did you mean 'python'" in str(error.value)


class FilesAndCommands:
    """A provider without the fast path, as Docker and Daytona are."""

    def __init__(self, inside: NamespaceProvider) -> None:
        self.create, self.destroy = inside.create, inside.destroy


@pytest.mark.parametrize(
    "hostile",
    [
        "import os\ndef add(a, b): os.unlink('results')",
        "import os\ndef add(a, b): os.unlink('results'); os.mkdir('results')",
        "import os\ndef add(a, b): os.unlink('results'); os.symlink('/etc/passwd', 'results')",
        "import os\ndef add(a, b):\n    for _ in range(60): os.write(4, b'x' * (1 << 20))",
    ],
)
async def test_a_function_cannot_refuse_to_be_judged_in_a_plain_sandbox(hostile: str) -> None:
    async with NamespaceProvider() as inside:
        verdict = await judge(ADD, hostile, Resources(sandbox=FilesAndCommands(inside)))
    assert verdict.score == 0


GOOD = "def add(a, b): return a + b"


async def test_the_language_that_is_trusted_most_is_used(resources: Resources) -> None:
    python = {**ADD, "language": "python"}
    # No name is needed where the standard has one, and the submission's own is believed.
    assert (await judge(python, "def add(a, b): return a +", resources)).score == 0
    assert (await judge(python, GOOD, resources, "py")).score == 100
    assert (await judge(ADD, GOOD, resources, "javascript")).score == 0
    # A field wins over the fence.
    assert (await judge(ADD, f"```js\n{GOOD}\n```", resources, "python")).score == 100


@pytest.mark.parametrize(
    ("text", "language", "named"),
    [
        (f"```python\n{GOOD}\n```", None, "python"),
        (GOOD, "python", "python"),
        (GOOD, "go", "go"),
        (f"```js\n{GOOD}\n```", "python", "python"),
        ("```sh\nnpm install\n```\n```ts\nlet x: number\n```", None, "shell and typescript"),
    ],
)
async def test_a_submission_that_contradicts_its_standard_is_refused(
    resources: Resources, text: str, language: str | None, named: str
) -> None:
    in_cases = [{**case, "language": "js"} for case in ADD["cases"]]
    for standard in ({**ADD, "language": "javascript"}, {**ADD, "cases": in_cases}):
        message = f"the standard asks for javascript, but the submission names {named}$"
        with pytest.raises(LanguageRefused, match=message):
            await judge(standard, text, resources, language)


async def test_the_language_is_checked_before_a_model_or_a_person_is_asked(
    resources: Resources,
) -> None:
    async def never(*_: object) -> Verdict:
        raise AssertionError("asked")

    parts = [{"type": "judge_prompt", "prompt": "good?"}, LISTED, {**ADD, "language": "python"}]
    document = {"type": "all_of", "all_of": parts}
    asking = Resources(sandbox=resources.sandbox, judge=never)
    with pytest.raises(LanguageRefused, match="asks for python"):
        await judge(document, "```js\nadd\n```", asking)
    with pytest.raises(LanguageRefused, match="not evident"):
        await judge({"type": "all_of", "all_of": [parts[1], ADD]}, "no code", asking)


async def test_an_alternative_that_refuses_the_language_is_one_that_does_not_fit(
    resources: Resources,
) -> None:
    either = {
        "type": "any_of",
        "any_of": [{**ADD, "language": "javascript"}, {**ADD, "language": "python"}],
    }
    verdict = await judge(either, f"```python\n{GOOD}\n```", resources)
    assert (verdict.score, [part.score for part in verdict.parts]) == (100, [0, 100])
    assert "asks for javascript" in verdict.parts[0].reasoning
    with pytest.raises(LanguageRefused, match="asks for javascript"):
        await judge(either, "```go\nfunc add() {}\n```", resources)
    or_says = {"type": "any_of", "any_of": [ADD, {"type": "contains", "contains": ["sorry"]}]}
    assert (await judge(or_says, "sorry, I cannot", resources)).passed


async def test_cases_of_two_languages_are_run_in_both_and_kept_in_order(
    resources: Resources,
) -> None:
    cases = [
        {"input": [], "expected": "python", "language": "python"},
        {"input": [], "expected": "javascript", "language": "javascript"},
        {"input": [], "expected": "python", "language": "python"},
    ]
    both = '1//1 and 0 or ""\nf = lambda: "python"'
    standard = {"type": "test_cases", "functionName": "f", "cases": cases}
    verdict = await judge(standard, both, resources)
    assert [finding.passed for finding in verdict.findings] == [True, False, True]


async def test_a_case_has_its_own_tolerance(resources: Resources) -> None:
    cases = [
        {"input": [], "expected": [{"x": 1.0}], "tolerance": 0.2},
        {"input": [], "expected": [{"x": 1.0}]},
    ]
    standard = {"type": "test_cases", "functionName": "f", "cases": cases}
    code = "def f(): return [{'x': 1.15}]"
    passed = [finding.passed for finding in (await judge(standard, code, resources)).findings]
    assert passed == [True, False]
    whole = {**standard, "tolerance": 1}
    passed = [finding.passed for finding in (await judge(whole, code, resources)).findings]
    assert passed == [True, True]


async def test_without_a_sandbox_nothing_is_judged() -> None:
    with pytest.raises(NotJudged, match="need a sandbox"):
        await judge(ADD, "def add(a, b): return a + b", Resources())


async def test_without_a_judge_nothing_is_judged() -> None:
    with pytest.raises(NotJudged, match="ARENA_JUDGE_MODEL"):
        await judge({"type": "judge_prompt", "prompt": "good?"}, "x", Resources())


async def test_a_checklist_waits_for_people_and_then_counts_what_passed() -> None:
    with pytest.raises(ReviewNeeded) as waiting:
        await judge(LISTED, "x", Resources())
    assert waiting.value.checklists.keys() == {()}
    verdict = await judge(LISTED, "x", Resources(answers={(): [YES, NO, YES]}))
    assert (verdict.score, verdict.passed) == (66, True)
    assert verdict.findings[1].reason == "failed: not there"


async def test_parts_are_weighed_and_kept(resources: Resources) -> None:
    parts = [{**ADD, "weight": 3}, {**LISTED, "weight": 1}]
    document = {"type": "all_of", "all_of": parts, "pass_score": 90}
    with pytest.raises(ReviewNeeded) as waiting:
        await judge(document, "def add(a, b): return a + b", resources)
    (place,) = waiting.value.checklists
    answered = Resources(sandbox=resources.sandbox, answers={place: [YES, NO, NO]})
    verdict = await judge(document, "def add(a, b): return a + b", answered)
    assert [part.score for part in verdict.parts] == [100, 33]
    assert verdict.score == pytest.approx((3 * 100 + 33) / 4)
    assert not verdict.passed
    lenient = {**document, "pass_score": 80}
    assert (await judge(lenient, "def add(a, b): return a + b", answered)).passed


async def test_a_judges_verdict_is_taken_as_it_is() -> None:
    standards: list[JudgePrompt] = []
    judgement = Judgement(votes=(), rule="lower median", spread={}, prompt_digest="")

    async def fixed_verdict(standard: JudgePrompt, _: Submission, _purpose: str | None) -> Verdict:
        standards.append(standard)
        return Verdict(score=71, passed=True, reasoning="", findings=(), judgement=judgement)

    verdict = await judge(
        {"type": "judge_prompt", "prompt": "good?"}, "x", Resources(judge=fixed_verdict)
    )
    assert (verdict.score, verdict.judgement) == (71, judgement)
    assert [standard.prompt for standard in standards] == ["good?"]


async def test_any_output_of_code_can_be_sent_and_stored(resources: Resources) -> None:
    raising = "    if a == 1:\n        raise ValueError('\\0 \\ud83d')\n"
    code = f"def add(a, b):\n{raising}    return '\\ud83d'"
    verdict = await judge(ADD, code, resources)
    for finding in verdict.findings:
        text = f"{finding.reason} {finding.evidence}"
        assert text.encode().decode() == text
        assert "\0" not in text and "\N{REPLACEMENT CHARACTER}" in text
