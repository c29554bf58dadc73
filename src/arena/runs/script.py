"""Whether a simulated user kept to its script: checks that need no model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.evaluation.verdict import Finding
from arena.models.message import Message

SHOWN_DETAILS = 5
DETAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"
    r"|(?<![A-Za-z])[A-Za-z]*+-?\d(?:[.,:/-]*+\d){2,}+"
)
"""What a user can only know or invent: an address, or something with at least three digits.

Possessive and anchored at the beginning of a word, so that no text takes long."""
ASSISTANT = re.compile(
    r"^[ \t]*+(?:assistant|agent|system|ai)\s*:"
    r"|\bas an? (?:ai|language model|assistant)\b"
    r"|\bhow (?:can|may) i (?:help|assist) you\b"
    r"|\bi(?:'m| am) (?:an ai|a language model|your assistant|here to (?:help|assist))\b",
    re.IGNORECASE | re.MULTILINE,
)
"""What an assistant says of itself, and a user does not."""


def script_text(script: Mapping[str, Any]) -> str:
    """The script in words."""
    lines = [f"The user's goal: {script['goal']}"]
    if "persona" in script:
        lines.append(f"Who the user is: {script['persona']}")
    facts: Sequence[str] = script.get("facts", ())
    if facts:
        lines.append("What the user knows, and may tell:")
        lines += (f"- {fact}" for fact in facts)
    else:
        lines.append("The user knows nothing else that would matter.")
    return "\n".join(lines)


def check_script(
    script: Mapping[str, Any], messages: Sequence[Message], written: Sequence[str]
) -> list[Finding]:
    """One finding for each rule; `written` are the messages that the model wrote itself."""
    return [
        _finding("the user does not speak as the assistant", _as_assistant(messages, written)),
        _finding("the user invents no details", _invented(script, messages, written)),
        _finding("the user does not repeat itself", _repeated(messages)),
    ]


def _finding(criterion: str, found: Iterator[str]) -> Finding:
    quotes = list(dict.fromkeys(found))
    shown = "; ".join(quotes[:SHOWN_DETAILS]) + ("; …" if len(quotes) > SHOWN_DETAILS else "")
    return Finding(criterion=criterion, passed=not quotes, reason=shown or "kept")


def _as_assistant(messages: Sequence[Message], written: Sequence[str]) -> Iterator[str]:
    replies = {_plain(message.content) for message in messages if message.role == "assistant"}
    for text in written:
        if found := ASSISTANT.search(text):
            yield f'says "{found[0].strip()}"'
        elif _plain(text) in replies and len(text) > 40:
            yield "repeats a reply of the assistant word for word"


def _invented(
    script: Mapping[str, Any], messages: Sequence[Message], written: Sequence[str]
) -> Iterator[str]:
    """Details that neither the script has nor the assistant has said before."""
    own = (script.get(name) or "" for name in ("goal", "persona", "first", "stop"))
    known = "\n".join((*map(str, own), *script.get("facts", ())))
    rest = list(written)
    for message in messages:
        if message.role == "assistant":
            known += f"\n{message.content}"
        elif rest and message.content == rest[0]:
            for detail in DETAIL.findall(rest.pop(0)):
                if detail.rstrip(".,:/-") not in known:
                    yield f'"{detail}" is not in its script'


def _repeated(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    for message in messages:
        if message.role == "user":
            text = _plain(message.content)
            if text in seen:
                yield f'says "{message.content.strip()[:60]}" again'
            seen.add(text)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
