from datetime import UTC, datetime

import pytest

from arena.models.step import (
    MAX_STEPS,
    MAX_STEPS_BYTES,
    BadSteps,
    Step,
    as_json,
    kept_steps,
    read_steps,
    steps_of_tool_calls,
    stored_step,
)

NESTED: list[object] = []
for _ in range(2000):
    NESTED = [NESTED]


def test_a_reported_step_has_tool_arguments_result_and_time():
    steps = read_steps(
        [
            {"tool": "a", "arguments": {"x": [1, None]}, "result": "ok", "other": 1},
            {"tool": "b", "time": "2026-01-31T13:00:00+01:00"},
            {"tool": "c", "time": "2026-01-31T12:00:00"},
        ]
    )
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert steps == (
        Step(tool="a", arguments={"x": [1, None]}, result="ok"),
        Step(tool="b", time=noon),
        Step(tool="c", time=noon),
    )
    assert tuple(stored_step(as_json(step)) for step in steps) == steps


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("text", "steps must be a list"),
        ({"tool": "a"}, "steps must be a list"),
        (["a"], r"steps\[0\] must be an object"),
        ([{"tool": "a"}, {"name": "b"}], r"steps\[1\]\.tool must be the name"),
        ([{"tool": " "}], r"steps\[0\]\.tool must be the name"),
        ([{"tool": "a", "time": 12}], r"steps\[0\]\.time must be like"),
        ([{"tool": "a", "time": "yesterday"}], r"steps\[0\]\.time must be like"),
        ([{"tool": "a", "time": "0001-01-01T00:00:00+14:00"}], r"steps\[0\]\.time must be like"),
        ([{"tool": "a", "result": NESTED}], "nested too deep"),
    ],
)
def test_malformed_steps_are_refused_with_the_reason(value, problem):
    with pytest.raises(BadSteps, match=problem):
        read_steps(value)


def test_only_so_many_steps_are_kept():
    steps, problem = kept_steps([Step(tool="a")] * (MAX_STEPS + 5))
    assert len(steps) == MAX_STEPS
    assert problem == "only the first 1000 of 1005 steps are kept"


def test_only_so_many_bytes_of_steps_are_kept():
    big = Step(tool="a", result="ü" * (MAX_STEPS_BYTES // 5))
    steps, problem = kept_steps([big] * 4)
    assert len(steps) == 2
    assert problem == "only the first 2 of 4 steps fit in 1 MiB"


def test_kept_steps_can_be_stored():
    steps, problem = kept_steps([Step(tool="a\0", arguments={"\ud800": ["\0"]}, result=(1,))])
    assert steps == (Step(tool="a�", arguments={"�": ["�"]}, result=[1]),)
    assert problem is None


@pytest.mark.parametrize("bad", [float("nan"), object(), NESTED])
def test_values_that_no_database_can_store_are_left_out_and_reported(bad):
    steps, problem = kept_steps([Step(tool="a"), Step(tool="b", arguments=bad)])
    assert steps == ()
    assert problem is not None
    assert problem.startswith("steps[1] is not a JSON value")


@pytest.mark.parametrize(
    "calls", [None, "x", [None], [{}], [{"function": {"name": 3}}], [{"function": {"name": ""}}]]
)
def test_malformed_tool_calls_are_left_out(calls):
    assert steps_of_tool_calls(calls) == ()


def test_arguments_that_are_not_json_stay_text():
    deep = "[" * 5000
    calls = [{"function": {"name": "f", "arguments": text}} for text in ("{bad", deep)]
    calls.append({"type": "custom", "custom": {"name": "g", "input": "plain"}})
    arguments = [step.arguments for step in steps_of_tool_calls(calls)]
    assert arguments == ["{bad", deep, "plain"]
