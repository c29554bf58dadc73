import asyncio
from collections.abc import Sequence

import pytest

from arena.sandbox.cases import CaseOptions, calc_score, run_tests
from arena.sandbox.ports import (
    CaseOutcome,
    CaseResult,
    FunctionCall,
    FunctionOutcome,
    Sandbox,
    TestCase,
)


class Returning:
    """A provider whose functions return these values."""

    def __init__(self, values: Sequence[object]) -> None:
        self._values = values

    async def call(self, call: FunctionCall) -> FunctionOutcome:
        cases = [CaseOutcome(value=value) for value in self._values]
        return FunctionOutcome(engine="none", cases=cases)

    async def create(self, image: str | None = None, timeout: float | None = None) -> Sandbox:
        raise NotImplementedError

    async def destroy(self, id: str) -> None: ...

    async def close(self) -> None: ...


async def test_many_values_are_compared_while_the_event_loop_runs_on() -> None:
    count = 300_000
    got = [place + 0.25 for place in range(count)]
    cases = [
        TestCase(input=[], expected=list(range(count))),
        TestCase(input=[], expected=[*range(1, count), 0]),
    ]
    judging = asyncio.create_task(
        run_tests(
            Returning([got, got]),
            "def f(): ...",
            "f",
            cases,
            language="python",
            options=CaseOptions(tolerance=0.25),
        )
    )
    turns = 0
    while not judging.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert [result.passed for result in judging.result()] == [True, False]
    assert turns > 20


def results(*passed: bool) -> list[CaseResult]:
    return [CaseResult(desc="", passed=one, got=None, expected=None) for one in passed]


@pytest.mark.parametrize(
    ("passed", "points", "score"),
    [
        ((True, True, False), 100, 66),  # the seed's own example: floored, not rounded
        ((True, False, False), 100, 33),
        ((True, True, True), 100, 100),
        ((False,), 100, 0),
        ((), 100, 0),
        ((True, True, False), 10, 6),
        ((True,), 0, 0),
    ],
)
def test_the_score_is_the_share_that_passed_rounded_down(passed, points, score) -> None:
    assert calc_score(results(*passed), points) == score
