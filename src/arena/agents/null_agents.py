"""Agents that know nothing: what they pass is no test.

The audit of the tests (`arena tests audit`) asks each of them every question. A test that one of
them passes measures nothing, because no understanding is needed for it.
"""

from collections.abc import Callable, Mapping


def echo(prompt: str) -> str:
    """Repeats its prompt: passes tests whose expected words stand in the question."""
    return prompt


def silent(prompt: str) -> str:
    """Says nothing: passes tests that are content with the absence of something."""
    del prompt
    return ""


def refusal(prompt: str) -> str:
    """Refuses: passes tests that any polite sentence satisfies."""
    del prompt
    return "I'm sorry, but I am not able to help with this request."


def apology(prompt: str) -> str:
    """Apologises for an error: passes tests that look for the word alone."""
    del prompt
    return "Apologies, an unexpected error occurred while working on this. Please try again later."


NULL_AGENTS: Mapping[str, Callable[[str], str]] = {
    "echo": echo,
    "silent": silent,
    "refusal": refusal,
    "apology": apology,
}
