"""A submission that is more than text: which part of it a standard sees, and how it is stored."""

import base64
import binascii
from dataclasses import replace
from typing import Any, cast

from arena.content.canonical import canonical, read_canonical
from arena.content.errors import NotCanonical
from arena.errors import InvalidInput
from arena.evaluation.standard import (
    Checklist,
    JudgePrompt,
    Reply,
    Standard,
    TestCases,
    leaves,
    parts_of,
)
from arena.evaluation.validators import Validator
from arena.evaluation.verdict import Submission
from arena.models import message, step
from arena.models.usage import Usage
from arena.text import to_unicode
from arena.workspaces.collected import Change, Collected, File

KIND = "arena.submission/1"
TEXT_ONLY = (Validator, TestCases)


def seen_by(standard: Standard, submission: Submission) -> Submission:
    """What the standard can look at: for most, only the text.

    A record holds this, so that text judged as text is stored as text.
    """
    if any(isinstance(part, Reply) for part in parts_of(standard)):
        return submission
    found = list(leaves(standard))
    if all(isinstance(leaf, TEXT_ONLY) for leaf in found):
        return Submission(output=submission.output, language=submission.language)
    if all(isinstance(leaf, (*TEXT_ONLY, JudgePrompt, Checklist)) for leaf in found):
        return replace(submission, usage=Usage(), duration_seconds=None)
    return submission


def submission_bytes(submission: Submission) -> bytes:
    """A submission with more than text, as a record refers to it."""
    return canonical(submission_document(submission))


def submission_document(submission: Submission) -> dict[str, Any]:
    """A submission with more than text, in JSON values."""
    usage, files = submission.usage, submission.files
    document: dict[str, Any] = {
        "kind": KIND,
        "output": submission.output,
        "language": submission.language,
        "messages": [message.as_json(one) for one in submission.messages],
        "steps": [step.as_json(one) for one in submission.steps],
        "steps_problem": submission.steps_problem,
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "model": usage.model,
            "cost_usd": usage.cost_usd,
        },
        "duration_seconds": submission.duration_seconds,
        "files": None if files is None else _files_json(files),
    }
    return _unicode(document)


def read_submission(data: bytes) -> Submission:
    """The inverse of `submission_bytes`; `InvalidInput` for anything else."""
    try:
        return submission_from(read_canonical(data))
    except NotCanonical as error:
        raise InvalidInput(f"not a submission of the kind {KIND}: {error.message}") from None


def submission_from(document: object) -> Submission:
    """The inverse of `submission_document`; `InvalidInput` for anything else."""
    try:
        body = cast(dict[str, Any], document)
        if body.get("kind") != KIND:
            raise InvalidInput(f"not a submission of the kind {KIND}")
        read = Submission(
            output=body["output"],
            language=body["language"],
            messages=message.read_messages(body["messages"]),
            steps=tuple(step.stored_step(one) for one in body["steps"]),
            steps_problem=body.get("steps_problem"),
            usage=Usage(**body["usage"]),
            duration_seconds=body["duration_seconds"],
            files=None if body["files"] is None else _files_from(body["files"]),
        )
        _check_types(read)
        return read
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise InvalidInput(f"not a submission of the kind {KIND}: {error}") from None


def _check_types(submission: Submission) -> None:
    """Raise `TypeError` for a value of another type: a record may come from anywhere."""
    usage, steps = submission.usage, submission.steps
    texts: list[object] = [submission.output, *(one.tool for one in steps)]
    maybe_texts: list[object] = [submission.language, submission.steps_problem, usage.model]
    maybe_texts += (one.error for one in steps)
    numbers: list[object] = [usage.input_tokens, usage.output_tokens, usage.cost_usd]
    numbers += (submission.duration_seconds, *(one.turn for one in steps))
    texts += (one for one in maybe_texts if one is not None)
    if not all(isinstance(one, str) for one in texts):
        raise TypeError("a text is of another type")
    if not all(one is None or isinstance(one, int | float) for one in numbers):
        raise TypeError("a number is of another type")
    if any(one.source not in step.SOURCES for one in steps):
        raise TypeError("a step has an unknown source")


def of_turn(submission: Submission, turn: int) -> Submission | None:
    """The submission as it was after one turn; None if the conversation had ended before."""
    replies = [n for n, one in enumerate(submission.messages) if one.role == "assistant"]
    if not replies and turn == 1:
        return submission
    if turn > len(replies):
        return None
    place = replies[turn - 1]
    return replace(
        submission,
        output=submission.messages[place].content,
        messages=submission.messages[: place + 1],
        steps=tuple(one for one in submission.steps if (one.turn or 1) == turn),
    )


def _files_json(collected: Collected) -> dict[str, Any]:
    return {
        "files": {
            path: {
                "base64": base64.b64encode(file.content).decode(),
                "is_executable": file.is_executable,
            }
            for path, file in collected.files.items()
        },
        "changes": [{"path": one.path, "kind": one.kind} for one in collected.changes],
        "problems": list(collected.problems),
        "is_protected": collected.is_protected,
    }


def _files_from(body: dict[str, Any]) -> Collected:
    return Collected(
        files={
            path: File(
                content=base64.b64decode(file["base64"], validate=True),
                is_executable=file["is_executable"],
            )
            for path, file in body["files"].items()
        },
        changes=tuple(Change(**one) for one in body["changes"]),
        problems=tuple(body["problems"]),
        is_protected=body["is_protected"],
    )


def _unicode(value: Any) -> Any:
    """Text that is valid Unicode, everywhere in a JSON value."""
    if isinstance(value, str):
        return to_unicode(value)
    if isinstance(value, dict):
        members = cast(dict[str, Any], value)
        return {to_unicode(key): _unicode(one) for key, one in members.items()}
    if isinstance(value, list):
        return [_unicode(one) for one in cast(list[Any], value)]
    return value
