"""The key `workspace` of a test, and files as they are written in it: text, or base64."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from arena.errors import InvalidInput
from arena.workspaces.collected import File
from arena.workspaces.gathering import TreeLimits, gather
from arena.workspaces.names import parents, path_problem, shown

MAX_FILES_BYTES = 8 * 1024**2
"""All files of one test together."""
MAX_FILES = 5000
MAX_PATTERNS = 100
MAX_PATTERN_LENGTH = 300
EVERYTHING = ("**",)
WORKSPACE_KEYS = ("files", "setup", "setup_timeout", "collect", "image")
FILE_KEYS = ("text", "base64", "executable")
SETUP_SECONDS = 60.0
MAX_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The workspace of a test."""

    files: Mapping[str, File]
    setup: str | None = None
    """A command that runs in the sandbox before the agent gets the files."""
    setup_timeout: float = SETUP_SECONDS
    collect: tuple[str, ...] = EVERYTHING
    """Which files are collected afterwards."""
    image: str | None = None
    """The image of the sandbox in which `setup` runs; None: the provider's own."""


class BadFiles(InvalidInput):
    """The files of a test cannot be used."""

    code = "bad_files"

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        """Where in the value the fault is."""


def read_workspace(value: Mapping[str, Any]) -> Workspace:
    """The workspace of a test's JSON value; `BadFiles` with the place of the first fault."""
    for key in value:
        if key not in WORKSPACE_KEYS:
            known = ", ".join(WORKSPACE_KEYS)
            raise BadFiles((key,), f"unknown key {key!r} (allowed: {known})")
    setup, image = value.get("setup"), value.get("image")
    for key, text in (("setup", setup), ("image", image)):
        if text is not None and (not isinstance(text, str) or not text.strip() or "\0" in text):
            raise BadFiles((key,), "must be text that is not empty")
    return Workspace(
        files=_read_at(("files",), value.get("files", {})),
        setup=setup,
        setup_timeout=read_seconds(value, "setup_timeout", SETUP_SECONDS),
        collect=read_patterns(value, "collect", EVERYTHING),
        image=image,
    )


def _read_at(at: tuple[str | int, ...], value: object) -> dict[str, File]:
    try:
        return read_files(value)
    except BadFiles as error:
        raise BadFiles((*at, *error.path), error.message) from None


def read_files(value: object) -> dict[str, File]:
    """Files from a mapping of paths to text, or to `{text | base64, executable}`."""
    if not isinstance(value, Mapping):
        raise BadFiles((), "must be a folder (in a test file), or a mapping of paths to files")
    files: dict[str, File] = {}
    size = 0
    for path, written in cast(Mapping[object, object], value).items():
        if not isinstance(path, str):
            raise BadFiles((), f"a path must be text, not {path!r}")
        if problem := path_problem(path):
            raise BadFiles((path,), f"the path {shown(path)} {problem}")
        files[path] = _file(path, written)
        size += len(files[path].content)
    if size > MAX_FILES_BYTES:
        raise BadFiles((), f"the files have {size:,} bytes, at most {MAX_FILES_BYTES:,}")
    if len(files) > MAX_FILES:
        raise BadFiles((), f"there are {len(files):,} files, at most {MAX_FILES:,}")
    for path in files:
        for folder in parents(path):
            if folder in files:
                raise BadFiles((folder,), f"{shown(folder)} is a file and a folder")
    return files


def _file(path: str, written: object) -> File:
    if isinstance(written, str):
        return File(content=_utf8(path, written))
    if not isinstance(written, Mapping):
        raise BadFiles((path,), "must be text, or a mapping with 'text' or 'base64'")
    keys = cast(Mapping[str, object], written)
    unknown = [key for key in keys if key not in FILE_KEYS]
    executable, text, encoded = keys.get("executable", False), keys.get("text"), keys.get("base64")
    if unknown or not isinstance(executable, bool):
        raise BadFiles((path,), "may have 'text' or 'base64', and 'executable: true'")
    if isinstance(text, str) and encoded is None:
        return File(content=_utf8(path, text), is_executable=executable)
    if not isinstance(encoded, str) or text is not None:
        raise BadFiles((path,), "needs either 'text' or 'base64'")
    try:
        return File(
            content=base64.b64decode("".join(encoded.split()), validate=True),
            is_executable=executable,
        )
    except (binascii.Error, ValueError):
        raise BadFiles((path, "base64"), "is not base64") from None


def _utf8(path: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadFiles((path,), "is not valid Unicode text") from None


def write_files(files: Mapping[str, File]) -> dict[str, Any]:
    """The inverse of `read_files`: text where it is text."""
    return {path: _written(file) for path, file in sorted(files.items())}


def _written(file: File) -> str | dict[str, object]:
    content: dict[str, object]
    try:
        text = file.content.decode()
        # PostgreSQL cannot store NUL in text.
        if "\0" in text:
            raise ValueError
        if not file.is_executable:
            return text
        content = {"text": text}
    except ValueError:
        content = {"base64": base64.b64encode(file.content).decode()}
    return content | ({"executable": True} if file.is_executable else {})


def read_patterns(
    value: Mapping[str, Any], key: str, default: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """A list of patterns of paths."""
    patterns = value.get(key)
    if patterns is None:
        return default
    if not isinstance(patterns, list | tuple) or not patterns:
        raise BadFiles((key,), "must be a list of paths or patterns such as src/**")
    found = cast(list[object], patterns)
    if len(found) > MAX_PATTERNS:
        raise BadFiles((key,), f"has {len(found)} patterns, at most {MAX_PATTERNS}")
    for place, problem in _pattern_problems(found):
        raise BadFiles((key, place), problem)
    return tuple(cast(list[str], found))


def _pattern_problems(patterns: list[object]) -> Iterator[tuple[int, str]]:
    for place, pattern in enumerate(patterns):
        if not isinstance(pattern, str) or not pattern:
            yield place, "must be a path or a pattern such as src/**"
        elif len(pattern) > MAX_PATTERN_LENGTH:
            yield place, f"is longer than {MAX_PATTERN_LENGTH} characters"
        elif problem := path_problem(pattern.removesuffix("/")):
            yield place, problem
        elif any("**" in part and part != "**" for part in pattern.split("/")):
            yield place, "has '**' beside other characters: write it as a part of its own (src/**)"


def read_seconds(value: Mapping[str, Any], key: str, default: float) -> float:
    """A number of seconds."""
    seconds = value.get(key, default)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise BadFiles((key,), "must be a number of seconds")
    if not 0 < seconds <= MAX_SECONDS:
        raise BadFiles((key,), f"must be more than 0 and at most {MAX_SECONDS:g} seconds")
    return float(seconds)


def files_in(folder: Path) -> dict[str, File]:
    """The files of a folder of the test's author; `BadFiles` for anything but plain files."""
    limits = TreeLimits(max_bytes=MAX_FILES_BYTES, max_file_bytes=MAX_FILES_BYTES)
    found = gather(folder, {}, EVERYTHING, limits)
    if found.problems:
        raise BadFiles((), found.problems[0].removeprefix("refused: "))
    if len(found.files) > MAX_FILES:
        raise BadFiles((), f"the folder has {len(found.files):,} files, at most {MAX_FILES:,}")
    return found.files
