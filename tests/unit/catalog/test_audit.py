import pytest

from arena.catalog.audit import audit
from arena.catalog.null_agents import WORDINGS, null_answers
from factories import a_test


async def agents_that_pass(**keys: object) -> list[str]:
    return [finding.agent for finding in await audit([a_test(**keys)])]


async def test_a_test_whose_keywords_stand_in_its_prompt_is_passed_by_the_echo() -> None:
    keys = {"prompt": "Navigate to home", "expected": {"contains": ["navigate", "home"]}}
    finding, *others = await audit([a_test(**keys)])
    assert (finding.agent, finding.answer) == ("echo", "Navigate to home")
    assert finding.reason == 'has "navigate"; has "home"'
    assert str(finding) == 't1: echo can pass it: has "navigate"; has "home"'
    # Null agents that repeat the prompt while refusing or apologising pass it too.
    assert [other.agent for other in others] == ["refusal", "apology"]


async def test_a_test_that_accepts_an_error_is_passed_by_the_apology() -> None:
    words = {"contains": ["not found", "error", "invalid"]}
    assert await agents_that_pass(validation="contains_any", expected=words) == ["apology"]


async def test_a_test_that_only_forbids_is_passed_by_silence() -> None:
    passing = await agents_that_pass(validation="not_contains", expected={"contains": ["hologram"]})
    assert "silence" in passing


async def test_a_test_for_a_refusal_is_passed_by_the_refusal() -> None:
    assert "refusal" in await agents_that_pass(
        validation="regex", expected={"pattern": r"can(no|')t"}
    )


async def test_a_test_that_needs_knowledge_is_passed_by_none() -> None:
    assert await agents_that_pass(expected={"contains": ["iphone-12"]}) == []


async def test_an_inactive_test_is_left_alone() -> None:
    assert await agents_that_pass(prompt="yes", active=False) == []


async def test_each_null_agent_is_reported_once_per_test() -> None:
    passing = await agents_that_pass(validation="regex", expected={"pattern": "^"})
    assert passing == list(WORDINGS)


def parts(required: dict[str, object], forbidden: dict[str, object]) -> dict[str, object]:
    return {"all_of": [required, {"validation": "not_contains", **forbidden}]}


@pytest.mark.parametrize(
    ("required", "forbidden", "impossible"),
    [
        ("cat", "cat", True),
        ("a cat sat", "Cat", True),
        ("cat", "cats", False),
        ("dog", "cat", False),
    ],
)
async def test_a_word_both_required_and_forbidden_is_found(
    required: str, forbidden: str, impossible: bool
) -> None:
    expected = parts(
        {"expected": {"contains": [required]}}, {"expected": {"contains": [forbidden]}}
    )
    found = await agents_that_pass(validation="all_of", expected=expected)
    assert ("nobody" in found) is impossible


async def test_a_forbidden_word_may_still_stand_inside_another_word() -> None:
    expected = parts(
        {"expected": {"contains": ["cat"]}},
        {"expected": {"contains": ["cat"]}, "whole_word": True},  # "category" is an answer
    )
    assert await agents_that_pass(validation="all_of", expected=expected) == []


async def test_one_possible_alternative_is_enough() -> None:
    impossible = {
        "validation": "all_of",
        "expected": parts({"expected": {"contains": ["a"]}}, {"expected": {"contains": ["a"]}}),
    }
    possible = {"expected": {"contains": ["iphone-12"]}}
    assert (
        await agents_that_pass(validation="any_of", expected={"any_of": [impossible, possible]})
        == []
    )
    assert await agents_that_pass(
        validation="any_of", expected={"any_of": [impossible, impossible]}
    ) == ["nobody"]


def test_there_are_four_kinds_of_null_agents() -> None:
    answers = null_answers("Do {it}!")
    assert {name for name, _ in answers} == {"echo", "silence", "refusal", "apology"}
    assert ("echo", "Do {it}!") in answers
    assert ("silence", "") in answers
    assert all("error" in text.lower() or "wrong" in text for n, text in answers if n == "apology")
