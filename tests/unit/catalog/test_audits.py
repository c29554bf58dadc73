"""The audit of a whole catalog: bounded, cached, and without models."""

from pathlib import Path

from arena.catalog.audit import Audits
from arena.catalog.catalog import Catalog, load_catalog
from arena.evaluation.resources import Resources
from arena.evaluation.standard import JudgePrompt
from arena.evaluation.verdict import Submission, Verdict
from factories import write_tests

WEAK = """
category: weak
tests:
  - {id: echoed, name: Echoed, prompt: Say hello to me, expected: {contains: [hello]}}
  - {id: fine, name: Fine, prompt: What is 6 times 7?, expected: {contains: [forty-two]}}
  - {id: resting, name: Resting, prompt: Say hello, expected: {contains: [hello]}, active: false}
"""
JUDGED = """
category: judged
tests:
  - id: judged
    name: Judged
    prompt: Write a poem
    validation: judge_prompt
    expected: {prompt: Is it a poem?, criteria: [It rhymes]}
  - id: reviewed
    name: Reviewed
    prompt: Write a poem
    validation: checklist
    expected: {items: [It rhymes]}
"""


def a_catalog(folder: Path, text: str) -> Catalog:
    (folder / "tests.yaml").write_text(text)
    return load_catalog([folder], builtin=False)


async def test_a_test_that_an_idle_agent_passes_is_reported(tmp_path: Path):
    report = await Audits().report(a_catalog(tmp_path, WEAK), within_seconds=60)
    assert {finding.test_id for finding in report.findings} == {"echoed"}
    assert (report.audited, report.left_out, report.pending) == (2, [], 0)


async def test_no_model_is_called_even_if_one_is_configured(tmp_path: Path):
    prompts: list[str] = []

    async def judge(standard: JudgePrompt, submission: Submission, _: str | None) -> Verdict:
        prompts.append(standard.prompt)
        raise AssertionError

    audits = Audits(Resources(judge=judge))
    report = await audits.report(a_catalog(tmp_path, JUDGED), within_seconds=60)
    assert (report.audited, set(report.left_out)) == (0, {"judged", "reviewed"})
    assert prompts == []


async def test_without_time_everything_stays_pending_until_later(tmp_path: Path):
    write_tests(tmp_path / "many.yaml", count=30)
    catalog = load_catalog([tmp_path], builtin=False)
    audits = Audits()
    first = await audits.report(catalog, within_seconds=-1)
    assert (first.audited, first.pending) == (0, 30)
    second = await audits.report(catalog, within_seconds=60)
    assert (second.audited, second.pending) == (30, 0)
    # Cached results need no time.
    assert (await audits.report(catalog, within_seconds=-1)).audited == 30


async def test_only_edited_tests_are_audited_again(tmp_path: Path):
    audits = Audits()
    await audits.report(a_catalog(tmp_path, WEAK), within_seconds=60)
    edited = a_catalog(tmp_path, WEAK.replace("contains: [hello]", "contains: [guten tag]"))
    report = await audits.report(edited, within_seconds=-1)
    assert (report.audited, report.pending) == (1, 1)
    assert (await audits.report(edited, within_seconds=60)).findings == []
