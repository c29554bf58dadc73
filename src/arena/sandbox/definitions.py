"""Which names a piece of code defines, by the looks of its lines.

Nothing is parsed: the code is a stranger's, and a parser in the supervisor would be one more thing
to attack. Only lines at the left margin count, so that a method is not taken for a function.
"""

import re
from collections.abc import Iterable

# No two parts that follow each other can take the same characters: the time is a stranger's, too.
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


def defines(source: str, name: str, language: str) -> bool:
    """Whether a function, a class or a variable of that name is made in `source`."""
    return name in _found(FUNCTIONS[language], source) | _found(ASSIGNED[language], source)


def offered(source: str, language: str) -> set[str]:
    """What other code may want of `source`: functions, classes, imports, CONSTANTS.

    Not every variable: `result = add(1, 2)` is an example, and half of all functions have a
    `result` of their own.
    """
    constants = {name for name in _found(ASSIGNED[language], source) if name.isupper()}
    imports = _found(IMPORTS[language], source)
    words = {word for line in imports for word in WORD.findall(line)} - {"as"}
    return _found(FUNCTIONS[language], source) | constants | words


def used(source: str) -> Iterable[str]:
    """Every word of `source`, in the order of their first use."""
    return dict.fromkeys(WORD.findall(source))


def _found(pattern: re.Pattern[str], source: str) -> set[str]:
    return {group for match in pattern.finditer(source) for group in match.groups() if group}
