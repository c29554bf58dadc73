"""Graded results of a run name a record that can be checked."""

import shutil
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter

from arena.assembly import Arena
from arena.evaluation.verify import verify
from arena.runs.run import Result, Run, RunRequest
from arena.settings import Settings
from conftest import missing
from databases import open_house
from factories import write_agent, write_tests

CODE = "def add(a, b):\n    return a + b\n"
CASES = [{"input": [1, 2], "expected": 3}, {"input": [2, 2], "expected": 5}]


@pytest.fixture
async def house(settings: Settings):
    if shutil.which("bwrap") is None:
        missing("bubblewrap")
    write_agent(settings.home / "agents", "coder", f"return {CODE!r} if 'add' in prompt else 'no'")
    write_tests(settings.home / "benchmarks" / "plain.yaml", count=2, agents=["coder"])
    graded = {
        "category": "code",
        "tests": [
            {
                "id": "add",
                "name": "Add",
                "prompt": "Write add",
                "validation": "test_cases",
                "expected": {"functionName": "add", "cases": CASES},
                "pass_score": 50,
                "agents": ["coder"],
            }
        ],
    }
    (settings.home / "benchmarks" / "graded.yaml").write_text(yaml.safe_dump(graded))
    async with open_house(settings) as opened:
        yield opened


async def execute(house: Arena, agent: str) -> Run:
    """Run the tests of an agent to their end."""
    run = await house.executor.create(RunRequest(team_id="team", agent_id=agent))
    await house.executor.start(run.id, "team")
    return await house.executor.wait(run.id)


async def test_a_graded_result_names_a_record_and_a_plain_one_needs_none(
    house: Arena, tmp_path: Path
):
    run = await execute(house, "coder")
    assert run.status == "completed", run.error_message
    results = {one.test_id: one for one in (await house.runs.results(run.id)).results}
    graded = results.pop("add")
    assert (graded.score, graded.passed) == (50, True)
    assert graded.verdict_cid is not None
    found = await verify(house.content, graded.verdict_cid, house.resources.sandbox)
    assert (found.outcome, found.score) == ("holds", 50)
    assert found.made_with.sandbox == "namespace"
    assert {result.verdict_cid for result in results.values()} == {None}
    files = [path for path in house.content.folder.rglob("*") if path.is_file()]
    assert len(files) == 3  # the standard, the submission, the record


async def test_code_that_returns_or_raises_odd_characters_has_a_result_like_any_other(
    house: Arena, settings: Settings
):
    raising = "    if how == 'raise':\n        raise ValueError('\\0')\n"
    code = f"def say(how):\n{raising}    return '\\ud83d'"
    write_agent(settings.home / "agents", "odd", f"return {code!r}")
    cases = [{"input": ["raise"], "expected": 1}, {"input": ["return"], "expected": 1}]
    write_tests(
        settings.home / "benchmarks" / "odd.yaml",
        count=1,
        agents=["odd"],
        validation="test_cases",
        expected={"functionName": "say", "cases": cases},
        case_sensitive=None,
    )
    house.catalog.refresh()
    house.registry.refresh()
    run = await house.executor.create(RunRequest(team_id="team", agent_id="odd"))
    await house.executor.start(run.id, "team")
    run = await house.executor.wait(run.id)
    assert (run.status, run.failed_tests) == ("completed", 1), run.error_message
    (recorded,) = (await house.runs.results(run.id)).results
    assert TypeAdapter(Result).dump_json(recorded)


async def test_an_answer_whose_language_cannot_be_told_fails_its_test_and_says_why(
    house: Arena, settings: Settings
):
    write_agent(settings.home / "agents", "gopher", "return 'package main\\nfunc main() {}'")
    for name, validation, expected in (
        ("code", "test_cases", {"functionName": "add", "cases": CASES}),
        ("words", "contains", {"contains": ["main"]}),
    ):
        write_tests(
            settings.home / "benchmarks" / f"{name}.yaml",
            count=1,
            agents=["gopher"],
            validation=validation,
            expected=expected,
            case_sensitive=None,
        )
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "gopher")
    assert (run.status, run.passed_tests, run.failed_tests) == ("completed", 1, 1)
    results = (await house.runs.results(run.id)).results
    [failed] = [one for one in results if not one.passed]
    assert failed.status == "completed"
    assert (failed.findings, failed.verdict_cid) == ([], None)
    assert "not evident" in str(failed.failure_reason)
    assert "```python" in str(failed.failure_reason)


async def test_an_agent_names_the_language_in_its_answer(house: Arena, settings: Settings):
    # A program that prints its input: nothing in it shows that it is Perl.
    code = "print <STDIN>;"
    write_agent(
        settings.home / "agents", "perl", f"return {{'output': {code!r}, 'language': 'Perl'}}"
    )
    write_tests(
        settings.home / "benchmarks" / "echo.yaml",
        count=1,
        agents=["perl"],
        validation="test_cases",
        expected={"cases": [{"input": [7], "expected": [7]}]},
        case_sensitive=None,
    )
    house.catalog.refresh()
    house.registry.refresh()
    run = await execute(house, "perl")
    [result] = (await house.runs.results(run.id)).results
    assert result.passed, result.failure_reason
    assert result.actual_output == {"output": code, "language": "perl"}
    assert result.verdict_cid is not None
    found = await verify(house.content, result.verdict_cid, house.resources.sandbox)
    assert found.outcome == "holds"
