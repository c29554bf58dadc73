"""The app against its own description: whatever a client sends, the answer is a described one."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as bounded
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from arena.api import create_app
from arena.settings import Settings
from factories import write_agent, write_checklist, write_tests

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server with one tiny agent, on a free port, in a thread of its own."""
    home = tmp_path_factory.mktemp("home")
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    write_tests(home / "benchmarks" / "parrot.yaml", count=2, agents=["parrot"])
    write_checklist(home / "benchmarks" / "reviewed.yaml", agents=["parrot"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(create_app(Settings(home=home)), log_level="critical")
        running = uvicorn.Server(config)
        running.capture_signals = nullcontext  # type: ignore[method-assign]
        work = running.serve(sockets=[listener])
        thread = threading.Thread(target=asyncio.run, args=(work,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        _fill(url)
        yield url
        running.should_exit = True
        thread.join()


def _fill(url: str) -> None:
    """Something to find: a run that waits for people and one that waits to be executed."""
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as http:
        for _ in range(2):
            answer = http.post("/api/benchmarks/run", json={"agent_id": "parrot"})
        http.post(f"/api/benchmarks/run/{answer.json()['run_id']}/execute")


ROOT = Path(__file__).parents[3]
DESCRIPTION = ROOT / "docs" / "reference" / "openapi.json"
# Watching lasts as long as there is something to see; it has tests of its own.
OPERATIONS = [
    (path, method)
    for path, operations in json.loads(DESCRIPTION.read_text())["paths"].items()
    for method, operation in operations.items()
    if operation["operationId"] not in ("watch_run", "watch_team", "watch_reviews", "watch_market")
]


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_answer_is_a_described_one(server: str, path: str, method: str):
    operation = schemathesis.openapi.from_path(DESCRIPTION)[path][method]
    for mode in GenerationMode:

        @bounded(
            max_examples=6,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            case.call_and_validate(base_url=server, checks=CHECKS, timeout=30)

        try:
            ask()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # an operation that takes anything
