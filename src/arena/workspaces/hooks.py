"""Files that tools load or obey without being told to, and what is done with planted ones.

An agent that may not change a test can still leave a file beside it that changes how tests run.
Such a file counts only if the test gave it (then as it was given) or names it in `collect`.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from arena.workspaces.collected import File
from arena.workspaces.names import is_literal, matches_any, same_name, shown

PYTHON = (
    "**/conftest.py",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/*.pth",
    "**/*.egg-link",
    "**/*.pyc",
    "**/*.pyo",
    "**/__pycache__/**",
    "**/*.dist-info/**",
    "**/*.egg-info/**",
    "**/*.egg",
    "**/site-packages/**",
    "**/.venv/**",
    "**/venv/**",
    "**/pyvenv.cfg",
    "**/.local/**",
    "**/pytest.ini",
    "**/.pytest.ini",
    "**/pytest.toml",
    "**/.pytest.toml",
    "**/tox.ini",
    "**/setup.cfg",
    "**/setup.py",
    "**/pyproject.toml",
    "**/.coveragerc",
    "**/noxfile.py",
    "**/unittest.cfg",
    "**/.pdbrc",
)
NODE = (
    "**/package.json",
    "**/node_modules/**",
    "**/__mocks__/**",
    "**/jest.config.*",
    "**/vitest.config.*",
    "**/vitest.workspace.*",
    "**/vite.config.*",
    "**/babel.config.*",
    "**/.babelrc*",
    "**/.mocharc*",
    "**/karma.conf.*",
    "**/playwright.config.*",
    "**/cypress.config.*",
    "**/tsconfig*.json",
    "**/.npmrc",
    "**/.yarnrc*",
    "**/.pnp.*",
)
OTHERS = (
    "**/Makefile",
    "**/GNUmakefile",
    "**/*.mk",
    "**/justfile",
    "**/Rakefile",
    "**/.rspec",
    "**/CMakeLists.txt",
    "**/phpunit.xml*",
    "**/build.gradle*",
    "**/settings.gradle*",
    "**/pom.xml",
    "**/junit-platform.properties",
    "**/META-INF/services/**",
    "**/build.rs",
    "**/.cargo/**",
    "**/*_test.go",
    "**/go.mod",
    "**/go.work",
)
SYSTEM = (
    "**/.git",
    "**/.git/**",
    "**/.gitconfig",
    "**/.gitattributes",
    "**/.gitmodules",
    "**/*.so",
    "**/*.so.*",
    "**/*.pyd",
    "**/*.dylib",
    "**/.bashrc",
    "**/.bash_profile",
    "**/.profile",
    "**/.envrc",
    "**/ld.so.preload",
)
HOOKS = tuple(pattern.casefold() for pattern in (*PYTHON, *NODE, *OTHERS, *SYSTEM))
"""In the case of `same_name`: a tool on another system may not tell the case apart."""
BYPRODUCTS = (
    "**/__pycache__/**",
    "**/*.pyc",
    "**/.pytest_cache/**",
    "**/.mypy_cache/**",
    "**/.ruff_cache/**",
    "**/.hypothesis/**",
    "**/.coverage",
)
"""What tools write by themselves, for instance when an agent runs the tests."""
RUNNERS = frozenset(
    {"pytest", "_pytest", "pluggy", "iniconfig", "py", "nose", "nose2", "hypothesis"}
)
"""Test runners, and what they import."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """Files without planted hooks, and what was done to get there."""

    files: Mapping[str, File]
    problems: tuple[str, ...]


def guarded(
    found: Mapping[str, File],
    before: Mapping[str, File],
    collect: Sequence[str],
    used: Collection[str] = (),
) -> Guarded:
    """The files with every hook as it was given: planted ones left out, changed ones restored.

    `used` are given files that the verification runs by name. Whatever `collect` names literally
    is left as it is.
    """
    allowed = {pattern for pattern in collect if is_literal(pattern)}
    given = {same_name(path): path for path in before}
    files = dict(found)
    problems: list[str] = []
    for path in sorted(found.keys() - allowed):
        file, original = found[path], before.get(path)
        if file == original:
            continue
        if original is not None:
            if is_hook(path) or path in used:
                files[path] = original
                problems.append(f"restored: {shown(path)} {_why(path, used)}")
        elif is_hook(path) or _is_shadow(path, found):
            del files[path]
            problems.append(f"left out: {shown(path)} {_why(path, ())}")
        elif same_name(path) in given:
            del files[path]
            other = shown(given[same_name(path)])
            problems.append(f"left out: {shown(path)} differs from {other} only in its spelling")
    for path in sorted(before.keys() - found.keys() - allowed):
        if (is_hook(path) or path in used) and matches_any(path, collect):
            files[path] = before[path]
            problems.append(f"restored: {shown(path)}, which was deleted, {_why(path, used)}")
    return Guarded(files=files, problems=tuple(problems))


def is_hook(path: str) -> bool:
    """Whether tools load or obey a file of this name without being told to."""
    return matches_any(same_name(path), HOOKS)


def is_byproduct(path: str) -> bool:
    """Whether tools write a file of this name by themselves: it is no work of the agent."""
    return matches_any(path, BYPRODUCTS)


def _why(path: str, used: Collection[str]) -> str:
    reason = "is run by the verification" if path in used else "can change how tests run"
    return f"{reason}; name it in collect to keep it"


def _is_shadow(path: str, found: Mapping[str, File]) -> bool:
    """Whether a new Python module would be imported instead of a standard one or a test runner."""
    folder, _, name = path.rpartition("/")
    if name == "__init__.py":
        folder, _, module = folder.rpartition("/")
    elif name.endswith(".py"):
        module = name.removesuffix(".py")
    else:
        return False
    # A module of a package has another full name: `shop.types` hides nothing.
    is_in_package = f"{folder}/__init__.py" in found
    return not is_in_package and (module in sys.stdlib_module_names or module in RUNNERS)
