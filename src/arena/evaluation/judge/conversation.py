"""What a judge is shown of a submission with messages and steps: its parts, cut to fit."""

import json
from collections.abc import Sequence

from arena.evaluation.verdict import Submission
from arena.models.step import Step
from arena.text import storable

Parts = tuple[tuple[str, str], ...]
"""The title and the text of each part."""
CUT = " … (cut)"


def parts_of(submission: Submission) -> Parts:
    """The messages with their turns, each reply after the steps that led to it."""
    parts: list[tuple[str, str]] = []
    turn = 0
    for message in submission.messages:
        turn += message.role == "user"
        if message.role == "assistant":
            parts += (_step(one) for one in submission.steps if (one.turn or 1) == turn)
        parts.append((f"{message.role}, turn {turn}:", storable(message.content)))
    if not submission.messages:
        parts += map(_step, submission.steps)
        parts.append(("assistant:", storable(submission.output)))
    return tuple(parts)


def joined(parts: Parts) -> str:
    """The texts of the parts; quotes are looked for in it."""
    return "\n".join(text for _, text in parts)


def shortened(parts: Parts, max_characters: int) -> Parts:
    """The parts with at most so many characters together; the longest are cut first.

    With the number of characters that are left as the limit, the result is the same: a verdict is
    verified with only that number known.
    """
    if len(joined(parts)) <= max_characters:
        return parts
    most = _most([len(text) for _, text in parts], max_characters - len(parts) + 1)
    return tuple((title, _cut(text, most)) for title, text in parts)


def _most(lengths: Sequence[int], room: int) -> int:
    """The length that a part may have so that all of them fit."""
    left = len(lengths)
    for length in sorted(lengths):
        if length * left > room:
            break
        room -= length
        left -= 1
    return max(room, 0) // max(left, 1)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else (text[: max(most - len(CUT), 0)] + CUT)[:most]


def _step(step: Step) -> tuple[str, str]:
    who = "Arena ran the tool" if step.source == "arena" else "as reported"
    turn = f", turn {step.turn}" if step.turn else ""
    body = {"tool": step.tool, "arguments": step.arguments, "result": step.result}
    if step.error is not None:
        body["error"] = step.error
    return f"step{turn} ({who}):", storable(json.dumps(body, ensure_ascii=False))
