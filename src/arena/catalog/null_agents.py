"""Agents that know nothing: what they pass is no test.

Each stands for a way of answering without understanding. They come in several wordings, because a
test that catches one apology may let the next one through.
"""

from collections.abc import Mapping

WORDINGS: Mapping[str, tuple[str, ...]] = {
    "echo": (
        "{prompt}",
        "You asked: {prompt}",
        "Sure! I will do this right away: {prompt} Done.",
        "I have done what you asked. Your request was: {prompt}",
    ),
    "silence": ("",),
    "refusal": (
        "I'm sorry, but I can't help with that.",
        "I cannot assist with this request: {prompt}",
        "As an assistant I am not able to do this. I do not have access to that information.",
        "This is not something I can do. No.",
        "Unfortunately I don't know. Please ask somebody else.",
    ),
    "apology": (
        "Sorry, an error occurred.",
        "I apologise: something went wrong while I was working on your request ({prompt}). "
        "Please try again later.",
        "Error: the request failed because of an internal error. The status is unknown.",
        "The operation timed out or failed with an error; the result was not found, is invalid or "
        "does not exist.",
    ),
}
"""What each null agent says. `{prompt}` stands for the prompt."""


def null_answers(prompt: str) -> list[tuple[str, str]]:
    """Every answer that needs no understanding, with the name of the null agent that gives it."""
    return [
        (name, wording.replace("{prompt}", prompt))
        for name, wordings in WORDINGS.items()
        for wording in wordings
    ]
