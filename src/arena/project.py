"""Projects: the nearest `arena.toml` with a table `[project]`, from the current folder upwards.

A project has a name, a folder for its data, and tests and agents of its own. Outside of projects,
data are in the nearest `.arena` folder, else in the user's data folder. A project and a `.arena`
folder both name programs to execute, so those of another user are not used: anybody may create a
file in /tmp.
"""

import contextlib
import functools
import logging
import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import platformdirs

from arena.errors import InvalidInput, nearest
from arena.fields import MAX_NAME_LENGTH

log = logging.getLogger(__name__)

FILE_NAME = "arena.toml"
HOME_NAME = ".arena"
TABLE = "project"
KEYS = ("name", "data", "tests", "agents", "builtin")
MAX_FILE_BYTES = 1024**2
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
OWN_SUITE = "custom"
"""The suite of the user's own tests where there is no project to name it."""
OTHER_SUITES = ("lab", "legacy")
"""Suites that no project may be called after: the bundled tests, and runs of 0.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project, as its file describes it; all paths are absolute."""

    name: str
    """Also the suite of its tests, unless they name another."""
    file: Path
    data: Path
    """The home of commands in this project."""
    tests: tuple[Path, ...]
    agents: tuple[Path, ...]
    builtin: bool
    """Whether the bundled tests and agents are included."""

    @property
    def root(self) -> Path:
        """The folder of the project's file."""
        return self.file.parent


def find_project_file(folder: Path) -> Path | None:
    """The file of the project that a folder is in; a `.arena` folder nearer than it means none."""
    for parent in (folder, *folder.parents):
        file = parent / FILE_NAME
        if _is_file(file):
            is_own = _is_own(file)
            if _has_project(file, is_own=is_own):
                if is_own:
                    return file
                _warn_of_foreign(file, "ARENA_PROJECT")
        if _is_home(parent / HOME_NAME):
            return None
    return None


def named_project_file(name: str) -> Path:
    """The project file that the user names, or names the folder of; anybody may own it."""
    path = Path(name).expanduser().absolute()
    file = path / FILE_NAME if path.is_dir() else path
    if not _is_file(file):
        raise InvalidInput(f"ARENA_PROJECT: there is no file {file}")
    return file


def find_home(folder: Path) -> Path:
    """The `.arena` of a folder or of the nearest one above it, else the user's data folder."""
    for parent in (folder, *folder.parents):
        home = parent / HOME_NAME
        if _is_home(home):
            return home
    return Path(platformdirs.user_data_path("arena"))


def refuse_foreign_data(project: Project) -> None:
    """Refuse the data of another user: the agents in that folder would be executed."""
    if project.data.exists() and not _is_own(project.data):
        raise InvalidInput(
            f"{project.data} belongs to another user, so the project's data cannot be there; "
            f"ARENA_HOME={project.data} uses it nevertheless"
        )


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a settings file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise InvalidInput(f"{shown(path)} is too large: at most {MAX_FILE_BYTES} bytes")
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{shown(path)}: {error}") from None
    except RecursionError:
        raise InvalidInput(f"{shown(path)}: nested too deeply") from None
    except OSError as error:
        raise InvalidInput(f"{shown(path)} cannot be read: {error.strerror}") from None


def read_project(file: Path, table: object) -> Project:
    """The project that the table `[project]` of a file describes."""
    if not isinstance(table, dict):
        raise InvalidInput(f"{shown(file)}: project must be a table: [project]")
    reading = _Table(file, cast(dict[str, object], table))
    return Project(
        name=reading.name(),
        file=file,
        data=reading.data(),
        tests=reading.folders("tests"),
        agents=reading.folders("agents"),
        builtin=reading.builtin(),
    )


def name_problem(name: str) -> str | None:
    """Why a project cannot have this name; None if it can."""
    if len(name) > MAX_NAME_LENGTH:
        return f"the name of a project has at most {MAX_NAME_LENGTH} characters, not {len(name)}"
    if not NAME.fullmatch(name):
        return (
            f"a project cannot be called {name!r}: its name must consist of letters, digits, '_', "
            "'.' and '-', and begin with a letter or a digit"
        )
    if name in OTHER_SUITES:
        return f"a project cannot be called {name!r}, which is a suite of Arena"
    return None


def shown(path: Path) -> str:
    """A path for a message: relative if it is in the current folder."""
    # The current folder may have been deleted.
    with contextlib.suppress(OSError, ValueError):
        return str(path.relative_to(Path.cwd()))
    return str(path)


class _Table:
    """Checks the values of a `[project]` table."""

    def __init__(self, file: Path, values: dict[str, object]) -> None:
        self._file = file
        self._values = values
        for key in values:
            if key not in KEYS:
                raise InvalidInput(
                    f"{shown(file)}: {key} is not a key of [project]{nearest(key, KEYS)}"
                )

    def name(self) -> str:
        name = self._values.get("name")
        if name is None:
            raise InvalidInput(
                f"{shown(self._file)}: [project] needs a name, like: "
                f'name = "{default_name(self._file.parent) or "my-project"}"'
            )
        if not isinstance(name, str):
            raise self._error("name", "must be a text")
        if problem := name_problem(name):
            raise InvalidInput(f"{shown(self._file)}: {problem}")
        return name

    def data(self) -> Path:
        return self._path("data", self._values.get("data", HOME_NAME))

    def builtin(self) -> bool:
        value = self._values.get("builtin", True)
        if not isinstance(value, bool):
            raise self._error("builtin", "must be true or false")
        return value

    def folders(self, key: str) -> tuple[Path, ...]:
        """The folders or files of a key. The default one may be missing, named ones must exist."""
        if key not in self._values:
            return (self._file.parent / key,)
        names = self._values[key]
        if not isinstance(names, list):
            raise self._error(key, f'must be a list of folders or files, like ["{key}"]')
        paths = tuple(self._path(key, name) for name in cast(list[object], names))
        for path in paths:
            if not path.exists():
                raise self._error(key, f"there is no file or folder {path}")
        return tuple(dict.fromkeys(paths))

    def _path(self, key: str, name: object) -> Path:
        if not isinstance(name, str) or not name or "\0" in name:
            raise self._error(key, "must name a file or folder")
        return self._file.parent / Path(name).expanduser()

    def _error(self, key: str, message: str) -> InvalidInput:
        return InvalidInput(f"{shown(self._file)}: {key} of [project]: {message}")


def default_name(folder: Path) -> str | None:
    """A name for a project in this folder; None if the folder's name cannot be made into one."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.name).strip("-._")[:MAX_NAME_LENGTH]
    return None if name_problem(name) else name


def _has_project(file: Path, *, is_own: bool) -> bool:
    try:
        return TABLE in read_toml(file)
    except InvalidInput:
        # Without its own file, a project's commands would silently use other data.
        if is_own:
            raise
        return False


def _is_home(folder: Path) -> bool:
    try:
        if not folder.is_dir():
            return False
    except OSError:
        return False
    if _is_own(folder):
        return True
    _warn_of_foreign(folder, "ARENA_HOME")
    return False


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _is_own(path: Path) -> bool:
    try:
        # Also the link itself: its owner chooses what it points to.
        return {path.lstat().st_uid, path.stat().st_uid} == {os.geteuid()}
    except OSError:
        return False


@functools.cache  # settings may be read more than once
def _warn_of_foreign(path: Path, variable: str) -> None:
    log.warning("%s is not used: it belongs to another user; %s=%s uses it", path, variable, path)
