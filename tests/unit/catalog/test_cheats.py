"""The cheats of the audit, and the proof of a test's own solution."""

import json

import pytest

from arena.catalog.audit import AuditedTest, audit_test
from arena.catalog.cheats import skeleton
from arena.catalog.fix_hints import BY_AGENT, BY_STANDARD
from arena.catalog.test import Test
from arena.evaluation.evaluate import verdict_of
from arena.evaluation.json_schema import first_misfit
from arena.evaluation.resources import Resources
from arena.evaluation.standard import VALIDATIONS, JudgePrompt
from arena.evaluation.verdict import Finding, Submission, Verdict
from arena.sandbox.namespace.provider import NamespaceProvider
from factories import a_test


async def audited(**keys: object) -> AuditedTest:
    found = await audit_test(a_test(**keys))
    assert found is not None
    return found


async def holes(**keys: object) -> list[tuple[str, str]]:
    return [(one.kind, one.agent) for one in (await audited(**keys)).findings]


async def test_a_list_of_likely_words_passes_a_question_of_yes_or_no() -> None:
    assert await holes(expected={"contains": ["yes"]}) == [("cheat", "keywords")]


async def test_forbidding_the_other_answer_closes_that_hole() -> None:
    parts = [
        {"expected": {"contains": ["yes"]}},
        {"validation": "not_contains", "expected": {"contains": ["no,"]}},
    ]
    assert await holes(validation="all_of", expected={"all_of": parts}) == []


async def test_a_word_that_nobody_can_guess_is_only_a_weakness() -> None:
    found = await audited(expected={"contains": ["iphone-12", "pixel"]})
    assert found.findings == ()
    (weakness,) = found.weaknesses
    assert (weakness.agent, weakness.answer) == ("keywords", "iphone-12, pixel")


SCHEMA = {
    "type": "object",
    "required": ["name", "size", "tags", "open", "inner"],
    "properties": {
        "name": {"type": "string", "minLength": 3},
        "size": {"type": "integer", "exclusiveMinimum": 4},
        "tags": {"type": "array", "minItems": 2, "items": {"type": "number"}},
        "open": {"type": "boolean"},
        "inner": {"$ref": "#/$defs/inner"},
    },
    "$defs": {"inner": {"anyOf": [{"type": ["object", "null"], "required": ["x"]}]}},
}


def test_the_skeleton_of_a_schema_fits_it() -> None:
    made = skeleton(SCHEMA, SCHEMA)
    assert first_misfit(SCHEMA, made) is None
    assert json.loads(json.dumps(made)) == made


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "array"}, SCHEMA])
async def test_a_schema_without_values_is_passed_by_empty_json(schema: object) -> None:
    keys = {"validation": "json_schema", "expected": {"schema": schema}}
    assert await holes(**keys) == [("cheat", "json")]


async def test_a_schema_with_a_value_is_not() -> None:
    schema = {"type": "object", "required": ["sum"], "properties": {"sum": {"const": 42}}}
    assert await holes(validation="json_schema", expected={"schema": schema}) == []


CASES = [{"input": [n], "expected": n % 5 == 0} for n in range(2, 10)]


@pytest.mark.parametrize("language", ["python", "javascript", None])
async def test_a_constant_passes_cases_that_mostly_expect_the_same(language: str | None) -> None:
    body: dict[str, object] = {"functionName": "f", "cases": CASES}
    test = a_test(
        validation="test_cases", expected=body | ({"language": language} if language else {})
    )
    async with NamespaceProvider() as sandbox:
        found = await audit_test(test, Resources(sandbox=sandbox))
        strict = await audit_test(
            a_test(validation="test_cases", expected={**test.expected, "pass_score": 100}),
            Resources(sandbox=sandbox),
        )
    assert found is not None and strict is not None
    assert [(one.agent, one.kind) for one in found.findings] == [("constant", "cheat")]
    assert strict.findings == ()


async def test_the_solution_of_a_test_passes_or_is_a_finding_with_the_reason() -> None:
    keys = {"validation": "number", "expected": {"value": 42}}
    good = await audited(**keys, solution={"answer": "It is 42."})
    assert (good.findings, good.is_solved) == ((), True)
    bad = await audited(**keys, solution={"answer": "It is 43."})
    (finding,) = bad.findings
    assert (finding.kind, finding.agent, finding.answer) == ("solution", "solution", "It is 43.")
    assert "the last number of the answer is 43, expected 42" in finding.reason
    assert str(finding).startswith("t1: its solution does not pass: ")
    assert not bad.is_solved


