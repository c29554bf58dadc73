"""The checks of the tools that an agent called."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from arena.errors import InvalidInput
from arena.evaluation.evaluate import CHECKABLE, evaluate
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.reading import read_standard, read_standard_document
from arena.evaluation.request_limits import MAX_SLOW_PARTS, read_request
from arena.evaluation.submission import (
    read_submission,
    submission_bytes,
    submission_document,
    submission_from,
)
from arena.evaluation.verdict import Submission, Verdict
from arena.models.step import Step

STEPS = (
    Step(tool="search", arguments={"city": "Bern", "day": 1}, result=["a", "b"]),
    Step(tool="weather", arguments={"city": "Basel"}, source="trace"),
    Step(tool="weather", arguments={"city": "Bern", "days": 3.0}, result="rain", source="arena"),
    Step(tool="book", arguments="not json", error="the tool failed"),
)


def judged(validation: str, expected: dict[str, Any], steps: tuple[Step, ...] = STEPS) -> Verdict:
    standard = read_standard(validation, expected)
    return asyncio.run(evaluate(standard, Submission(output="Done.", steps=steps)))


@pytest.mark.parametrize(
    ("expected", "passes", "reason"),
    [
        ({"tool": "search"}, True, 'step 1 calls "search" (claimed by the agent)'),
        ({"tool": "book"}, True, 'step 4 calls "book" (claimed by the agent)'),  # it failed
        (
            {"tool": "fly"},
            False,
            '"fly" is not called: the 4 steps are claimed by the agent or from the '
            "agent's trace or played by Arena",
        ),
        # By value: other arguments may be there, 3 is 3.0 and true is not 1.
        (
            {"tool": "weather", "arguments": {"city": "Bern", "days": 3}},
            True,
            'step 3 calls "weather" (played by Arena)',
        ),
        (
            {"tool": "search", "arguments": {"day": True}},
            False,
            'step 1 calls "search", but day is 1 (claimed by the agent)',
        ),
        (
            {"tool": "weather", "arguments": {"town": "Bern"}},
            False,
            'step 3 calls "weather", but town is missing (played by Arena)',
        ),
        (
            {"tool": "weather", "arguments": {"city": "Bern"}, "exact": True},
            False,
            'step 3 calls "weather", but it also has days (played by Arena)',
        ),
        (
            {"tool": "weather", "arguments": {"city": "Basel"}, "exact": True},
            True,
            'step 2 calls "weather" (from the agent\'s trace)',
        ),
        (
            {"tool": "book", "arguments": {"a": 1}},
            False,
            'step 4 calls "book", but its arguments are not an object (claimed by the agent)',
        ),
        (
            {"tool": "weather", "arguments_schema": {"required": ["days"]}},
            True,
            'step 3 calls "weather" (played by Arena)',
        ),
        (
            {"tool": "search", "arguments_schema": {"properties": {"city": {"type": "number"}}}},
            False,
            "step 1 calls \"search\", but 'Bern' is not of type 'number' (at $.city) "
            "(claimed by the agent)",
        ),
        ({"tool": "search", "result": ["a", "b"]}, True, None),
        (
            {"tool": "search", "result": []},
            False,
            'step 1 calls "search", but its result is ["a", "b"] (claimed by the agent)',
        ),
        (
            {"tool": "weather", "times": {"at_least": 2, "at_most": 2}},
            True,
            'step 2 and 1 more calls "weather" (from the agent\'s trace)',
        ),
        (
            {"tool": "weather", "times": {"at_most": 1}},
            False,
            '"weather" is called 2 times, at most once expected (played by Arena)',
        ),
        (
            {"tool": "search", "times": {"at_least": 2}},
            False,
            '"search" is called once, at least 2 times expected',
        ),
        ({"tool": "fly", "times": {"at_most": 3}}, True, None),
    ],
)
def test_whether_a_tool_was_called(expected: dict[str, Any], passes: bool, reason: str | None):
    verdict = judged("tool_called", expected)
    [finding] = verdict.findings
    assert verdict.passed is passes, finding.reason
    if reason is not None:
        assert finding.reason == reason


def test_the_finding_quotes_the_step_that_decided_it():
    [finding] = judged("tool_called", {"tool": "search", "arguments": {"city": "Bern"}}).findings
    assert finding.criterion == 'calls "search" with {"city": "Bern"}'
    assert finding.evidence == 'step 1: search({"city": "Bern", "day": 1})'
    [finding] = judged("tool_not_called", {"tools": ["book"]}).findings
    assert finding.evidence == 'step 4: book("not json") failed: the tool failed'


@pytest.mark.parametrize(
    ("expected", "passes"),
    [
        ({"tools": ["fly", "swim"]}, True),
        ({"tools": ["fly", "search"]}, False),
        ({"tools": ["weather"], "arguments": {"city": "Genf"}}, True),
        ({"tools": ["weather"], "arguments": {"city": "Basel"}}, False),
    ],
)
def test_whether_a_tool_was_not_called(expected: dict[str, Any], passes: bool):
    verdict = judged("tool_not_called", expected)
    assert verdict.passed is passes
    assert len(verdict.findings) == len(expected["tools"])


def test_no_steps_at_all_are_said_to_be_none():
    [finding] = judged("tool_not_called", {"tools": ["fly"]}, steps=()).findings
    assert finding.passed
    assert finding.reason == '"fly" is not called: there are no steps'


@pytest.mark.parametrize(
    ("expected", "passes", "reason"),
    [
        ({"tools": ["search", "weather", "book"]}, True, "step 4 completes the order"),
        ({"tools": ["weather", "weather"]}, True, "step 3 completes the order"),
        ({"tools": ["weather", "search"]}, False, "not called after step 2 (weather), only before"),
        ({"tools": ["search", "fly"]}, False, '"fly" is not called after step 1 (search)'),
        (
            {"tools": ["search", "weather", "book"], "exact": True},
            False,
            'step 3 calls "weather", "book" expected',
        ),
        ({"tools": ["search", "weather", "weather", "book"], "exact": True}, True, "step 4"),
        (
            {"tools": ["search", "weather", "weather"], "exact": True},
            False,
            'step 4 calls "book", nothing more expected',
        ),
    ],
)
def test_the_order_of_calls(expected: dict[str, Any], passes: bool, reason: str):
    verdict = judged("tool_order", expected)
    [finding] = verdict.findings
    assert verdict.passed is passes
    assert reason in finding.reason


def test_they_work_inside_composites_and_replies():
    called = {"validation": "tool_called", "expected": {"tool": "fly"}}
    other = {"validation": "tool_order", "expected": {"tools": ["search", "book"]}}
    assert judged("any_of", {"any_of": [called, other]}).passed
    verdict = judged("all_of", {"all_of": [called, other]})
    assert (verdict.passed, verdict.score) == (False, 50)
    assert judged("reply", {"turn": 1, "standard": other}).passed


@pytest.mark.parametrize(
    ("validation", "expected", "fault"),
    [
        ("tool_called", {}, "needs the key 'tool'"),
        ("tool_called", {"tool": "a", "times": {}}, "expected.times: needs the key 'at_least'"),
        ("tool_called", {"tool": "a", "times": {"at_least": 3, "at_most": 1}}, "more than at_most"),
        ("tool_called", {"tool": "a", "exact": True}, "expected.exact: needs 'arguments'"),
        ("tool_called", {"tool": "a", "arguments": [1]}, "expected.arguments: must be a mapping"),
        ("tool_called", {"tool": "a", "arguments_schema": {"type": 1}}, "not a JSON Schema"),
        ("tool_called", {"tool": "a", "argument": {}}, "did you mean 'arguments'?"),
        ("tool_not_called", {"tools": []}, "expected.tools: must not be empty"),
        ("tool_not_called", {"tools": ["a", "a"]}, "duplicate 'a'"),
        ("tool_order", {"tools": ["a", 1]}, "expected.tools[1]: must be a string"),
    ],
)
def test_faults_are_reported(validation: str, expected: dict[str, Any], fault: str):
    with pytest.raises(InvalidStandard) as caught:
        read_standard(validation, expected)
    assert fault in caught.value.message


async def test_many_or_large_steps_are_checked_in_a_worker_and_not_on_the_event_loop():
    wide = {"items": [{"n": n} for n in range(30_000)]}
    steps = (Step(tool="a", arguments=wide), *(Step(tool="b") for _ in range(900)))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    schema = {"properties": {"items": {"items": {"properties": {"n": {"type": "integer"}}}}}}
    standard = read_standard("tool_called", {"tool": "a", "arguments_schema": schema})
    verdict = await evaluate(standard, Submission(output="x", steps=steps))
    ticking.cancel()
    assert verdict.passed
    assert ticks > 10


async def test_a_check_without_end_fails_the_answer_and_says_why():
    evil = {"properties": {"x": {"anyOf": [{"pattern": "^(a|aa)+$"}, {"pattern": "^(a|aa)+b$"}]}}}
    steps = tuple(Step(tool="a", arguments={"x": "a" * 60 + "!" * n}) for n in range(1, 40))
    standard = read_standard("tool_called", {"tool": "a", "arguments_schema": evil})
    verdict = await evaluate(standard, Submission(output="x", steps=steps))
    assert not verdict.passed
    [finding] = verdict.findings
    assert finding.criterion == CHECKABLE or "took longer" in finding.reason


def test_a_caller_may_not_send_many_schemas():
    part = {"type": "tool_called", "tool": "a", "arguments_schema": {}}
    document = {"type": "all_of", "all_of": [part] * (MAX_SLOW_PARTS + 1)}
    assert read_standard_document(document)
    with pytest.raises(InvalidInput, match="JSON Schemas"):
        read_request(document)


@pytest.mark.parametrize(
    ("validation", "expected"),
    [
        ("tool_not_called", {"tools": ["fly"]}),
        ("tool_called", {"tool": "fly", "times": {"at_most": 3}}),
        ("tool_called", {"tool": "search", "times": {"at_least": 1, "at_most": 1}}),
        ("tool_order", {"tools": ["search", "weather", "weather", "book"], "exact": True}),
        ("steps", {"at_most": 4}),
    ],
)
def test_what_was_not_called_is_not_known_if_steps_are_missing(validation, expected):
    standard = read_standard(validation, expected)
    whole = Submission(output="Done.", steps=STEPS)
    assert asyncio.run(evaluate(standard, whole)).passed
    cut = replace(whole, steps_problem="only the first 4 of 9 steps fit in 1 MiB")
    verdict = asyncio.run(evaluate(standard, cut))
    assert not verdict.passed
    assert "not known: only the first 4 of 9 steps fit in 1 MiB" in verdict.findings[0].reason


@pytest.mark.parametrize(
    ("validation", "expected"),
    [
        ("tool_called", {"tool": "search"}),
        ("tool_order", {"tools": ["search", "book"]}),
    ],
)
def test_what_was_called_is_known_also_if_steps_are_missing(validation, expected):
    cut = Submission(output="Done.", steps=STEPS, steps_problem="spans were refused (2)")
    assert asyncio.run(evaluate(read_standard(validation, expected), cut)).passed


def test_a_record_keeps_that_steps_are_missing():
    cut = Submission(output="Done.", steps_problem="steps must be a list")
    assert not cut.is_plain
    assert read_submission(submission_bytes(cut)) == cut


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": [{"tool": "t", "arguments": None, "time": None, "source": "nobody"}]},
        {"steps": [{"tool": 5, "arguments": None, "time": None}]},
        {"steps": [{"tool": "t", "arguments": None, "time": None, "error": 5}]},
        {"steps": [{"tool": "t", "arguments": None, "time": None, "turn": "one"}]},
        {"steps_problem": 5},
        {"output": None},
        {"usage": {"input_tokens": "1", "output_tokens": "2"}},
        {"duration_seconds": "long"},
    ],
)
def test_a_record_of_another_form_is_refused(changed: dict[str, Any]):
    document = submission_document(Submission(output="Done.", steps=STEPS))
    assert submission_from(document).steps == STEPS
    with pytest.raises(InvalidInput, match="not a submission of the kind"):
        submission_from(document | changed)
