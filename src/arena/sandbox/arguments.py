"""Arguments of a sandbox's calls, checked once for every provider before anything is sent."""

import re

from arena.errors import InvalidInput
from arena.sandbox.errors import InvalidPath, LimitReached
from arena.sandbox.limits import Limits
from arena.text import text_problem, utf8

MAX_SECONDS = 86_400.0
MAX_COMMAND_BYTES = 100_000
MAX_PART_BYTES = 255
MAX_PATH_BYTES = 1024
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{0,127}", re.ASCII)


def checked_seconds(timeout: float | None, default: float) -> float:
    """`timeout`, or the default for None; InvalidInput if it is out of range."""
    seconds = default if timeout is None else timeout
    # Written so that NaN fails too.
    if not 0 < seconds <= MAX_SECONDS:
        raise InvalidInput(
            f"timeout is {seconds} seconds; it must be more than 0 and at most {MAX_SECONDS:.0f}"
        )
    return seconds


def checked_command(command: str) -> str:
    """`command`; InvalidInput if it cannot be passed to a shell."""
    if len(utf8(command, "the command")) > MAX_COMMAND_BYTES or "\0" in command:
        raise InvalidInput(
            f"a command is at most {MAX_COMMAND_BYTES} bytes, without NUL; write a file and run it"
        )
    return command


def checked_name(name: str) -> str:
    """`name`; InvalidInput if it cannot be the name of a function."""
    if IDENTIFIER.fullmatch(name) is None:
        raise InvalidInput(f"function name {name!r} is not a name: letters, digits, _ and $")
    return name


def checked_content(path: str, content: str | bytes, limits: Limits) -> bytes:
    """`content` as the bytes of a file that is not too large."""
    data = utf8(content, "the content of a file") if isinstance(content, str) else content
    if len(data) > limits.workspace_file_bytes:
        raise LimitReached(
            f"{path!r} has {len(data)} bytes, the limit is {limits.workspace_file_bytes}",
            limit="file_size",
        )
    return data


def checked_path(path: str) -> str:
    """`path`; InvalidPath with the reason if it is not a plain relative path."""
    problem = _problem(path)
    if problem is not None:
        short = path if len(path) <= 80 else f"{path[:80]}…"
        raise InvalidPath(f"{short!r} is not a path in a sandbox: {problem}")
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
