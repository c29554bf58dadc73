"""Runs of tests with tools: refused, executed, recorded, verified, pushed; and the example."""

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml

from arena.assembly import Arena
from arena.errors import InvalidInput
from arena.evaluation.verify import verify
from arena.runs.run import Run, RunRequest
from arena.settings import Settings
from databases import open_house
from factories import write_agent

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples/tools"
TEAM = "team"


@pytest.fixture
def model_url() -> Iterator[str]:
    """The scripted model of the example."""
    server = subprocess.Popen(
        [sys.executable, str(EXAMPLE / "weather_model.py"), "0"], stdout=subprocess.PIPE, text=True
    )
    with server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.kill()


@pytest.fixture
async def house(settings: Settings, model_url: str) -> AsyncIterator[Arena]:
    agents, tests = settings.home / "agents", settings.home / "benchmarks"
    agents.mkdir(parents=True)
    text = (EXAMPLE / "weather-model.yaml").read_text()
    (agents / "weather-model.yaml").write_text(text.replace("http://127.0.0.1:8090/v1", model_url))
    write_agent(agents, "parrot", "return prompt")
    shutil.copytree(EXAMPLE / "tests", tests, dirs_exist_ok=True)
    graded = {
        "tests": [
            {
                "id": "graded",
                "name": "Graded",
                "prompt": "What is the weather in Oslo?",
                "tools": [{"name": "weather", "answer": "snow"}],
                "validation": "all_of",
                "pass_score": 50,
                "expected": {
                    "all_of": [
                        {"validation": "contains", "expected": {"contains": ["rain"]}},
                        {
                            "validation": "tool_called",
                            "expected": {
                                "tool": "weather",
                                "arguments_schema": {"required": ["city"]},
                            },
                        },
                    ]
                },
            }
        ]
    }
    (tests / "graded.yaml").write_text(yaml.safe_dump(graded))
    async with open_house(settings) as opened:
        assert opened.catalog.current.problems == ()
        yield opened


async def executed(house: Arena, **request: object) -> Run:
    asked = RunRequest(team_id=TEAM, agent_id="weather-model", **request)  # type: ignore[arg-type]
    run = await house.executor.create(asked)
    await house.executor.start(run.id, TEAM)
    ended = await house.executor.wait(run.id)
    assert ended.status == "completed", ended.error_message
    return ended


async def test_the_example_runs_and_its_steps_are_kept(house: Arena):
    run = await executed(house, suite="tools-example")
    results = (await house.runs.results(run.id)).results
    assert {one.test_id: one.passed for one in results} == {
        "asks_for_the_right_city": True,
        "tries_again": True,
        "says_that_it_does_not_know": True,
        "looks_before_it_books": True,
    }
    by_id = {one.test_id: one for one in results}
    booked = by_id["looks_before_it_books"]
    assert [(one.tool, one.source) for one in booked.steps or ()] == [
        ("forecast", "arena"),
        ("book_table", "arena"),
    ]
    late, again = by_id["tries_again"].steps or ()
    assert (late.error, again.result) == ("the tool timed out", {"sky": "rainy"})
    # Two rounds of 10 and 30 tokens in, 10 out each, by the price of the agent's file.
    right = by_id["asks_for_the_right_city"]
    assert (right.input_tokens, right.output_tokens) == (40, 20)
    assert right.cost_usd == pytest.approx((40 * 1 + 20 * 2) / 1e6)


async def test_a_graded_verdict_on_steps_can_be_verified(house: Arena):
    run = await executed(house, test_ids=("graded",), suite="custom")
    [result] = (await house.runs.results(run.id)).results
    assert (result.score, result.passed) == (50, True)
    assert result.verdict_cid is not None
    found = await verify(house.content, result.verdict_cid, house.resources.sandbox)
    assert (found.outcome, found.score) == ("holds", 50)


async def test_a_run_with_tools_is_pushed_and_replayed(
    house: Arena, tmp_path: Path, sqlite_tables: Path
):
    run = await executed(house, suite="tools-example")
    bundle = house.pushing.bundle(run.id, TEAM, house.catalog.current.by_id)
    data = b"".join([line async for line in bundle])
    settings = Settings(home=tmp_path / "receiver")
    settings.home.mkdir()
    shutil.copy(sqlite_tables, settings.home)
    async with open_house(settings) as receiver:
        pushed = await receiver.pushing.receive(TEAM, data)
        assert pushed.verification is not None
        assert pushed.verification["replayed"] == 4
        results = (await receiver.runs.results(pushed.id)).results
        assert all(one.steps for one in results)


async def test_an_agent_that_cannot_be_offered_tools_is_refused(house: Arena):
    request = RunRequest(team_id=TEAM, agent_id="parrot", test_ids=("graded",), suite="custom")
    with pytest.raises(InvalidInput, match="'parrot' cannot do; connectors that can: openai"):
        await house.executor.create(request)


def test_the_example_answers_nothing_else_than_its_tests_say():
    tests = yaml.safe_load((EXAMPLE / "tests/weather.yaml").read_text())["tests"]
    assert len(tests) == 4
    tape = json.loads((EXAMPLE / "tests/cassettes/oslo.json").read_text())
    assert {step["tool"] for step in tape} == {"forecast", "book_table"}
