"""The fenced blocks of a Markdown text, as people and models write them."""

import re
from dataclasses import dataclass

from arena.errors import InvalidInput

# Also after a list marker: "1. ```python".
OPENING = re.compile(
    r"(?P<indent>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})(?P<info>.*)"
)
CLOSING = re.compile(r"(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*")
TAG = re.compile(r"[ \t{.]*(?P<tag>[\w+#.-]*)")
# A fence that is indented deeper is content, for example in a docstring.
CLOSING_INDENT = 3
MAX_BLOCKS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The text between two fences, without their indentation."""

    tag: str
    """The first word after the opening fence; may be empty."""
    body: str


def fenced_blocks(text: str) -> list[Block]:
    """Every block of `text` that is not blank; the end of the text closes the last one."""
    if "```" not in text and "~~~" not in text:
        return []
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    inside: list[str] = []
    # Line by line: a pattern for a whole block is slow if many fences never close.
    for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        if "```" not in line and "~~~" not in line:  # most lines, without a pattern
            inside.append(line)
        elif opening is None:
            opening = _opened(line)
            inside = []
        elif _is_closed(line, opening):
            blocks.append(_block(opening, inside))
            if len(blocks) > MAX_BLOCKS:
                raise InvalidInput(f"the answer has more than {MAX_BLOCKS:,} fenced blocks")
            opening = None
        else:
            inside.append(line)
    if opening is not None:
        blocks.append(_block(opening, inside))
    return [block for block in blocks if block.body.strip()]


def _opened(line: str) -> re.Match[str] | None:
    found = OPENING.match(line)
    # More backticks on the same line: inline code, not a fence.
    if found is None or (found["mark"][0] == "`" and "`" in found["info"]):
        return None
    return found


def _is_closed(line: str, opening: re.Match[str]) -> bool:
    found = CLOSING.fullmatch(line)
    return (
        found is not None
        and found["mark"].startswith(opening["mark"])
        and len(found["indent"]) <= len(opening["indent"]) + CLOSING_INDENT
    )


def _block(opening: re.Match[str], lines: list[str]) -> Block:
    width = len(opening["indent"])
    tag = TAG.match(opening["info"])
    body = "".join(f"{_dedented(line, width)}\n" for line in lines)
    return Block(tag=tag["tag"] if tag else "", body=body)


def _dedented(line: str, width: int) -> str:
    return line[:width].lstrip(" \t") + line[width:]
