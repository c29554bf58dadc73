"""The table of languages that programs may be written in; a file can extend it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast

from arena.errors import InvalidInput, NotFound

KEYS = {"file", "compile", "run", "needs", "package"}
REQUIRED = {"file", "run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a program in one language is compiled and run."""

    name: str
    file: str
    """What the source is called in the sandbox."""
    run: str
    compile: str | None = None
    needs: tuple[str, ...] = ()
    """Programs that must be there."""
    package: str = ""
    """What to install where they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Languages:
    """Languages by name."""

    table: Mapping[str, Language]

    @classmethod
    def builtin(cls) -> "Languages":
        """The table that comes with Arena."""
        return _builtin()

    def extended(self, path: Path) -> "Languages":
        """The same table with the entries of the TOML file at `path` added or replaced."""
        try:
            document = tomllib.loads(path.read_text())
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(f"{path}: not a TOML file: {error}") from error
        return Languages(table={**self.table, **_read(document, str(path))})

    def named(self, name: str) -> Language:
        """The language called `name`, or NotFound with the nearest one."""
        if name not in self.table:
            raise NotFound.among("language", name, self.table)
        return self.table[name]


@cache
def _builtin() -> Languages:
    text = (resources.files("arena.sandbox") / "languages.toml").read_text()
    return Languages(table=_read(tomllib.loads(text), "languages.toml"))


def _read(document: Mapping[str, object], where: str) -> dict[str, Language]:
    return {name: _language(name, entry, where) for name, entry in document.items()}


def _language(name: str, entry: object, where: str) -> Language:
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where}: [{name}] must be a table")
    fields = cast("dict[str, object]", entry)
    unknown, missing = fields.keys() - KEYS, REQUIRED - fields.keys()
    if unknown or missing:
        what = f"unknown {sorted(unknown)}" if unknown else f"missing {sorted(missing)}"
        raise InvalidInput(f"{where}: [{name}]: {what}; the keys are {sorted(KEYS)}")
    needs = fields.get("needs", [])
    texts = [value for key, value in fields.items() if key != "needs"]
    if not isinstance(needs, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidInput(f"{where}: [{name}]: needs is a list, everything else is text")
    return Language(
        name=name,
        file=str(fields["file"]),
        run=str(fields["run"]),
        compile=str(fields["compile"]) if "compile" in fields else None,
        needs=tuple(map(str, cast("list[object]", needs))),
        package=str(fields.get("package", "")),
    )
