"""Tests that are conversations: `turns` and `user` in YAML."""

from pathlib import Path

import pytest

from arena.catalog.loader import read_source
from arena.catalog.source import Source
from arena.catalog.test import Test
from arena.evaluation.evaluate import evaluate
from arena.evaluation.standard import AllOf
from arena.evaluation.verdict import Submission
from arena.models.message import Message


def read(folder: Path, text: str) -> Source:
    path = folder / "t.yaml"
    path.write_text(f"tests:\n{text}")
    return read_source(path)


def one(folder: Path, text: str) -> Test:
    source = read(folder, text)
    assert source.problems == ()
    (test,) = source.tests
    return test


def problems(folder: Path, text: str) -> list[str]:
    found = read(folder, text).problems
    return [str(problem).removeprefix(f"{folder}/t.yaml:") for problem in found]


SCRIPTED = """\
  - id: a
    name: A
    turns:
      - Hello
      - user: How much?
        expect: {expected: {contains: [ten]}, weight: 3}
    expected: {contains: [bye]}
"""


def said(*replies: str) -> Submission:
    messages = [
        Message(role=role, content=text)
        for reply in replies
        for role, text in (("user", "…"), ("assistant", reply))
    ]
    return Submission(output=replies[-1], messages=tuple(messages))


async def test_turns_become_the_prompt_the_turns_and_a_standard(tmp_path: Path):
    test = one(tmp_path, SCRIPTED)
    assert (test.prompt, test.turns) == ("Hello", ("Hello", "How much?"))
    standard = test.standard
    assert isinstance(standard, AllOf)
    assert [part.weight for part in standard.all_of] == [3, 1]
    assert (await evaluate(standard, said("Hi", "ten, bye"))).passed
    verdict = await evaluate(standard, said("ten", "bye"))
    assert (verdict.passed, verdict.score) == (False, 25)
    assert "reply 2" in verdict.reasoning


async def test_turns_without_expectations_are_judged_by_the_last_reply(tmp_path: Path):
    test = one(tmp_path, "  - {id: a, name: A, turns: [Hello, Bye], expected: {contains: [bye]}}\n")
    assert test.validation == "contains"
    assert (await evaluate(test.standard, said("no", "bye"))).passed


def test_a_turn_that_expects_something_needs_no_standard_of_the_test(tmp_path: Path):
    test = one(
        tmp_path,
        "  - {id: a, name: A, turns: [{user: Hi, expect: {expected: {contains: [x]}}}]}\n",
    )
    assert isinstance(test.standard, AllOf)
    assert test.standard.pass_score is None


async def test_every_expectation_must_be_met_even_if_one_is_graded(tmp_path: Path):
    text = """\
  - id: a
    name: A
    turns:
      - {user: Hi, expect: {validation: judge_prompt, expected: {prompt: Good?}}}
      - {user: Ho, expect: {expected: {contains: [x]}}}
"""
    assert one(tmp_path, text).standard.pass_score is None
    with_score = text.replace("    name: A\n", "    name: A\n    pass_score: 70\n")
    assert one(tmp_path, with_score).standard.pass_score == 70


def test_a_test_that_is_stored_and_read_again_is_the_same(tmp_path: Path):
    test = one(tmp_path, SCRIPTED)
    assert Test.from_json(test.as_json()).digest == test.digest


def test_a_user_is_a_script_with_its_default_limit(tmp_path: Path):
    test = one(
        tmp_path,
        "  - {id: a, name: A, user: {goal: Get a table, facts: [it is Friday]},"
        " expected: {contains: [x]}}\n",
    )
    assert test.user == {"goal": "Get a table", "facts": ["it is Friday"], "max_turns": 10}
    assert test.prompt == "Get a table"


def test_the_prompt_may_be_the_opening_of_a_user(tmp_path: Path):
    test = one(
        tmp_path,
        "  - {id: a, name: A, prompt: Hello, user: {goal: Talk}, expected: {contains: [x]}}\n",
    )
    assert (test.prompt, (test.user or {})["first"]) == ("Hello", "Hello")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        # The first turn is the prompt.
        ("prompt: Hi, turns: [Ho]", "2:22: the first turn is the prompt: leave prompt out"),
        ("turns: []", "2:29: turns: must not be empty"),
        ("turns: [3]", "2:30: turns[0]: must be a mapping with user and expect, is a number"),
        ("turns: [' ']", "2:30: turns[0].user: must be text that is not empty"),
        ("turns: [{user: a, expct: 1}]", "2:40: turns[0]: unknown key 'expct'"),
        ("turns: [{user: a, expect: 1}]", "2:48: turns[0].expect: must be a mapping, is a number"),
        (
            "turns: [a, {user: b, expect: {validation: exat, expected: {}}}]",
            "2:64: turns[1].expect.validation: unknown validation 'exat'; did you mean 'exact'?",
        ),
        (
            "turns: [a, {user: b, expect: {expected: {contans: [x]}}}]",
            "2:62: turns[1].expect.expected: needs the key 'contains'",
        ),
        (
            "turns: [{user: b, expect: {expected: {contains: [x]}, weight: -1}}]",
            "turns[0].expect.weight: must be 0 or more, is -1",
        ),
        (
            "turns: [a], user: {goal: b}",
            "a conversation has turns or a user, not both: leave one out",
        ),
        ("user: {persona: b}", "user: needs the key 'goal'"),
        ("user: {goal: b, max_turns: 101}", "user.max_turns: must be at most 100, is 101"),
        ("user: {goal: b, fcts: []}", "user: unknown key 'fcts'; did you mean 'facts'?"),
        ("prompt: Hi, user: {goal: b, first: c}", "leave prompt out"),
    ],
)
def test_a_mistake_is_reported_where_it_is(tmp_path: Path, keys: str, expected: str):
    found = problems(tmp_path, f"  - {{id: a, name: A, {keys}, expected: {{contains: [x]}}}}\n")
    assert any(expected in problem for problem in found), found


def test_the_faults_of_the_own_standard_keep_their_place(tmp_path: Path):
    text = SCRIPTED.replace("expected: {contains: [bye]}", "expected: {contans: [bye]}")
    assert any(line.startswith("8:") and "contans" in line for line in problems(tmp_path, text))
