"""What an agent handed in: the code in its answer, and the language it is written in."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from arena.errors import InvalidInput, NotFound
from arena.sandbox.definitions import FUNCTIONS, defines, offered, used
from arena.sandbox.languages import Languages
from arena.sandbox.markdown import Block, fenced_blocks

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
    "es": "javascript",
    "ecmascript": "javascript",
    "rb": "ruby",
    "sh": "shell",
    "bash": "shell",
}
# Each is something that only this one of the two can say at the start of a line. No two parts that
# follow each other can take the same characters: the text is a stranger's, and so is the time.
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
# How a text begins that is code itself: a fence in it stands in a string or a comment.
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
BLANK_OR_HASH = re.compile(r"(?:[ \t\r]*\n|#(?!!|include\b).*\n)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Code and its language."""

    source: str
    language: str


def normal_language(name: str) -> str:
    """One name per language: 'js' and 'node' are 'javascript', 'python3.11' is 'python'."""
    lowered = name.strip().lower()
    bare = lowered.rstrip("0123456789.-")
    # A version means something only behind a name that is known: 'cobol85' is one word.
    known = bare in ALIASES or bare in ALIASES.values()
    return ALIASES.get(lowered) or (ALIASES.get(bare, bare) if known else lowered)


def check_language(name: str) -> str:
    """The language's one name, or InvalidInput with the nearest that there is."""
    language = normal_language(name)
    try:
        return Languages.builtin().named(language).name
    except NotFound as unknown:
        raise InvalidInput(unknown.message) from None


def read_submission(
    text: str,
    language: str | None = None,
    *,
    function_name: str | None = None,
    known: Collection[str] | None = None,
) -> Submission:
    """The code in an answer. The caller's `language` wins over the fence, the fence over looks.

    `known` are the languages that a fence can name; any other tag, such as "text", says nothing.
    """
    # A mark that editors leave at the start of a file means nothing to an interpreter.
    text = text.removeprefix("\ufeff")
    wanted = normal_language(language or "")
    blocks = [] if _begins_like_code(text) else fenced_blocks(text)
    if not blocks:
        return Submission(source=text, language=wanted or _looks_like(text))
    names = Languages.builtin().table if known is None else known
    tagged = [_with_language(block, names) for block in blocks]
    found = _with_function(tagged, wanted, function_name) if function_name else None
    return found or _longest(tagged, wanted, function_name is not None)


def _begins_like_code(text: str) -> bool:
    blank = BLANK_OR_HASH.match(text)
    return CODE_START.match(text, blank.end() if blank else 0) is not None


def _with_language(block: Block, known: Collection[str]) -> Submission:
    """The block's code; its language is empty where the tag names none."""
    language = normal_language(block.tag)
    return Submission(source=block.body, language=language if language in known else "")


def _with_function(
    blocks: Sequence[Submission], wanted: str, function_name: str
) -> Submission | None:
    """The first block that defines the function, with the blocks that it needs."""
    languages = (wanted,) if wanted in FUNCTIONS else tuple(FUNCTIONS)
    # A tag counts for more than none; sorting keeps the order of the text.
    for block in sorted(blocks, key=lambda block: not block.language):
        language = block.language or wanted or _looks_like(block.source)
        if language in languages and defines(block.source, function_name, language):
            usable = [other for other in blocks if other.language in (language, "")]
            return Submission(source=_with_helpers(block, usable, language), language=language)
    return None


def _with_helpers(first: Submission, usable: Sequence[Submission], language: str) -> str:
    """`first` and every block that offers what a block taken uses, in the order of the text.

    Examples stay out, because nobody needs what they define: they may ask for input, or fail.
    """
    offers = [offered(block.source, language) for block in usable]
    where: dict[str, int] = {}
    for place, names in enumerate(offers):
        for name in names:
            where.setdefault(name, place)
    start = next(place for place, block in enumerate(usable) if block is first)
    taken, pending = {start}, [start]
    while pending:
        place = pending.pop()
        for name in used(usable[place].source):
            other = where.get(name, place)
            if name not in offers[place] and other not in taken:
                taken.add(other)
                pending.append(other)
    return "\n".join(usable[place].source for place in sorted(taken))


def _longest(blocks: Sequence[Submission], wanted: str, is_function: bool) -> Submission:
    """The longest block: of the wanted language, else of no language, else of any."""
    ranks = (
        [block for block in blocks if block.language == wanted],
        [block for block in blocks if not block.language],
    )
    if not wanted:
        callable_ = [block for block in blocks if is_function and block.language in FUNCTIONS]
        ranks = (callable_, [block for block in blocks if block.language])
    candidates = next((rank for rank in ranks if rank), blocks)
    longest = max(candidates, key=lambda block: len(block.source))
    language = wanted or longest.language or _looks_like(longest.source)
    return Submission(source=longest.source, language=language)


def _looks_like(source: str) -> str:
    python = len(PYTHON_SIGNS.findall(source))
    javascript = len(JAVASCRIPT_SIGNS.findall(source))
    return "python" if python > javascript else "javascript"


def checked_name(name: str) -> str:
    """`name` as the name of a function, or InvalidInput."""
    if IDENTIFIER.fullmatch(name) is None:
        raise InvalidInput(f"function name {name!r} is not a name: letters, digits, _ and $")
    return name