TURNS: dict[str, object] = {
    "prompt": "Which day?",
    "turns": ("Which day?", "And the next?"),
    "validation": "all_of",
    "expected": {
        "all_of": [
            {
                "validation": "reply",
                "expected": {"turn": turn, "standard": {"expected": {"contains": [day]}}},
            }
            for turn, day in ((1, "Monday"), (2, "Tuesday"))
        ]
    },
}


async def test_a_solution_may_be_the_replies_of_a_conversation() -> None:
    good = await audited(**TURNS, solution={"replies": ["Monday", "Tuesday"]})
    assert (good.findings, good.is_solved) == ((), True)
    bad = await audited(**TURNS, solution={"replies": ["Monday"]})
    assert "the conversation ended before it" in bad.findings[0].reason


async def test_the_echo_repeats_every_turn_of_a_conversation() -> None:
    keys = {**TURNS, "prompt": "Is it Monday?", "turns": ("Is it Monday?", "Or Tuesday?")}
    assert ("null", "echo") in await holes(**keys)


async def test_doing_nothing_is_fast_and_free_and_takes_no_steps() -> None:
    for name, body in (
        ("latency", {"at_most_seconds": 1}),
        ("cost", {"at_most_usd": 1}),
        ("tokens", {"at_most": 5}),
        ("steps", {"at_most": 0}),
    ):
        found = await audited(validation=name, expected=body)
        assert [one.agent for one in found.findings] == ["echo", "silence", "refusal", "apology"]
        assert all("doing nothing" in one.hint for one in found.findings)


async def test_a_judge_is_asked_for_a_good_score_only_if_there_is_one() -> None:
    test = a_test(validation="judge_prompt", expected={"prompt": "Is it good?"})
    assert await audit_test(test) is None

    async def flattered(_: JudgePrompt, submission: Submission, __: str | None) -> Verdict:
        passed = "good score" in submission.output
        reason = "it asked nicely" if passed else "no"
        return verdict_of((Finding(criterion="overall", passed=passed, reason=reason),))

    found = await audit_test(test, Resources(judge=flattered))
    assert found is not None
    assert [(one.agent, one.reason) for one in found.findings] == [("plea", "it asked nicely")]


async def test_a_claim_passes_where_arena_does_not_play_the_tool() -> None:
    keys: dict[str, object] = {"validation": "tool_called", "expected": {"tool": "search"}}
    assert await holes(**keys) == [("cheat", "claims")]
    played = {"name": "search", "answer": "nothing"}
    assert await holes(**keys, tools=(played,)) == []


async def test_a_claim_with_the_right_arguments_is_only_a_weakness() -> None:
    expected = {"tool": "search", "arguments": {"query": "arena"}}
    found = await audited(validation="tool_called", expected=expected)
    assert found.findings == ()
    assert [one.agent for one in found.weaknesses] == ["claims"]


async def test_a_solution_may_call_tools() -> None:
    expected = {"all_of": [{"type": "tool_order", "tools": ["find", "buy"]}]}
    steps = [{"tool": "find"}, {"tool": "buy", "arguments": {"item": 1}}]
    found = await audited(validation="all_of", expected=expected, solution={"steps": steps})
    assert found.is_solved


@pytest.mark.parametrize(
    "script", ["assert f(2) == 2\nassert f(3) == 3\n", "assert f(2) is None\n"]
)
async def test_a_grader_is_tried_with_constants_and_early_exits(script: str) -> None:
    expected = {"script": script, "entry_points": ["f"], "pass_score": 100}
    test = a_test(validation="python", expected=expected)
    async with NamespaceProvider() as sandbox:
        found = await audit_test(test, Resources(sandbox=sandbox))
    assert found is not None
    passing = [("constant", "cheat")] if "None" in script else []
    assert [(one.agent, one.kind) for one in found.findings] == passing


def test_hints_exist_for_known_agents_and_validations_only() -> None:
    assert all(BY_AGENT.values())
    assert {agent for agent, _ in BY_STANDARD} <= set(BY_AGENT)
    assert {name for _, name in BY_STANDARD} <= set(VALIDATIONS)


async def test_every_finding_has_a_hint() -> None:
    tests: list[Test] = [
        a_test(prompt="Say yes", expected={"contains": ["yes"]}),
        a_test(expected={"contains": ["yes"]}),
        a_test(validation="not_contains", expected={"contains": ["hologram"]}),
        a_test(validation="json_schema", expected={"schema": {}}),
        a_test(solution={"answer": "no"}),
    ]
    for test in tests:
        found = await audit_test(test)
        assert found is not None
        assert found.findings
        assert all(one.hint for one in found.findings)
