"""The code in an agent's answer, and the language that a fence or a first line names.

The code is not parsed here: it is untrusted, and a parser in the supervisor would be one more thing
to attack; `evident_language.py` parses it in the sandbox. Patterns match single lines. No two
adjacent parts of a pattern can match the same characters: untrusted text must not make them slow.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arena.sandbox.languages import FUNCTION_LANGUAGES, languages, normal_language
from arena.sandbox.markdown import Block, fenced_blocks

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
INTERPRETER = re.compile(
    r"#![ \t]*(?:/[\w.-]+)*/(?:env[ \t]+(?:-S[ \t]+)?)?(?P<name>[\w.+-]+)(?=\s|$)"
)
BLANK_OR_HASH = re.compile(r"(?:[ \t\r]*\n|#(?!!|include\b).*\n)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Code and its language."""

    source: str
    language: str


def read_submission(
    text: str, language: str | None = None, *, function_name: str | None = None
) -> Sequence[Code]:
    """The code in an answer: once if its language is named, else once for each possible language.

    The caller's `language` wins over the fence's. If neither names one, `evident_code` decides.
    """
    # Interpreters do not accept a byte order mark.
    text = text.removeprefix("\ufeff")
    blocks = [] if _begins_like_code(text) else fenced_blocks(text)
    # A text without fences is one block without a tag.
    tagged = [_with_language(block) for block in blocks] or [Code(source=text, language="")]
    if requested := normal_language(language or ""):
        found = _with_function(tagged, requested, function_name) if function_name else None
        return [found or _in_language(tagged, requested)]
    if named := _named(tagged, function_name):
        return [named]
    untagged = [block for block in tagged if not block.language]
    return [
        (function_name and _with_function(tagged, one, function_name))
        or Code(source=_longest(untagged).source, language=one)
        for one in FUNCTION_LANGUAGES
    ]


def read_entry_points(text: str, language: str, names: Sequence[str]) -> Code:
    """The code in an answer that defines all these names: one block, or several together."""
    found = [read_submission(text, language, function_name=name)[0].source for name in names]
    sources = list(dict.fromkeys(found))
    # A block that another one contains need not be there twice.
    kept = [one for one in sources if not any(one in other for other in sources if other != one)]
    return Code(source="\n".join(kept), language=language)


def fence_languages(text: str) -> set[str]:
    """The languages that the fences of an answer name; empty if one of them names none."""
    text = text.removeprefix("\ufeff")
    blocks = [] if _begins_like_code(text) else fenced_blocks(text)
    named = {_with_language(block).language for block in blocks}
    return set() if "" in named else named


def _begins_like_code(text: str) -> bool:
    blank = BLANK_OR_HASH.match(text)
    return CODE_START.match(text, blank.end() if blank else 0) is not None


def _with_language(block: Block) -> Code:
    """The block's code; its language is empty if the tag (such as "text") names none."""
    language = normal_language(block.tag)
    return Code(source=block.body, language=language if language in languages() else "")


def _named(blocks: Sequence[Code], function_name: str | None) -> Code | None:
    """The code in a language that a fence or a first line names; None if the rest must decide."""
    named = [block for block in blocks if block.language]
    untagged = [block for block in blocks if not block.language]
    if function_name is None:
        return _longest(named) if named else _with_interpreter(_longest(untagged))
    callable_ = [block for block in named if block.language in FUNCTION_LANGUAGES]
    for block in callable_:
        if defines(block.source, function_name, block.language):
            return _with_function(blocks, block.language, function_name)
    if any(defines(block.source, function_name, one) for block in untagged for one in FUNCTIONS):
        return None
    if callable_:
        return _longest(callable_)
    return None if untagged else _longest(named)


def _with_interpreter(block: Code) -> Code | None:
    """The program in the language of the interpreter that its first line names, if it does."""
    found = INTERPRETER.match(block.source)
    language = normal_language(found["name"]) if found else ""
    return Code(source=block.source, language=language) if language in languages() else None


def _with_function(blocks: Sequence[Code], language: str, function_name: str) -> Code | None:
    """The first block that defines the function in `language`, with the blocks that it needs."""
    if language not in FUNCTIONS:
        return None
    usable = [block for block in blocks if block.language in (language, "")]
    # Blocks with a tag first; sorting keeps the order of the text.
    for block in sorted(usable, key=lambda block: not block.language):
        if defines(block.source, function_name, language):
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


def _in_language(blocks: Sequence[Code], language: str) -> Code:
    """The longest block in this language, else without a tag, else of any."""
    ranks = (
        [block for block in blocks if block.language == language],
        [block for block in blocks if not block.language],
    )
    block = _longest(next((rank for rank in ranks if rank), blocks))
    return Code(source=block.source, language=language)


def _longest(blocks: Sequence[Code]) -> Code:
    return max(blocks, key=lambda block: len(block.source))


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
