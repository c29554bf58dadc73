"""The key `solution` of a test: what a right submission is, for the audit."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, ValidatorFunctionWrapHandler

from arena.catalog.null_agents import NOTHING_USED, conversation
from arena.catalog.test import Test
from arena.documents.problem import KeyPath
from arena.documents.validation import type_name
from arena.evaluation.verdict import Submission
from arena.fields import STRICT
from arena.models.message import read_messages
from arena.models.step import MAX_STEPS, Step

MAX_SOLUTION_TURNS = 1000
SOLUTION_FOLDER = ".solution"
"""Where a workspace has files that only the command of a solution needs; never collected."""

Text = Annotated[str, StringConstraints(pattern=r"\S")]


class StepKeys(BaseModel):
    """A tool call of a solution."""

    model_config = STRICT

    tool: Text
    arguments: Any = None
    result: Any = None
    error: str | None = None
    turn: int | None = Field(default=None, ge=1)


class MessageKeys(BaseModel):
    """A message of a solution's conversation."""

    model_config = STRICT

    role: Literal["system", "user", "assistant"]
    content: str


class SolutionKeys(BaseModel):
    """The keys of a solution."""

    model_config = STRICT

    answer: Text | None = None
    """The answer; in a conversation, the last reply."""
    language: Text | None = None
    """Of the code in the answer."""
    replies: list[Text] | None = Field(default=None, min_length=1, max_length=MAX_SOLUTION_TURNS)
    """In a conversation: the reply of each turn."""
    messages: list[MessageKeys] | None = Field(
        default=None, min_length=1, max_length=MAX_SOLUTION_TURNS
    )
    """The whole conversation, where a simulated user speaks."""
    steps: list[StepKeys] | None = Field(default=None, min_length=1, max_length=MAX_STEPS)
    files: str | dict[str, Any] | None = None
    """What the workspace looks like afterwards: paths with their contents, or a folder."""
    command: Text | None = None
    """A command that does the work in the workspace, instead of `files`."""


KEYS: Mapping[str, tuple[str, ...]] = {
    "": tuple(SolutionKeys.model_fields),
    "steps": tuple(StepKeys.model_fields),
    "messages": tuple(MessageKeys.model_fields),
}


def solution_keys(path: KeyPath) -> tuple[str, ...]:
    """The keys that are allowed at a path within a solution."""
    return KEYS.get(str(path[0]) if path else "", ())


def read_solution(value: object, handler: ValidatorFunctionWrapHandler) -> dict[str, Any]:
    """A solution in JSON values, from its mapping or only its answer."""
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("must not be empty")
        return {"answer": value}
    if not isinstance(value, dict):
        raise ValueError(f"must be an answer, or a mapping, is {type_name(value)}")
    keys: SolutionKeys = handler(value)
    if not keys.model_fields_set:
        raise ValueError(f"needs one of the keys {', '.join(KEYS[''])}")
    if keys.replies is not None and keys.messages is not None:
        raise ValueError("has replies and messages: give one of them")
    return keys.model_dump(exclude_unset=True)


def solution_of(test: Test) -> Submission:
    """The solution of a test as a submission; its files are added by the audit."""
    solution = test.solution or {}
    replies: list[str] = list(solution.get("replies") or ())
    answer: str | None = solution.get("answer")
    if answer is not None and not replies:
        # A conversation may care about its last reply only.
        replies = [answer] * len(test.turns or (1,))
    messages = read_messages(solution.get("messages")) or conversation(test, replies)
    spoken = [one.content for one in messages if one.role == "assistant"] or replies or [""]
    submission = Submission(
        output=answer if answer is not None else spoken[-1],
        language=solution.get("language"),
        messages=messages,
        usage=NOTHING_USED,
        duration_seconds=0.0,
    )
    return replace(submission, steps=_steps(test))


def _steps(test: Test) -> tuple[Step, ...]:
    """The tool calls of the solution; those of declared tools are played by Arena."""
    played = {tool.get("name") for tool in test.tools or ()}
    return tuple(
        Step(
            tool=step["tool"],
            arguments=step.get("arguments"),
            result=step.get("result"),
            error=step.get("error"),
            turn=step.get("turn"),
            source="arena" if step["tool"] in played else "agent",
        )
        for step in (test.solution or {}).get("steps") or ()
    )
