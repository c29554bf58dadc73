"""Puts the files that a test names into the test itself: folders, scripts, cassettes.

So a test is complete in one value: it can be frozen with a run, sent and judged anywhere.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, cast

from arena.catalog.looks import look_of
from arena.catalog.scripts import Scripts
from arena.catalog.tool_reading import cassettes_of, read_tools
from arena.documents.validation import Fault

MAY_VERIFY = ("verify", "all_of", "any_of", "reply")
"""Validations that can judge files: for the others nobody has to look."""


class Inlining:
    """The body of a test with its files in it; the faults say where in the file they are."""

    def __init__(self, body: dict[str, Any], folder: Path) -> None:
        self.faults: list[Fault] = []
        self.looks: dict[Path, str] = {}
        """The files and folders that were read, and what they looked like."""
        self._folder = folder
        self._contents: list[bytes] = []
        self.body = self._with_tools(self._with_scripts(self._with_folders(body)))

    @property
    def digest(self) -> bytes:
        """Of everything that was read; empty if nothing was."""
        return b"".join(hashlib.sha256(one).digest() for one in self._contents)

    def _with_folders(self, body: dict[str, Any]) -> dict[str, Any]:
        has_keys = "workspace" in body or "turns" in body
        if not has_keys and body.get("validation") not in MAY_VERIFY:
            return body
        # Imported here: few tests have files.
        from arena.catalog.workspace import Inlined

        inlined = Inlined(body, self._folder)
        self.faults += inlined.faults
        self.looks |= inlined.folders
        if inlined.digest:
            self._contents.append(inlined.digest.encode())
        return inlined.body

    def _with_scripts(self, body: dict[str, Any]) -> dict[str, Any]:
        scripts = Scripts(folder=self._folder)
        inlined = scripts.inlined(body)
        self.faults += scripts.faults
        self.looks |= {path: look_of(path) for path in scripts.files}
        self._contents += scripts.files.values()
        return inlined

    def _with_tools(self, body: dict[str, Any]) -> dict[str, Any]:
        tools = body.get("tools")
        if not isinstance(tools, list):
            return body
        listed = cast(list[object], tools)
        # Before they are read: a change while they are read must be noticed.
        cassettes = {path: look_of(path) for path in cassettes_of(listed, self._folder)}
        faults: list[Fault] = []
        kept = read_tools(listed, self._folder, faults)
        self.faults += faults
        if cassettes:
            self.looks |= cassettes
            self._contents.append(json.dumps(kept).encode())
        return body if faults or len(kept) < len(listed) else {**body, "tools": list(kept)}
