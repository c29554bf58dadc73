"""The code in an agent's answer, and the language it is written in.

The code is not parsed: it is untrusted, and a parser in the supervisor would be one more thing to
attack. Patterns match single lines. No two adjacent parts of a pattern can match the same
characters: untrusted text must not make them slow.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.sandbox.languages import languages, normal_language
from arena.sandbox.markdown import Block, fenced_blocks

# Each matches line starts that only one of the two languages has.
PYTHON_SIGNS = re.compile(
    r"^[ \t]*(?:async[ \t]+def|def|class[ \t]+\w.*:[ \t]*(?:#.*)?$|from[ \t]+[\w.]+[ \t]+import"
    r"|import[ \t]+\w[\w., ]*$|@\w|elif\b|if[ \t].*:[ \t]*$|\w+[ \t]*=[ \t]*lambda\b)",
    re.MULTILINE,
)
JAVASCRIPT_SIGNS = re.compile(
    r"^[ \t]*(?:(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?function\b"
    r"|(?:export[ \t]+)?(?:const|let|var)\s|module\.exports|exports\."
    r"|(?:export[ \t]+)?class[ \t]+\w.*\{|//|import[ \t].*[ \t]from[ \t]+['\"]"
    r"|\w+[ \t]*=[^=\n]*=>)",
    re.MULTILINE,
)
# The start of a text that is code itself: a fence in it is in a string or a comment.
CODE_START = re.compile(
    r"(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[ \t]*[({:]"
    r"|from[ \t]+[\w.]+[ \t]+import\b|import\b.*\bfrom\b"
    r"|import[ \t]+(?:[\w.]+[ \t]*(?:$|,|as\b|;)|[{*'\"])"
    r"|@\w+(?:[ \t]*\(|$)|try:|[A-Za-z_$][\w$.]*[ \t]*=(?!=)|\"{3}|'{3}"
    r"|(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?function\b[^(\n]*\("
    r"|(?:export[ \t]+)?(?:const|let|var)[ \t]+[\w$\[{][^=\n]*=|/[/*]|['\"]use strict"
    r"|#!|#include\b|<\?php|package[ \t]+[\w.]+;?$|(?:public[ \t]+)?(?:static|class|fn)[ \t].*\{",
    re.MULTILINE,
)
# Only lines at the left margin count, so that a method is not taken for a function.
WORD = re.compile(r"[A-Za-z_$][\w$]*")
_EXPORT = r"(?:export[ \t]+)?(?:default[ \t]+)?"
_DECLARED = rf"{_EXPORT}(?:const|let|var)[ \t]+"
FUNCTIONS = {
    "python": re.compile(
        r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*=[ \t]*lambda\b", re.MULTILINE
    ),
    "javascript": re.compile(
        rf"^(?:{_EXPORT}|module\.exports[ \t]*=[ \t]*)"
        r"(?:async[ \t]+)?(?:function(?:[ \t]*\*)?|class)[ \t]*([\w$]+)"
        rf"|^{_DECLARED}([\w$]+)[ \t]*=[ \t]*(?:async\b|function\b|\(|[\w$]+[ \t]*=>)",
        re.MULTILINE,
    ),
}
ASSIGNED = {
    "python": re.compile(r"^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE),
    "javascript": re.compile(
        rf"^(?:{_DECLARED}|(?:module\.)?exports\.|globalThis\.)?([\w$]+)[ \t]*="
        r"(?![=>]|[ \t]*(?:await[ \t]+)?(?:require|import)\b)",
        re.MULTILINE,
    ),
}
IMPORTS = {
    "python": re.compile(r"^(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(.*)", re.MULTILINE),
    "javascript": re.compile(
        rf"^import\b([^'\"\n]*)from|^{_DECLARED}([^=\s][^=\n]*)=[ \t]*require\b", re.MULTILINE
    ),
}
BLANK_OR_HASH = re.compile(r"(?:[ \t\r]*\n|#(?!!|include\b).*\n)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Code and its language."""

    source: str
    language: str


