"""The app against its own description: whatever a client sends, the response is documented."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given
from hypothesis import settings as bounded
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from drills import Arena
from factories import write_agent, write_checklist, write_tests

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

FRAMES = {"content-length", "transfer-encoding"}
"""A wrong value in one of these headers makes the request invalid HTTP."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real `arena serve` with one tiny agent."""
    home = tmp_path_factory.mktemp("home")
    write_agent(home / "agents", "parrot", "return prompt.upper()")
    write_tests(home / "benchmarks" / "parrot.yaml", count=2, agents=["parrot"])
    write_checklist(home / "benchmarks" / "reviewed.yaml", agents=["parrot"])
    with Arena(home).serving() as running:
        _fill(running.url)
        yield running.url


def _fill(url: str) -> None:
    """Add data to find: a run that awaits review and one that is pending."""
    with httpx2.Client(base_url=url, timeout=30, trust_env=False) as http:
        for _ in range(2):
            answer = http.post("/api/benchmarks/run", json={"agent_id": "parrot"})
        http.post(f"/api/benchmarks/run/{answer.json()['run_id']}/execute")


ROOT = Path(__file__).parents[3]
DESCRIPTION = ROOT / "docs" / "reference" / "openapi.json"
# Streams stay open until there is nothing left to watch; they have tests of their own.
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
            max_examples=4,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            assume(FRAMES.isdisjoint(name.lower() for name in case.headers))
            case.call_and_validate(base_url=server, checks=CHECKS, timeout=30)

        try:
            ask()
        except Unsatisfiable:
            assert mode is GenerationMode.NEGATIVE  # an operation that takes anything
