"""Things that tests need, with defaults a test overrides."""

import os
import resource
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import yaml

from arena import clock
from arena.catalog.test import Test
from arena.runs.item import Executed
from arena.runs.run import Result, Run, RunStatus
from arena.scoring.history import ExecutionStatus


def a_test(**changes: object) -> Test:
    """A test that any answer with "yes" passes."""
    values = {
        "id": "t1",
        "name": "A test",
        "prompt": "Say it",
        "expected": {"contains": ["yes"]},
        "category": "custom",
    }
    return Test(**{**values, **changes})


def write_agent(folder: Path, agent_id: str, body: str, **keys: object) -> Path:
    """An agent whose Python function `answer(prompt)` has this body."""
    folder.mkdir(parents=True, exist_ok=True)
    module = agent_id.replace("-", "_")
    inside = textwrap.indent(textwrap.dedent(body), "    ")
    code = f"import os, sys, time\n\ndef answer(prompt):\n{inside}\n"
    (folder / f"{module}.py").write_text(code)
    agent = {
        "id": agent_id,
        "version": "1.0.0",
        "name": agent_id.title(),
        "description": "An agent of a test",
        "connector": {"type": "python", "callable": f"{module}:answer"},
        **keys,
    }
    path = folder / f"{module}.yaml"
    path.write_text(yaml.safe_dump(agent))
    return path


def write_tests(
    path: Path, *, count: int = 3, agents: Sequence[str] | None = None, **keys: object
) -> Path:
    """A file of tests that an agent passes which answers in capitals."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tests = [
        {
            "id": f"{path.stem}_{number:05}",
            "name": f"Test {number}",
            "prompt": f"say word{number}",
            "expected": {"contains": [f"WORD{number}"]},
            "case_sensitive": True,
            "agents": None if agents is None else list(agents),
            **keys,
        }
        for number in range(1, count + 1)
    ]
    for test in tests:
        if test["agents"] is None:
            del test["agents"]
    path.write_text(yaml.safe_dump({"category": path.stem, "tests": tests}, sort_keys=False))
    return path


def a_result(**changes: object) -> Result:
    """A result of a passed test."""
    values: dict[str, object] = {
        "id": uuid4(),
        "sequence": 0,
        "test_id": "t1",
        "trial": 1,
        "category": "custom",
        "status": ExecutionStatus.COMPLETED,
        "passed": True,
        "score": 100.0,
        "points_earned": 1.0,
        "points_possible": 1.0,
        "actual_output": {"output": "yes"},
        "failure_reason": None,
        "findings": [],
        "duration_seconds": 0.1,
        "attempts": 1,
        "input_tokens": None,
        "output_tokens": None,
        "model": None,
        "cost_usd": None,
        "created_at": clock.now(),
    }
    return Result(**{**values, **changes})


def a_run(**changes: object) -> Run:
    """A completed run of one test."""
    now = clock.now()
    values: dict[str, object] = {
        "id": uuid4(),
        "agent_id": "parrot",
        "agent_version": "1.0.0",
        "team_id": "",
        "status": RunStatus.COMPLETED,
        "total_tests": 1,
        "completed_tests": 1,
        "passed_tests": 1,
        "failed_tests": 0,
        "errored_tests": 0,
        "score_percent": 100.0,
        "points_earned": 1.0,
        "points_possible": 1.0,
        "points_percent": 100.0,
        "is_full": True,
        "trials": None,
        "concurrency": None,
        "category": None,
        "input_tokens": None,
        "output_tokens": None,
        "cost_usd": None,
        "costed_tests": 0,
        "duration_seconds": 1.5,
        "error_message": None,
        "created_at": now,
        "started_at": now,
        "completed_at": now,
    }
    return Run(**{**values, **changes})


def executed(test: Test | None = None, **changes: object) -> Executed:
    """A result of a passed test, as the engine hands it to the database."""
    return Executed(test=test or a_test(), result=a_result(**changes))


def write_checklist(
    path: Path, items: Sequence[str] = ("clear", "true", "short"), **keys: object
) -> Path:
    """A file of tests that people have to judge."""
    checklist = {"validation": "checklist", "expected": {"items": list(items)}}
    return write_tests(path, **{"count": 1, "case_sensitive": None, **checklist, **keys})


@contextmanager
def without_descriptors() -> Iterator[None]:
    """A time in which this process cannot open a file."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(os.devnull, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
