"""The languages of programs: a table, which a file can extend."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from arena.errors import InvalidInput, NotFound

FUNCTION_LANGUAGES = ("python", "javascript")
BUILTIN = Path(__file__).with_name("languages.toml")
REQUIRED = {"file", "run"}
LISTS = {"needs", "aliases"}
KEYS = REQUIRED | LISTS | {"compile", "package"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How a program in one language is compiled and run."""

    name: str
    file: str
    """The name of the source file in the sandbox."""
    run: str
    compile: str | None = None
    needs: tuple[str, ...] = ()
    """Programs that must be installed."""
    package: str = ""
    """The package that provides them."""
    aliases: tuple[str, ...] = ()
    """Other names for the language, in fences and in standards."""


@cache
def languages() -> dict[str, Language]:
    """Every known language by name; `add_languages` changes it."""
    return read_languages(BUILTIN)


def add_languages(path: Path) -> None:
    """Add the languages of a TOML file, or replace known ones, for this whole process."""
    languages().update(read_languages(path))


def language_named(name: str) -> Language:
    """The language called `name`; NotFound with the nearest one."""
    if name not in languages():
        raise NotFound.among("language", name, languages())
    return languages()[name]


def normal_language(name: str) -> str:
    """One name per language: 'js' and 'node' are 'javascript', 'python3.11' is 'python'."""
    lowered = name.strip().lower()
    names = {alias: one.name for one in languages().values() for alias in (one.name, *one.aliases)}
    # A version is cut off only after a known name: 'cobol85' is one word.
    return names.get(lowered) or names.get(lowered.rstrip("0123456789.-"), lowered)


def language_of_file(name: str) -> str | None:
    """The language that the ending of a file's name stands for: 'main.go' is 'go'."""
    ending = Path(name).suffix.removeprefix(".").lower()
    for one in languages().values():
        if ending and ending in (Path(one.file).suffix.removeprefix("."), *one.aliases):
            return one.name
    return None


def check_language(name: str) -> str:
    """The language's canonical name; InvalidInput with the nearest known one."""
    try:
        return language_named(normal_language(name)).name
    except NotFound as error:
        raise InvalidInput(error.message) from None


def read_languages(path: Path) -> dict[str, Language]:
    """The table in a TOML file; InvalidInput if it has a mistake."""
    try:
        document = tomllib.loads(path.read_text())
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"{path}: not a TOML file: {error}") from error
    return {name: _language(name, entry, path) for name, entry in document.items()}


def _language(name: str, entry: object, path: Path) -> Language:
    where = f"{path}: [{name}]"
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where} must be a table")
    fields = cast("Mapping[str, object]", entry)
    if unknown := fields.keys() - KEYS:
        raise InvalidInput(f"{where}: unknown {sorted(unknown)}; the keys are {sorted(KEYS)}")
    if missing := REQUIRED - fields.keys():
        raise InvalidInput(f"{where}: missing {sorted(missing)}")
    values: dict[str, str | tuple[str, ...]] = {}
    for key, value in fields.items():
        if key in LISTS and _is_list_of_text(value):
            values[key] = tuple(cast("list[str]", value))
        elif key not in LISTS and isinstance(value, str):
            values[key] = value
        else:
            raise InvalidInput(f"{where}: {key} is {'a list of text' if key in LISTS else 'text'}")
    return Language(name=name, **values)  # pyright: ignore[reportArgumentType]


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[object]", value)
    )
