"""Names of files in a sandbox: what is one, decided before anything is opened."""

from arena.sandbox.errors import InvalidPath
from arena.text import text_problem

MAX_PART_BYTES = 255
MAX_PATH_BYTES = 1024


def checked(path: str) -> str:
    """`path` as a plain relative path, or InvalidPath with the reason."""
    problem = _problem(path)
    if problem is not None:
        shown = path if len(path) <= 80 else f"{path[:80]}…"
        raise InvalidPath(f"{shown!r} is not a path in a sandbox: {problem}")
    return path


def _problem(path: str) -> str | None:
    if path.startswith("/"):
        return "it must be relative to the working folder"
    if problem := text_problem(path):
        return f"it {problem}"
    if "\n" in path:
        return "it contains a line break"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "a part of it is empty, '.' or '..'"
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        return f"a part of it is longer than {MAX_PART_BYTES} bytes"
    return None
