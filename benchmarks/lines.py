"""Counts the code: per room, in total, and compared with another revision.

    make lines            or: python benchmarks/lines.py [--base c1a9331] [--fields]

A line of code is a line of a Python file in src/arena that is not blank, a comment, an import or
part of a docstring (any string that is a statement, also under a field). Comments are counted once
per line, on their own or after code; directives to tools (`noqa`, `pyright:`) do not count.

`--fields` shows how often the fields of a result, of a run and of a task's terms are written out:
every class, dictionary, call, list, text or list of parameters that names about two thirds of them
is one place. Code that only uses them (a page that shows a run, the one call that creates a result)
does not count.
"""

import argparse
import ast
import io
import json
import re
import statistics
import subprocess
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "src/arena/"
FIELDS_AT_0_1 = ROOT / "tests" / "fixtures" / "v0_1" / "openapi.json"
SHAPES = {"a result": "Result", "a run": "Run"}
TERMS = (
    *("reward", "currency", "bond", "deadline", "commit_deadline", "apply_until", "assignment"),
    *("judge", "judge_window_seconds", "fallback_judge", "fallback_window_seconds"),
    *("arbiter", "arbiter_window_seconds", "dispute_window_seconds", "timeout_policy"),
    *("agent_share_percent", "max_applicants", "is_self_judged"),
)
WRITTEN_OUT = 0.65
"""The share of a shape's fields from which a piece of source counts as a list of them."""
GENERATED_TYPES = "web/src/api/schema.d.ts"
"""Counts as one place: the generator repeats the fields in examples."""
FOR_TOOLS = re.compile(r"#\s*(noqa|type:|pyright:|fmt:|ruff:|!)")
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counts of a file, a room or the whole package."""

    files: int
    lines: int
    """All lines, including blank ones and comments."""
    code: int
    comments: int

    @property
    def comments_per_100(self) -> float:
        """Comment lines per 100 lines of code."""
        return 100 * self.comments / self.code if self.code else 0.0

    def __add__(self, other: "Counted") -> "Counted":
        return Counted(
            files=self.files + other.files,
            lines=self.lines + other.lines,
            code=self.code + other.code,
            comments=self.comments + other.comments,
        )


NOTHING = Counted(files=0, lines=0, code=0, comments=0)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A piece of source that lists a shape's fields."""

    file: str
    line: int
    what: str
    fields: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.what} ({self.fields} fields)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", metavar="REV", help="compare with this git revision")
    parser.add_argument("--fields", action="store_true", help="show where fields are written out")
    options = parser.parse_args()

    now = {path: count(text) for path, text in in_folder() if path.endswith(".py")}
    base = (
        {path: count(text) for path, text in in_revision(options.base) if path.endswith(".py")}
        if options.base
        else None
    )
    show(now, base, options.base)
    if options.fields:
        for title, places in written_out(in_folder()).items():
            print(f"\nThe fields of {title} are written out {len(places)} times:")
            for place in places:
                print(f"  {place}")


def show(now: dict[str, Counted], base: dict[str, Counted] | None, revision: str) -> None:
    rooms, before = by_room(now), by_room(base or {})
    heading = f"{'room':<12} {'files':>5} {'code':>7} {'comments/100':>13}"
    print(heading + (f" {revision:>8} {'change':>7}" if base else ""))
    for room in [*sorted({*rooms, *before}), "total"]:
        new = rooms.get(room, NOTHING) if room != "total" else total(now)
        old = before.get(room, NOTHING) if room != "total" else total(base or {})
        row = f"{room:<12} {new.files:>5} {new.code:>7,} {new.comments_per_100:>13.1f}"
        print(row + (f" {old.code:>8,} {new.code - old.code:>+7,}" if base else ""))
    print(f"median file  {median(now):.0f} lines" + (f" (was {median(base):.0f})" if base else ""))


def in_folder() -> Iterator[tuple[str, str]]:
    """The source files of the checkout, with their text."""
    for top in (ROOT / PACKAGE, ROOT / "web" / "src"):
        for path in sorted(top.rglob("*")):
            if path.suffix in {".py", ".sql", ".ts", ".tsx"} and "dist" not in path.parts:
                yield path.relative_to(ROOT).as_posix(), path.read_text()


def in_revision(revision: str) -> Iterator[tuple[str, str]]:
    """The Python files of the package in a git revision, with their text."""
    archive = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", revision, PACKAGE],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for path in archive.stdout.splitlines():
        if path.endswith(".py"):
            shown = subprocess.run(
                ["git", "show", f"{revision}:{path}"], cwd=ROOT, check=True, capture_output=True
            )
            yield path, shown.stdout.decode()


