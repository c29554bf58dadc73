"""Agents in a container, on a real Docker engine: `make test-docker`."""

import json
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from arena.evaluation.resources import Resources
from arena.sandbox.docker import DockerProvider
from integration.workspaces.world import HONEST, START, ask, task

SOCKET = os.environ.get("ARENA_TEST_DOCKER_SOCKET", "")
IMAGE = "arena-sandbox-test"
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not SOCKET, reason="needs a Docker engine: make test-docker"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def resources() -> AsyncIterator[Resources]:
    async with DockerProvider(socket=SOCKET, image=IMAGE) as provider:
        yield Resources(sandbox=provider)


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{SOCKET}")


def agent(folder: Path, source: str) -> Path:
    folder.mkdir()
    (folder / "agent.py").write_text(START.format(outside="/outside") + source + "print('Done.')\n")
    (folder / "secret.txt").write_text("hidden things")
    (folder / "prompts").mkdir()
    (folder / "prompts/one.txt").write_text("mounted")
    place = {"image": IMAGE, "mount": ["prompts"]}
    keys = {"type": "command", "command": "python3 agent.py", "place": place}
    path = folder / "agent.yaml"
    path.write_text(json.dumps({"id": "agent", "connector": keys}))
    return path


async def test_an_agent_in_a_container_is_protected_and_sees_only_its_files(
    tmp_path: Path, resources: Resources
) -> None:
    source = HONEST + (
        f"assert not os.path.exists({str(tmp_path)!r})\n"
        "assert os.environ['ARENA_WORKSPACE'] == os.getcwd() == '/workspace'\n"
        "assert sorted(os.listdir('/agent')) == ['agent.py', 'prompts']\n"
        "assert open('/agent/prompts/one.txt').read() == 'mounted'\n"
    )
    result = await ask(agent(tmp_path / "agent", source), task("unittest"), resources)
    assert result.passed, result.failure_reason
    assert result.workspace is not None
    assert result.workspace["is_protected"] is True


async def test_what_an_agent_leaves_running_ends_with_its_container(
    tmp_path: Path, resources: Resources
) -> None:
    source = "import subprocess\nsubprocess.Popen(['sleep', '3600'], start_new_session=True)\n"
    await ask(agent(tmp_path / "agent", source), task("unittest"), resources)
    listed = subprocess.run(
        ["docker", "ps", "--all", "--quiet", "--filter", "name=arena-agent-"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert listed.stdout == ""


async def test_a_container_that_hangs_is_removed_in_time(
    tmp_path: Path, resources: Resources
) -> None:
    source = "import time\ntime.sleep(3600)\n"
    test = replace(task("unittest"), timeout_seconds=5)
    result = await ask(agent(tmp_path / "agent", source), test, resources)
    assert result.status == "timeout"
    listed = subprocess.run(
        ["docker", "ps", "--all", "--quiet", "--filter", "name=arena-agent-"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert listed.stdout == ""


async def test_verification_and_setup_run_in_the_image(
    tmp_path: Path, resources: Resources
) -> None:
    test = task("unittest", image=IMAGE)
    setup = {**(test.workspace or {}), "setup": "cp calc.py copy.py", "image": IMAGE}
    source = HONEST + "assert os.path.exists('copy.py')\n"
    file = agent(tmp_path / "agent", source)
    result = await ask(file, replace(test, workspace=setup), resources)
    assert result.passed, result.failure_reason