def read_submission(
    text: str, language: str | None = None, *, function_name: str | None = None
) -> Code:
    """The code in an answer. The caller's `language` wins, then the fence's, then a guess."""
    # Interpreters do not accept a byte order mark.
    text = text.removeprefix("\ufeff")
    requested = normal_language(language or "")
    blocks = [] if _begins_like_code(text) else fenced_blocks(text)
    if not blocks:
        return Code(source=text, language=requested or _looks_like(text))
    tagged = [_with_language(block) for block in blocks]
    found = _with_function(tagged, requested, function_name) if function_name else None
    return found or _longest(tagged, requested, function_name is not None)


def _begins_like_code(text: str) -> bool:
    blank = BLANK_OR_HASH.match(text)
    return CODE_START.match(text, blank.end() if blank else 0) is not None


def _with_language(block: Block) -> Code:
    """The block's code; its language is empty if the tag (such as "text") names none."""
    language = normal_language(block.tag)
    return Code(source=block.body, language=language if language in languages() else "")


def _with_function(blocks: Sequence[Code], requested: str, function_name: str) -> Code | None:
    """The first block that defines the function, with the blocks that it needs."""
    languages = (requested,) if requested in FUNCTIONS else tuple(FUNCTIONS)
    # Blocks with a tag first; sorting keeps the order of the text.
    for block in sorted(blocks, key=lambda block: not block.language):
        language = block.language or requested or _looks_like(block.source)
        if language in languages and defines(block.source, function_name, language):
            usable = [other for other in blocks if other.language in (language, "")]
            return Code(source=_with_helpers(block, usable, language), language=language)
    return None


def _with_helpers(first: Code, usable: Sequence[Code], language: str) -> str:
    """`first` and every block that defines what a selected block uses, in the order of the text.

    Examples are left out, because nothing uses what they define: they may read input, or fail.
    """
    defined = [defined_names(block.source, language) for block in usable]
    where: dict[str, int] = {}
    for place, names in enumerate(defined):
        for name in names:
            where.setdefault(name, place)
    start = next(place for place, block in enumerate(usable) if block is first)
    taken, pending = {start}, [start]
    while pending:
        place = pending.pop()
        for name in used(usable[place].source):
            other = where.get(name, place)
            if name not in defined[place] and other not in taken:
                taken.add(other)
                pending.append(other)
    return "\n".join(usable[place].source for place in sorted(taken))


def _longest(blocks: Sequence[Code], requested: str, is_function: bool) -> Code:
    """The longest block: in the requested language, else untagged, else any."""
    ranks = (
        [block for block in blocks if block.language == requested],
        [block for block in blocks if not block.language],
    )
    if not requested:
        callable_ = [block for block in blocks if is_function and block.language in FUNCTIONS]
        ranks = (callable_, [block for block in blocks if block.language])
    candidates = next((rank for rank in ranks if rank), blocks)
    longest = max(candidates, key=lambda block: len(block.source))
    language = requested or longest.language or _looks_like(longest.source)
    return Code(source=longest.source, language=language)


def _looks_like(source: str) -> str:
    python = len(PYTHON_SIGNS.findall(source))
    javascript = len(JAVASCRIPT_SIGNS.findall(source))
    return "python" if python > javascript else "javascript"


def defines(source: str, name: str, language: str) -> bool:
    """Whether `source` defines a function, a class or a variable of that name."""
    return name in _found(FUNCTIONS[language], source) | _found(ASSIGNED[language], source)


def defined_names(source: str, language: str) -> set[str]:
    """The names that other code may need from `source`: functions, classes, imports, CONSTANTS.

    Not every variable: `result = add(1, 2)` is an example, and many functions have their own
    `result`.
    """
    constants = {name for name in _found(ASSIGNED[language], source) if name.isupper()}
    imports = _found(IMPORTS[language], source)
    words = {word for line in imports for word in WORD.findall(line)} - {"as"}
    return _found(FUNCTIONS[language], source) | constants | words


def used(source: str) -> Iterable[str]:
    """Every word of `source`, in the order of its first use."""
    return dict.fromkeys(WORD.findall(source))


def _found(pattern: re.Pattern[str], source: str) -> set[str]:
    return {group for match in pattern.finditer(source) for group in match.groups() if group}
