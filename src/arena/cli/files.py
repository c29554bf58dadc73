"""Files that the user names: read with a limit, written whole or not at all."""

import json
import sys
from pathlib import Path
from typing import Any

from arena.content.canonical import read_json
from arena.content.errors import NotCanonical
from arena.errors import InvalidInput
from arena.files import write_atomically


def read_file(name: str, *, max_bytes: int) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(max_bytes + 1)
    except OSError as wrong:
        raise InvalidInput(f"{name} cannot be read: {wrong.strerror}") from None
    if len(data) > max_bytes:
        raise InvalidInput(f"{name} is too large: at most {max_bytes} bytes are read")
    return data


def read_text_file(name: str, *, max_bytes: int) -> str:
    """The text of a file, or of standard input for `-`."""
    try:
        return read_file(name, max_bytes=max_bytes).decode()
    except UnicodeDecodeError as wrong:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {wrong.start})") from None


def read_json_file(name: str, *, max_bytes: int) -> Any:
    """The value of a JSON file, read as strictly as content is: no key twice, no NaN, no inf.

    So a standard is the same in a file, in a batch and by its CID.
    """
    text = read_text_file(name, max_bytes=max_bytes)
    try:
        json.loads(text)
    except json.JSONDecodeError as wrong:
        told = f"{name}:{wrong.lineno}:{wrong.colno}: not JSON: {wrong.msg}"
        raise InvalidInput(told) from None
    except (ValueError, RecursionError):
        pass  # the strict reader says it in its own words
    try:
        return read_json(text.encode())
    except NotCanonical as wrong:
        raise InvalidInput(f"{name}: {wrong.message}") from None


def write_file(path: Path, data: bytes) -> None:
    """Put a whole file at `path`; what was there is replaced only then."""
    try:
        write_atomically(path, data)
    except OSError as wrong:
        raise InvalidInput(f"{path} cannot be written: {wrong.strerror}") from None


def create_file(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Put a new file at `path`; one that is there stays as it is, and that is an error."""
    try:
        write_atomically(path, data, mode=mode, overwrite=False)
    except FileExistsError:
        raise InvalidInput(f"{path} is there already and is not overwritten") from None
    except OSError as wrong:
        raise InvalidInput(f"{path} cannot be written: {wrong.strerror}") from None
