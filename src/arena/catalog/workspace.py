"""The files of a test: reads the folders that `workspace` and `verify` name into the test itself.

So a test is complete in one value: it can be frozen with a run, sent and judged anywhere.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from arena.catalog.looks import look_of
from arena.documents.problem import KeyPath
from arena.documents.validation import Fault
from arena.workspaces.collected import File
from arena.workspaces.description import (
    MAX_FILES_BYTES,
    BadFiles,
    files_in,
    read_workspace,
    write_files,
)

VERIFY = "verify"


class Inlined:
    """The body of a test with its folders read; the faults say where in the file they are."""

    def __init__(self, body: Mapping[str, Any], folder: Path) -> None:
        self.faults: list[Fault] = []
        self.folders: dict[Path, str] = {}
        """The folders that were read, and what they looked like."""
        self.digest = ""
        """Of the files that were read; empty if there were none."""
        self._folder = folder
        self._bytes = 0
        self.body = cast(dict[str, Any], self._with_folders(dict(body), ()))
        if "workspace" in self.body:
            self._check_workspace()
        elif verify := next(_verifications(self.body, ()), None):
            message = "verify judges the files of a workspace: add the key 'workspace'"
            self.faults.append(Fault(path=verify, message=message))

    def _with_folders(self, value: Any, at: KeyPath) -> Any:
        """The value with every folder of files replaced by its files; changes nothing in place."""
        if isinstance(value, list):
            items = cast(list[Any], value)
            return [self._with_folders(one, (*at, place)) for place, one in enumerate(items)]
        if not isinstance(value, dict):
            return value
        keys = cast(dict[str, Any], value)
        result = {
            key: self._with_folders(one, (*at, key)) if key != "files" else one
            for key, one in keys.items()
        }
        if at in (("workspace",), ("solution",)):
            result = self._read(result, "files", (*at, "files"))
        elif keys.get("type") == VERIFY:
            result = self._read(result, "hidden", (*at, "hidden"))
        elif keys.get("validation") == VERIFY and isinstance(result.get("expected"), dict):
            inner = cast(dict[str, Any], result["expected"])
            result["expected"] = self._read(inner, "hidden", (*at, "expected", "hidden"))
        return result

    def _read(self, keys: dict[str, Any], key: str, at: KeyPath) -> dict[str, Any]:
        """The mapping with the folder at `key` replaced by its files."""
        name = keys.get(key)
        if not isinstance(name, str):
            return keys
        try:
            files = self._files(name)
        except BadFiles as error:
            self.faults.append(Fault(path=at, message=error.message))
            return {**keys, key: {}}
        written = write_files(files)
        text = self.digest + json.dumps(written, sort_keys=True)
        self.digest = hashlib.sha256(text.encode()).hexdigest()
        return {**keys, key: written}

    def _files(self, name: str) -> dict[str, File]:
        if not name.strip() or "\0" in name or Path(name).is_absolute():
            raise BadFiles((), "must be a folder beside the test file, or a mapping of files")
        folder = self._folder / name
        if not folder.is_dir():
            raise BadFiles((), f"there is no folder {name!r} beside the test file")
        self.folders[folder] = look_of(folder)
        try:
            files = files_in(folder)
        except OSError as error:
            raise BadFiles((), f"the folder {name!r} cannot be read: {error.strerror}") from None
        self._bytes += sum(len(file.content) for file in files.values())
        if self._bytes > MAX_FILES_BYTES:
            limit = f"{MAX_FILES_BYTES:,} bytes"
            raise BadFiles((), f"the files of the test are too large: at most {limit} in all")
        return files

    def _check_workspace(self) -> None:
        given = self.body["workspace"]
        if not isinstance(given, dict):
            message = "must be a mapping with files, setup and collect"
            self.faults.append(Fault(path=("workspace",), message=message))
            return
        try:
            read_workspace(cast(dict[str, Any], given))
        except BadFiles as error:
            path = ("workspace", *error.path)
            of_key = error.message.startswith("unknown key")
            self.faults.append(Fault(path=path, message=error.message, of_key=of_key))


def _verifications(value: Any, at: KeyPath) -> Iterator[KeyPath]:
    """The places of every `verify` in a test."""
    if isinstance(value, list):
        for place, one in enumerate(cast(list[Any], value)):
            yield from _verifications(one, (*at, place))
    elif isinstance(value, dict):
        keys = cast(dict[str, Any], value)
        for key in ("validation", "type"):
            if keys.get(key) == VERIFY:
                yield (*at, key)
        for key in ("expected", "all_of", "any_of", "standard", "expect", "turns"):
            yield from _verifications(keys.get(key), (*at, key))
