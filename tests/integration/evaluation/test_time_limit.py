"""The total time of a submission: what it reaches counts, and it holds its sandbox no longer."""

from collections.abc import AsyncIterator

import pytest

from arena.evaluation import time_limit
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_standard_document
from arena.evaluation.resources import Resources
from arena.evaluation.time_limit import judging_seconds, program_limits
from arena.evaluation.verdict import Submission
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.provider import NamespaceProvider

STALLS_LATER = """read line
case "$line" in *1*) echo 1;; *) sleep 600;; esac
"""


def program(count: int, **more: object) -> dict[str, object]:
    cases = [{"input": [n], "expected": n} for n in range(1, count + 1)]
    return {"type": "test_cases", "cases": cases, **more}


@pytest.fixture
async def strict() -> AsyncIterator[NamespaceProvider]:
    async with NamespaceProvider(Limits(wall_seconds=0.5)) as provider:
        yield provider


async def test_a_stalling_program_gets_the_verdict_it_deserves_within_its_total_time(
    strict: NamespaceProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(time_limit, "MAX_PROGRAM_SECONDS", 1.5)
    standard = read_standard_document(program(9, language="shell"))
    verdict = await evaluate(standard, Submission(output=STALLS_LATER), Resources(sandbox=strict))
    reasons = [finding.reason for finding in verdict.findings]
    assert (verdict.score, verdict.findings[0].passed) == (11, True)
    # Each of the others stalls; the last ones were not even begun.
    assert all(reason.startswith("over the limit: wall_time") for reason in reasons[1:])
    assert reasons[-1] == "over the limit: wall_time (all cases together have 1.5 s)"
    assert reasons[1] == "over the limit: wall_time"


def test_the_limit_follows_from_the_standard_alone():
    def seconds(document: dict[str, object]) -> int:
        return judging_seconds(read_standard_document(document))

    assert seconds(program(20, language="python")) == 200
    assert seconds(program(20)) == 260  # it may have to be compiled
    assert seconds(program(20, functionName="f")) == 10
    assert seconds(program(1000)) == 600
    assert seconds({"type": "regex", "pattern": "a+"}) == 5
    assert seconds({"type": "exact", "value": "a"}) == 0
    parts = {"type": "all_of", "all_of": [program(100), program(20), program(5, functionName="f")]}
    assert seconds(parts) == 610
    limits = program_limits(read_standard_document(parts))
    assert sum(limits.values()) == pytest.approx(600)
    assert limits[0,] > limits[1,]
