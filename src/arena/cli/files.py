"""Files named by the user: read with a size limit, written atomically."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from arena.content.canonical import read_json
from arena.content.cid import parse_cid
from arena.content.errors import NotCanonical
from arena.errors import InvalidInput
from arena.files import write_atomically

MAX_TASK_STANDARD_BYTES = 1024**2


def read_file(name: str, *, max_bytes: int) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(max_bytes + 1)
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}") from None
    if len(data) > max_bytes:
        raise InvalidInput(f"{name} is too large: at most {max_bytes} bytes are read")
    return data


def read_text_file(name: str, *, max_bytes: int) -> str:
    """The text of a file, or of standard input for `-`."""
    try:
        return read_file(name, max_bytes=max_bytes).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {error.start})") from None


def language_of(name: str | None) -> str | None:
    """The language that the ending of a file's name stands for; None for standard input."""
    # Imported here: only commands that submit code need it.
    from arena.sandbox.languages import language_of_file

    return None if name is None else language_of_file(name)


def read_json_file(name: str, *, max_bytes: int) -> Any:
    """The value of a JSON file, parsed as strictly as content: no duplicate keys, no NaN, no inf.

    So a standard means the same in a file, in a batch and by its CID.
    """
    text = read_text_file(name, max_bytes=max_bytes)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}"
        raise InvalidInput(message) from None
    except (ValueError, RecursionError):
        pass  # the strict parser below reports it
    try:
        return read_json(text.encode())
    except NotCanonical as error:
        raise InvalidInput(f"{name}: {error.message}") from None


def standard_named(name: str, *, max_bytes: int) -> dict[str, Any] | str:
    """The standard in a JSON file; the name itself if it is a CID and not a file."""
    if name != "-" and not Path(name).exists():
        try:
            return str(parse_cid(name))
        except InvalidInput:
            pass  # a missing file: reading it reports that
    document = read_json_file(name, max_bytes=max_bytes)
    if not isinstance(document, dict):
        raise InvalidInput(f"{name} is not a standard: it must be a JSON object with a 'type'")
    return cast(dict[str, Any], document)


def evaluation_of(name: str) -> dict[str, Any]:
    """The standard as a field of a task: the document, or its CID."""
    standard = standard_named(name, max_bytes=MAX_TASK_STANDARD_BYTES)
    return {"evaluation_cid" if isinstance(standard, str) else "evaluation": standard}


def write_file(path: Path, data: bytes) -> None:
    """Write a file atomically; an existing one is replaced."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None


def create_file(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write a new file; an error if it already exists."""
    try:
        write_atomically(path, data, mode=mode, overwrite=False)
    except FileExistsError:
        raise InvalidInput(f"{path} exists and is not overwritten") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
