"""Prints a conversation: messages in order, each reply after the steps that led to it."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from arena.cli import output
from arena.models.message import Message
from arena.models.step import Step, step_line

NAMES = {"user": "user", "assistant": "agent", "system": "system"}


def lines(messages: Sequence[Message], steps: Sequence[Step] = ()) -> Iterator[tuple[str, str]]:
    """Who, in which turn, and what was said or done."""
    turn = 0
    for message in messages:
        turn += message.role == "user"
        if message.role == "assistant":
            for step in steps:
                if (step.turn or 1) == turn:
                    yield "tool", step_line(step)
        yield f"{turn} {NAMES[message.role]}", message.content


def plain_text(messages: Sequence[Message], steps: Sequence[Step] = ()) -> str:
    """A conversation as plain text."""
    return "\n".join(f"{who}: {said}" for who, said in lines(messages, steps))


def as_text(messages: Sequence[Message], steps: Sequence[Step] = ()) -> Text:
    """A conversation for the screen; what agents and users wrote is untrusted."""
    text = Text()
    for who, said in lines(messages, steps):
        text.append(f"{who}: ", "dim" if who == "tool" else "bold")
        text.append_text(output.plain(said))
        text.append("\n")
    text.right_crop(1)
    return text
