"""Whether a simulated user kept to its script."""

import pytest

from arena.models.message import Message
from arena.runs.script import check_script, script_text

SCRIPT = {
    "goal": "Return the shoes of order 4711.",
    "persona": "Ada",
    "facts": ["Your address is ada@example.com."],
    "max_turns": 5,
}


def broken(*said: str) -> list[str]:
    """The criteria that are not met, if the user says the even ones and the agent the others."""
    roles = ("user", "assistant") * len(said)
    messages = [Message(role=role, content=text) for role, text in zip(roles, said, strict=False)]
    return [one.criterion for one in check_script(SCRIPT, messages, said[::2]) if not one.passed]


@pytest.mark.parametrize(
    ("said", "criterion"),
    [
        (("My order is 4711.", "Your address?", "ada@example.com"), None),
        # The assistant has said it, so it is not invented.
        (("Hello", "Is it order 12345?", "No, not 12345."), None),
        (("My order is 98765.", "Thanks."), "the user invents no details"),
        (("Write to eve@example.com.",), "the user invents no details"),
        (("How can I help you today?",), "the user does not speak as the assistant"),
        (("Assistant: it is done",), "the user does not speak as the assistant"),
        (("Hello", "What?", "hello  "), "the user does not repeat itself"),
    ],
)
def test_a_broken_rule_is_found(said: tuple[str, ...], criterion: str | None):
    assert broken(*said) == ([criterion] if criterion else [])


@pytest.mark.parametrize("text", ["a" * 200_000, "a" + "\n" * 200_000 + "b"])
def test_no_text_takes_long(text: str):
    """Ten times the longest message; in a time that grows with its square it would take minutes."""
    assert broken(text) == []


def test_the_script_in_words_has_the_goal_the_persona_and_the_facts():
    text = script_text(SCRIPT)
    assert all(part in text for part in ("order 4711", "Ada", "ada@example.com"))
