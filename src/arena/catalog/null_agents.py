"""The null agents: ways of answering without understanding the question."""

from collections.abc import Iterator, Mapping

from arena.catalog.test import Test
from arena.evaluation.verdict import Submission
from arena.models.message import Message
from arena.models.usage import Usage
from arena.workspaces.collected import Collected

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
"""The answers of each null agent; `{prompt}` is replaced by what the user said.

Each is a way of answering without understanding, in several wordings: a test that catches one
apology may let the next one through.
"""
NOTHING_USED = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


def null_answers(prompt: str) -> list[tuple[str, str]]:
    """Every answer of the null agents, with the agent's name."""
    return [
        (name, wording.replace("{prompt}", prompt))
        for name, wordings in WORDINGS.items()
        for wording in wordings
    ]


def null_submissions(test: Test, files: Collected | None) -> Iterator[tuple[str, Submission]]:
    """Everything that the null agents do in a test; they leave its workspace as it was."""
    for name, wordings in WORDINGS.items():
        for wording in wordings:
            replies = [wording.replace("{prompt}", said) for said in test.turns or (test.prompt,)]
            yield name, idle_submission(test, replies, files)


def idle_submission(test: Test, replies: list[str], files: Collected | None = None) -> Submission:
    """A submission that took no effort: one reply to each thing that the user says."""
    return Submission(
        output=replies[-1],
        messages=conversation(test, replies),
        files=files,
        usage=NOTHING_USED,
        duration_seconds=0.0,
    )


def conversation(test: Test, replies: list[str]) -> tuple[Message, ...]:
    """What was said, if the test is a conversation."""
    if test.turns is None and test.user is None:
        return ()
    said = test.turns or (test.prompt,)
    return tuple(
        message
        for user, agent in zip(said, replies, strict=False)
        for message in (
            Message(role="user", content=user),
            Message(role="assistant", content=agent),
        )
    )
