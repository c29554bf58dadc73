"""Applies a unified patch to files in memory: exactly, or not at all.

Every hunk must fit at the line it names, with all its context. There is no fuzz, no offset and no
guessing of names, because a patch that fits almost says something else than its author saw.
Understands what `git diff` and `diff -u` write; binary patches, links and copies are refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.errors import AgentFault
from arena.workspaces.collected import File
from arena.workspaces.names import parents, path_problem, shown

MAX_PATCH_BYTES = 16 * 1024**2
MAX_RESULT_BYTES = 24 * 1024**2
NOTHING = "/dev/null"
HUNK = re.compile(r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@")
MODES = {"100644": False, "100755": True}
NO_NEWLINE = "\\ No newline at end of file"
ESCAPE = re.compile(r'\\([0-7]{3}|["\\abfnrtv])')
ESCAPED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
GIT_LINES = (
    "new file mode ",
    "new mode ",
    "deleted file mode ",
    "old mode ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "GIT binary patch",
    "Binary files ",
    "index ",
    "similarity index ",
    "dissimilarity index ",
)


class BadPatch(AgentFault):
    """The patch cannot be applied."""

    code = "bad_patch"


@dataclass(slots=True)
class _FilePatch:
    """What a patch does to one file."""

    line: int
    old: str | None = None
    """None: a new file."""
    new: str | None = None
    """None: the file is deleted."""
    is_executable: bool | None = None
    """None: as before."""
    is_renamed: bool = False
    hunks: list["_Hunk"] = field(default_factory=list["_Hunk"])


@dataclass(slots=True)
class _Hunk:
    """One place in a file: the lines that must be there, and those that replace them."""

    line: int
    start: int
    old: list[bytes] = field(default_factory=list[bytes])
    new: list[bytes] = field(default_factory=list[bytes])


def apply_patch(files: Mapping[str, File], patch: str) -> dict[str, File]:
    """The files with the patch applied; `BadPatch` says at which line it does not fit."""
    if len(patch) > MAX_PATCH_BYTES:
        raise BadPatch(f"the patch has {len(patch):,} characters, at most {MAX_PATCH_BYTES:,}")
    result = dict(files)
    touched: set[str] = set()
    patches = _Parser(patch).parse()
    for one in patches:
        for path in {one.old, one.new} - {None}:
            if path in touched:
                raise BadPatch(f"line {one.line}: {shown(str(path))} is in the patch twice")
            touched.add(str(path))
    for one in patches:
        _apply(result, one)
    if sum(len(file.content) for file in result.values()) > MAX_RESULT_BYTES:
        raise BadPatch(f"the patched files have more than {MAX_RESULT_BYTES:,} bytes")
    folders = {folder for path in result for folder in parents(path)}
    if both := sorted(folders & result.keys()):
        raise BadPatch(f"{shown(both[0])} would be a file and a folder")
    return result


def _apply(files: dict[str, File], patch: _FilePatch) -> None:
    where = f"line {patch.line}"
    if patch.old is None:
        if patch.new in files:
            raise BadPatch(f"{where}: the new file {shown(str(patch.new))} exists already")
        file = File(content=b"")
    else:
        if patch.old not in files:
            raise BadPatch(f"{where}: there is no file {shown(patch.old)}")
        file = files[patch.old]
    content = _patched(file.content, patch)
    if patch.new is None:
        if content:
            raise BadPatch(f"{where}: {shown(str(patch.old))} is deleted, but not all of it")
        del files[str(patch.old)]
        return
    if patch.is_renamed:
        if patch.new in files:
            raise BadPatch(f"{where}: {shown(patch.new)} exists already")
        del files[str(patch.old)]
    is_executable = file.is_executable if patch.is_executable is None else patch.is_executable
    files[patch.new] = File(content=content, is_executable=is_executable)


def _patched(content: bytes, patch: _FilePatch) -> bytes:
    """The content with every hunk at its place."""
    lines = content.split(b"\n")
    # A line keeps its line break; the last one has none if the file does not end with one.
    lines = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    result: list[bytes] = []
    at = 0
    for hunk in patch.hunks:
        # A hunk without old lines names the line after which it adds.
        start = hunk.start - 1 if hunk.old else hunk.start
        if start < at or lines[start : start + len(hunk.old)] != hunk.old:
            raise BadPatch(f"line {hunk.line}: the hunk does not fit {shown(str(patch.old))}")
        if start > len(lines):
            raise BadPatch(f"line {hunk.line}: {shown(str(patch.old))} has no such line")
        result += lines[at:start] + hunk.new
        at = start + len(hunk.old)
    result += lines[at:]
    if any(not line.endswith(b"\n") for line in result[:-1]):
        raise BadPatch(f"line {patch.line}: a line without a line break is not the last one")
    return b"".join(result)


class _Parser:
    """Reads a patch from top to bottom."""

    def __init__(self, patch: str) -> None:
        self._lines = patch.split("\n")
        if self._lines and not self._lines[-1]:
            self._lines.pop()
        self._at = 0
        self._patches: list[_FilePatch] = []

    def parse(self) -> list[_FilePatch]:
        """Every file of the patch; text before the first one is ignored, as `patch` does."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --git "):
                self._git_header()
            elif line.startswith("--- ") and self._next().startswith("+++ "):
                self._patches.append(_FilePatch(line=self._at + 1))
                self._names()
            elif self._patches and line.strip():
                # Also a hunk without names, or one that is longer than it says.
                raise self._error("is neither a hunk nor the header of a file")
            else:
                if line.startswith("@@ "):
                    raise self._error("is a hunk before the name of its file")
                self._at += 1
        if not self._patches:
            raise BadPatch("the patch changes no file")
        for one in self._patches:
            if one.old is None and one.new is None:
                raise BadPatch(f"line {one.line}: names no file")
        return self._patches

    def _error(self, problem: str) -> BadPatch:
        return BadPatch(f"line {self._at + 1} of the patch {problem}")

    def _next(self) -> str:
        return self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""

    def _git_header(self) -> None:
        """`diff --git a/x b/x` and the lines that follow it, then names and hunks if any."""
        names = self._lines[self._at].removeprefix("diff --git ")
        patch = _FilePatch(line=self._at + 1)
        self._patches.append(patch)
        self._at += 1
        seen: set[str] = set()
        while self._at < len(self._lines) and (key := self._git_line(patch)):
            seen.add(key)
            self._at += 1
        if self._at < len(self._lines) and self._lines[self._at].startswith("--- "):
            self._names()
        elif not patch.is_renamed:
            # An empty new or deleted file, or only another mode: named by the first line alone.
            path = self._both_names(names)
            patch.old = None if "new file mode " in seen else path
            patch.new = None if "deleted file mode " in seen else path
        if patch.is_renamed and (patch.old is None or patch.new is None or patch.old == patch.new):
            raise self._error("ends a rename that does not name two files")

    def _git_line(self, patch: _FilePatch) -> str | None:
        """Read a line between `diff --git` and the names; its key, or None if it is none."""
        line = self._lines[self._at]
        key = next((known for known in GIT_LINES if line.startswith(known)), None)
        match key:
            case "new file mode " | "new mode ":
                patch.is_executable = self._mode(line)
            case "deleted file mode " | "old mode ":
                self._mode(line)
            case "rename from ":
                patch.old, patch.is_renamed = self._path(line.removeprefix(key)), True
            case "rename to ":
                patch.new = self._path(line.removeprefix(key))
            case "copy from " | "copy to ":
                raise self._error("copies a file: write it as a new one")
            case "GIT binary patch" | "Binary files ":
                raise self._error("is binary: only text can be patched; send an archive")
            case _:
                pass
        return key

    def _mode(self, line: str) -> bool:
        mode = line.rpartition(" ")[2]
        if mode not in MODES:
            raise self._error(f"has the mode {mode[:10]!r}: only regular files are allowed")
        return MODES[mode]

    def _both_names(self, names: str) -> str:
        half = len(names) // 2
        left, right = names[:half], names[half + 1 :]
        if names[half : half + 1] != " " or not left.strip('"').startswith("a/"):
            raise BadPatch(f"line {self._at}: the names in the header are unclear")
        path, other = self._path(left, "a/"), self._path(right, "b/")
        if path != other:
            raise BadPatch(f"line {self._at}: the header names two files")
        return path

    def _names(self) -> None:
        """The lines `---` and `+++`, and the hunks below them."""
        patch = self._patches[-1]
        if not self._next().startswith("+++ "):
            raise self._error("has no line '+++' after it")
        old = self._lines[self._at].removeprefix("--- ").partition("\t")[0]
        new = self._next().removeprefix("+++ ").partition("\t")[0]
        has_prefix = all(
            name == NOTHING or name.strip('"').startswith(prefix)
            for name, prefix in ((old, "a/"), (new, "b/"))
        )
        names = [
            None if name == NOTHING else self._path(name, prefix if has_prefix else "")
            for name, prefix in ((old, "a/"), (new, "b/"))
        ]
        if patch.is_renamed:
            if names != [patch.old, patch.new]:
                raise self._error("names other files than the rename above it")
        elif None not in names and names[0] != names[1]:
            raise self._error("names two files; write it as a rename")
        patch.old, patch.new = names
        self._at += 2
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@ "):
            patch.hunks.append(self._hunk())
        if not patch.hunks:
            raise self._error("is not a hunk")

    def _path(self, name: str, prefix: str = "") -> str:
        if name.startswith('"'):
            if len(name) < 2 or not name.endswith('"'):
                raise self._error("has a name with an open quote")
            name = _unquoted(name[1:-1])
        path = name.removeprefix(prefix)
        if problem := path_problem(path):
            raise self._error(f"names {shown(path)}, which {problem}")
        return path

    def _hunk(self) -> _Hunk:
        found = HUNK.match(self._lines[self._at])
        if found is None:
            raise self._error("is not the header of a hunk")
        start, old_count, new_start, new_count = found.groups(default="1")
        left_old, left_new = int(old_count), int(new_count)
        del new_start  # follows from the others
        hunk = _Hunk(line=self._at + 1, start=int(start))
        self._at += 1
        while left_old or left_new:
            if self._at >= len(self._lines):
                raise self._error("is missing: the last hunk is cut off")
            line = self._lines[self._at]
            kind, text = line[:1], line[1:].encode() + b"\n"
            if kind in (" ", ""):  # some editors strip the blank of an empty line
                hunk.old.append(text)
                hunk.new.append(text)
                left_old, left_new = left_old - 1, left_new - 1
            elif kind == "-":
                hunk.old.append(text)
                left_old -= 1
            elif kind == "+":
                hunk.new.append(text)
                left_new -= 1
            elif line != NO_NEWLINE:
                raise self._error("does not belong to a hunk")
            if left_old < 0 or left_new < 0:
                raise self._error("is more than its hunk says")
            self._at += 1
            self._end_without_newline(hunk, kind)
        return hunk

    def _end_without_newline(self, hunk: _Hunk, kind: str) -> None:
        """The line before the remark about a missing line break has none."""
        if self._at >= len(self._lines) or self._lines[self._at] != NO_NEWLINE:
            return
        for lines, kinds in ((hunk.old, "- "), (hunk.new, "+ ")):
            if kind in kinds and lines:
                lines[-1] = lines[-1].removesuffix(b"\n")
        self._at += 1


def _unquoted(name: str) -> str:
    """A name as git quotes it: C escapes, bytes in octal."""
    raw, end = b"", 0
    for found in ESCAPE.finditer(name):
        raw += name[end : found.start()].encode()
        code = found[1]
        raw += bytes([ESCAPED[code] if code in ESCAPED else int(code, 8) & 0xFF])
        end = found.end()
    raw += name[end:].encode()
    return raw.decode("utf-8", errors="surrogateescape")