def count(text: str) -> Counted:
    """The counts of one file."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    for node in ast.walk(tree):
        is_string = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if is_string or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
        elif token.type == tokenize.COMMENT and not FOR_TOOLS.match(token.string):
            comments += 1
    lines = len(text.splitlines())
    return Counted(files=1, lines=lines, code=len(code - left_out), comments=comments)


def by_room(files: dict[str, Counted]) -> dict[str, Counted]:
    """The counts per room: a folder or a file directly below the package."""
    rooms: dict[str, Counted] = {}
    for path, counted in files.items():
        first, _, rest = path.removeprefix(PACKAGE).partition("/")
        room = f"{first}/" if rest else first
        rooms[room] = rooms.get(room, NOTHING) + counted
    return rooms


def total(files: dict[str, Counted]) -> Counted:
    """The counts of all files together."""
    return sum(files.values(), NOTHING)


def median(files: dict[str, Counted]) -> float:
    """The median number of lines per file, without empty files."""
    return statistics.median(one.lines for one in files.values() if one.lines)


def written_out(files: Iterable[tuple[str, str]]) -> dict[str, list[Place]]:
    """Where the fields of each shape are written out."""
    schemas = json.loads(FIELDS_AT_0_1.read_text())["components"]["schemas"]
    shapes = {title: set(schemas[name]["properties"]) for title, name in SHAPES.items()}
    shapes["a task's terms"] = set(TERMS)
    found: dict[str, list[Place]] = {title: [] for title in shapes}
    for path, text in files:
        if path.endswith(".py"):
            lists = list(python_lists(text))
        elif path == GENERATED_TYPES:
            lists = [(1, "generated types", set(re.findall(r"\b[a-z_]+\b", text)))]
        else:
            lists = list(bracketed_lists(text))
        for title, fields in shapes.items():
            for line, what, names in lists:
                if len(names & fields) >= WRITTEN_OUT * len(fields):
                    found[title].append(Place(path, line, what, len(names & fields)))
    return {title: without_making(places) for title, places in found.items()}


def without_making(places: list[Place]) -> list[Place]:
    """Without the calls that create one of the found classes: the type checker covers those."""
    made = {f"call of {one.what.removeprefix('class ')}" for one in places}
    return [one for one in places if one.what not in made]


def python_lists(text: str) -> Iterator[tuple[int, str, set[str]]]:
    """Everything in a Python file that lists names: the line, the kind, the names."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ClassDef(name=name, body=body):
                yield node.lineno, f"class {name}", {*filter(None, map(declared, body))}
            case ast.FunctionDef(name=name, args=args) | ast.AsyncFunctionDef(name=name, args=args):
                parameters = {one.arg for one in [*args.args, *args.kwonlyargs]}
                yield node.lineno, f"parameters of {name}", parameters
            case ast.Dict(keys=keys):
                yield node.lineno, "dictionary", {*filter(None, map(named, keys))}
            case ast.Call(func=called, args=args, keywords=keywords):
                words = {one.arg for one in keywords if one.arg}
                title = f"call of {named(called) or 'a function'}"
                yield node.lineno, title, words | {*filter(None, map(named, args))}
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                yield node.lineno, "list", {*filter(None, map(named, parts))}
            case ast.Constant(value=str(words)) if " " in words:  # SQL, or names to be split
                yield node.lineno, "text", set(re.findall(r"\b[a-z_]+\b", words))
            case _:
                pass


def declared(node: ast.stmt) -> str | None:
    """The name that a statement in a class body declares."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return None


def named(node: ast.expr | None) -> str | None:
    """The name in one element of a list: `"a"`, `a`, `x.a`, `Column("a", ...)`."""
    match node:
        case ast.Constant(value=str(name)) | ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(args=[ast.Constant(value=str(name)), *_]):
            return name
        case _:
            return None


def bracketed_lists(text: str) -> Iterator[tuple[int, str, set[str]]]:
    """The names that SQL and TypeScript declare in brackets: the line, the kind, the names."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|--[^\n]*", lambda match: "\n" * match[0].count("\n"), text)
    open_at: list[int] = []
    for position, character in enumerate(text):
        if character in "{(":
            open_at.append(position)
        elif character in "})" and open_at:
            start = open_at.pop()
            names = re.findall(r"(?m)^\s*([a-z_]+)\??\s*[:\s]", text[start + 1 : position])
            yield text.count("\n", 0, start) + 1, "brackets", set(names)


if __name__ == "__main__":
    main()
