"""The language of code that nobody named: evident, or refused; never guessed.

A function is evident if the code parses and defines it in exactly one of the languages that have
functions here. A program is evident if it parses as Python or JavaScript and has what only that
language has; the others accept too much of each other's text. The code is parsed in the sandbox,
by the engine that would run it, and nothing of it is executed.
"""

import re
from collections.abc import Awaitable, Callable, Sequence

from arena.errors import InvalidInput
from arena.pools.workers import TooMuchWork, by_effort
from arena.sandbox.errors import HOW_TO_NAME, LanguageRefused, LimitReached, ToolchainMissing
from arena.sandbox.languages import FUNCTION_LANGUAGES
from arena.sandbox.ports import FunctionCall, FunctionOutcome
from arena.sandbox.submission import Code

Calling = Callable[[FunctionCall], Awaitable[FunctionOutcome]]
"""Calls a function in the sandbox."""

CHECKS = {
    # A block, or an import that Python itself has: no other language accepts the former, and none
    # means anything by the latter.
    "python": """
def check(source, name):
    try:
        compile(source, "submission.py", "exec", dont_inherit=True)
        return has_sign(source) if name is None else defines(source, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError, KeyError):
        return False
def defines(source, name):
    import symtable
    symbol = symtable.symtable(source, "submission.py", "exec").lookup(name)
    return symbol.is_assigned() or symbol.is_imported()
def has_sign(source):
    import ast, sys
    blocks = (
        ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.AsyncFor, ast.While,
        ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match, ast.ImportFrom,
    )
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, blocks):
            return True
        if isinstance(node, ast.Import):
            if any(one.name.split(".")[0] in sys.stdlib_module_names for one in node.names):
                return True
    return False
""",
    # An error in the syntax is thrown before the first statement, which throws 0, is executed.
    "javascript": r"""
const run = eval;
async function check(source, name) {
  const text = source.replace(/^(?:#!.*\n)?/, "$&throw 0;\n");
  const isModule = name === null || /^\s*(?:export\s|import\s*(?:[\w*{"']|$))/m.test(source);
  try {
    if (isModule) await import(`data:text/javascript,${encodeURIComponent(text)}`);
    else run(text);
  } catch (error) {
    // A module that cannot be loaded has been parsed; other errors are of the parser.
    return error === 0 || (isModule && typeof error?.code === "string");
  }
}
""",
}
SEARCHED = 20
"""Characters that are searched in the time of one value."""
# A program in Node reads and prints with these.
JAVASCRIPT_PROGRAM = re.compile(r"\b(?:console|process)\.\w")


async def evident_code(readings: Sequence[Code], function_name: str | None, call: Calling) -> Code:
    """The only reading that parses, as its language alone would; else `LanguageRefused`."""
    found: list[Code] = []
    missing: ToolchainMissing | None = None
    for reading in readings:
        try:
            if await _is_evident(reading, function_name, call):
                found.append(reading)
        except ToolchainMissing as error:
            missing = error
    if len(found) == 1:
        # Also if an engine is missing: code in its language could not be run here anyway.
        return found[0]
    if missing is not None:
        raise missing
    if function_name is None:
        raise LanguageRefused(f"the language of the program is not evident; {HOW_TO_NAME}")
    known = " and ".join(FUNCTION_LANGUAGES)
    raise LanguageRefused(
        "the language of the code is not evident: it must parse, and define "
        f"{function_name!r}, in exactly one of {known}; {HOW_TO_NAME}"
    )


async def _is_evident(reading: Code, function_name: str | None, call: Calling) -> bool:
    # Without a parser first: most texts cannot be one of the two.
    source = reading.source
    if reading.language == "javascript":
        try:
            amount = len(source) // SEARCHED
            if not await by_effort(amount, may_be_javascript, source, function_name):
                return False
        except TooMuchWork as error:
            raise InvalidInput(f"finding the language of the code {error}") from None
    if reading.language == "python" and function_name is not None and function_name not in source:
        return False
    outcome = await call(
        FunctionCall(
            language=reading.language,
            source=CHECKS[reading.language],
            function_name="check",
            inputs=[[source, function_name]],
        )
    )
    [case] = outcome.cases
    if case.limit is not None:
        # It would not run either: the submission's fault, whatever its language is.
        raise LimitReached("the code cannot be parsed within the limits", limit=case.limit.value)
    return case.value is True


def may_be_javascript(source: str, function_name: str | None) -> bool:
    """Whether it has a definition of the function, or what a program in Node has."""
    if function_name is None:
        return JAVASCRIPT_PROGRAM.search(source) is not None
    name = re.escape(function_name)
    definition = rf"\b(?:function\b[\s*]*|(?:class|const|let|var)\s+){name}(?![\w$])"
    assignment = rf"(?:\bglobalThis\.|(?<![\w$.])){name}\s*=(?![=>])"
    return re.search(rf"{definition}|{assignment}|\bexports?\b", source) is not None
