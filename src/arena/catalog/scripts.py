"""Puts the script of a grader into its test, where the test names a file.

So a frozen test is complete: a run, a record and another machine need no file beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from arena.documents.problem import KeyPath
from arena.documents.validation import Fault, type_name
from arena.evaluation.grader import GRADERS, MAX_SCRIPT_CHARACTERS

FILE, SCRIPT = "file", "script"
COMPOSITES = ("all_of", "any_of")


@dataclass(kw_only=True)
class Scripts:
    """Reads the scripts that the tests of one file name."""

    folder: Path
    """Of the test file: paths are relative to it."""
    faults: list[Fault] = field(default_factory=list[Fault])
    files: dict[Path, bytes] = field(default_factory=dict[Path, bytes])
    """What was read, so that a change of it is a change of the tests."""

    def inlined(self, test: dict[str, Any]) -> dict[str, Any]:
        """The test with every script in place of its file."""
        body = self._standard(test, ())
        turns = body.get("turns")
        if isinstance(turns, list):
            listed = enumerate(cast(list[object], turns))
            body = {**body, "turns": [self._turn(n, one) for n, one in listed]}
        return body

    def _turn(self, place: int, turn: object) -> object:
        if not isinstance(turn, Mapping) or "expect" not in turn:
            return cast(object, turn)
        body = cast(Mapping[str, object], turn)
        return {**body, "expect": self._any(body["expect"], ("turns", place, "expect"))}

    def _any(self, value: object, at: KeyPath) -> object:
        return self._standard(cast(dict[str, Any], value), at) if isinstance(value, dict) else value

    def _standard(self, body: dict[str, Any], at: KeyPath) -> dict[str, Any]:
        """A standard in either of its forms: with a type, or with validation and expected."""
        if "type" in body and "expected" not in body:
            return self._body(str(body["type"]), body, at)
        expected = body.get("expected")
        if not isinstance(expected, dict):
            return body
        inner = cast(dict[str, Any], expected)
        kind = str(body.get("validation", ""))
        found = self._body(kind, inner, (*at, "expected"))
        return body if found is inner else {**body, "expected": found}

    def _body(self, kind: str, body: dict[str, Any], at: KeyPath) -> dict[str, Any]:
        if kind in GRADERS and FILE in body:
            return self._with_script(body, at)
        if kind == "reply" and "standard" in body:
            return {**body, "standard": self._any(body["standard"], (*at, "standard"))}
        members = body.get(kind) if kind in COMPOSITES else None
        if not isinstance(members, list):
            return body
        parts = enumerate(cast(list[object], members))
        return {**body, kind: [self._any(one, (*at, kind, n)) for n, one in parts]}

    def _with_script(self, body: dict[str, Any], at: KeyPath) -> dict[str, Any]:
        rest = {key: value for key, value in body.items() if key != FILE}
        problem: str | None = None
        if SCRIPT in body:
            problem = "give either a script or the file of one"
        elif not isinstance(body[FILE], str):
            problem = f"must be the path of a script, is {type_name(body[FILE])}"
        else:
            text = self._read(body[FILE])
            if isinstance(text, str):
                return {**rest, SCRIPT: text}
            problem = str(text)
        self.faults.append(Fault(path=(*at, FILE), message=problem))
        # Something to read, so that the missing script is not reported too.
        return {**rest, SCRIPT: body.get(SCRIPT, FILE)}

    def _read(self, name: str) -> str | Exception:
        path = self.folder / name
        if Path(name).is_absolute():
            return ValueError("must be relative to the test file")
        try:
            with path.open("rb") as file:
                data = file.read(MAX_SCRIPT_CHARACTERS + 1)
            text = data.decode()
        except OSError as error:
            return ValueError(f"cannot be read: {error.strerror}")
        except UnicodeDecodeError:
            return ValueError("is not text in UTF-8")
        if len(data) > MAX_SCRIPT_CHARACTERS:
            return ValueError(f"is larger than {MAX_SCRIPT_CHARACTERS:,} bytes")
        self.files[path] = data
        return text
