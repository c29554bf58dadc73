"""What an agent handed in: the code in its answer, and the language it is written in."""

import re
from dataclasses import dataclass

from arena.errors import InvalidInput

FENCE = re.compile(
    r"^(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[\w+#.-]*)[^\n]*\n(?P<body>.*?)^(?P=mark)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{0,127}", re.ASCII)
ALIASES = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "jsx": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "node": "javascript",
    "ts": "typescript",
    "c++": "cpp",
    "cc": "cpp",
    "cxx": "cpp",
    "rs": "rust",
    "golang": "go",
    "rb": "ruby",
    "sh": "shell",
    "bash": "shell",
}
# Each is something that only this one of the two can say at the start of a line.
PYTHON_SIGNS = re.compile(
    r"^\s*(?:async\s+def|def|class\s+\w+.*:\s*(?:#.*)?$|from\s+[\w.]+\s+import|import\s+[\w., ]+$"
    r"|@\w+|elif\b|if\s.*:\s*$|\w+\s*=\s*lambda\b)",
    re.MULTILINE,
)
JAVASCRIPT_SIGNS = re.compile(
    r"^\s*(?:(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b|(?:export\s+)?(?:const|let|var)\s"
    r"|module\.exports|exports\.|(?:export\s+)?class\s+\w+.*\{|//|import\s.*\sfrom\s+['\"]"
    r"|\w+\s*=\s*(?:async\s*)?\(?[\w, ]*\)?\s*=>)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Code and its language."""

    source: str
    language: str


def unfenced(text: str) -> tuple[str, str]:
    """The code of `text` and the language its fence names: the longest fenced block, or all."""
    blocks = list(FENCE.finditer(text))
    if not blocks:
        return text, ""
    longest = max(blocks, key=lambda block: len(block["body"]))
    return longest["body"], normal_language(longest["tag"])


def normal_language(name: str) -> str:
    """One name per language: 'js' and 'node' are 'javascript'."""
    lowered = name.strip().lower()
    return ALIASES.get(lowered, lowered)


def read_submission(text: str, language: str | None = None) -> Submission:
    """The code in an answer. The caller's `language` wins over the fence, the fence over looks."""
    source, tag = unfenced(text)
    # A mark that editors leave at the start of a file means nothing to an interpreter.
    source = source.removeprefix("\ufeff")
    known = normal_language(language or "") or tag or _looks_like(source)
    return Submission(source=source, language=known)


def _looks_like(source: str) -> str:
    python = len(PYTHON_SIGNS.findall(source))
    javascript = len(JAVASCRIPT_SIGNS.findall(source))
    return "python" if python > javascript else "javascript"


def checked_name(name: str) -> str:
    """`name` as the name of a function, or InvalidInput."""
    if IDENTIFIER.fullmatch(name) is None:
        raise InvalidInput(f"function name {name!r} is not a name: letters, digits, _ and $")
    return name
