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


def read_json_file(name: str, *, max_bytes: int) -> Any:
    """The value of a JSON file, read as strictly as content is: no key twice, no NaN, no inf.

    So a standard is the same in a file, in a batch and by its CID.
    """
    text = read_text_file(name, max_bytes=max_bytes)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}"
        raise InvalidInput(message) from None
    except (ValueError, RecursionError):
        pass  # the strict reader below reports it
    try:
        return read_json(text.encode())
    except NotCanonical as error:
        raise InvalidInput(f"{name}: {error.message}") from None


def write_file(path: Path, data: bytes) -> None:
    """Put a whole file at `path`; what was there is replaced only then."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None


def create_file(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Put a new file at `path`; an existing file is an error and stays as it is."""
    try:
        write_atomically(path, data, mode=mode, overwrite=False)
    except FileExistsError:
        raise InvalidInput(f"{path} exists and is not overwritten") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from None
