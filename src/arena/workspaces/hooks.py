"""Files that tools load or obey without being told to, and what is done with planted ones.

An agent that may not change a test can still leave a file beside it that changes how tests run.
Such a file counts only if the test gave it (then as it was given) or names it in `collect`.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from arena.workspaces.collected import File
from arena.workspaces.names import is_literal, matches_any, parents, same_name, shown

PYTHON = (
    "**/conftest.py",
    "**/sitecustomize.py",
    "**/sitecustomize/**",
    "**/usercustomize.py",
    "**/usercustomize/**",
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
    "**/behave.ini",
    "**/.pdbrc",
    "**/mypy.ini",
    "**/.mypy.ini",
    "**/pyrightconfig.json",
    "**/ruff.toml",
    "**/.ruff.toml",
    "**/.flake8",
    "**/.pylintrc",
    "**/pylintrc",
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
    "**/ava.config.*",
    "**/jasmine.json",
    "**/jsconfig.json",
    "**/.nycrc*",
    "**/.swcrc",
    "**/.taprc",
    "**/web-test-runner.config.*",
    "**/webpack.config.*",
    "**/biome.json*",
    "**/bunfig.toml",
    "**/deno.json*",
    "**/node.config.json",
    "**/.eslintrc*",
    "**/.eslintignore",
    "**/eslint.config.*",
    "**/.prettierrc*",
)
OTHERS = (
    "**/Makefile",
    "**/GNUmakefile",
    "**/*.mk",
    "**/justfile",
    "**/.justfile",
    "**/Taskfile.y*ml",
    "**/CMakeLists.txt",
    "**/*.cmake",
    "**/CMakePresets.json",
    "**/SConstruct",
    "**/meson.build",
    "**/.bazelrc",
    "**/Rakefile",
    "**/Gemfile",
    "**/.bundle/**",
    "**/.rspec",
    "**/.rubocop.yml",
    "**/spec_helper.rb",
    "**/test_helper.*",
    "**/mix.exs",
    "**/.proverc",
    "**/.busted",
    "**/phpunit.xml*",
    "**/phpunit.dist.xml",
    "**/composer.json",
    "**/vendor/autoload.php",
    "**/vendor/bin/**",
    "**/*.class",
    "**/*.jar",
    "**/.mvn/**",
    "**/build.xml",
    "**/gradle.properties",
    "**/build.gradle*",
    "**/settings.gradle*",
    "**/pom.xml",
    "**/junit-platform.properties",
    "**/META-INF/services/**",
    "**/Directory.Build.*",
    "**/*.runsettings",
    "**/Cargo.toml",
    "**/rust-toolchain*",
    "**/build.rs",
    "**/.cargo/**",
    "**/*_test.go",
    "**/go.mod",
    "**/go.work",
    "**/vendor/modules.txt",
    "**/.golangci.*",
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
INIT = "__init__.py"
TEST_NAMES = ("**/test_*.py", "**/*_test.py")
SCRIPT_ENDINGS = frozenset(["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json", "node"])
"""Node and its relatives load `./cases` from a file with any of these endings, or with none."""


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
    hidden: Collection[str] = (),
) -> Guarded:
    """The files with every hook as it was given: planted ones left out, changed ones restored.

    `used` are given files that the verification runs by name, `hidden` are the files that it lays
    over the others. Whatever `collect` names literally is left as it is.
    """
    allowed = {pattern for pattern in collect if is_literal(pattern)}
    guard = _Guard(found, before, used, hidden)
    files = dict(found)
    problems: list[str] = []
    for path in sorted(found.keys() - allowed):
        original = before.get(path)
        if found[path] == original:
            continue
        if original is not None:
            if why := guard.obeyed(path):
                files[path] = original
                problems.append(f"restored: {shown(path)} {why}")
        elif why := guard.obeyed(path) or guard.in_place_of_another(path):
            del files[path]
            problems.append(f"left out: {shown(path)} {why}")
    for path in sorted(before.keys() - found.keys() - allowed):
        if matches_any(path, collect) and (why := guard.obeyed(path)):
            files[path] = before[path]
            problems.append(f"restored: {shown(path)}, which was deleted, {why}")
    return Guarded(files=files, problems=tuple(problems))


def is_hook(path: str) -> bool:
    """Whether tools load or obey a file of this name without being told to."""
    return matches_any(same_name(path), HOOKS)


def is_byproduct(path: str) -> bool:
    """Whether tools write a file of this name by themselves: it is no work of the agent."""
    return matches_any(path, BYPRODUCTS)


class _Guard:
    """Says of a file that the agent added or changed why it cannot be trusted."""

    def __init__(
        self,
        found: Mapping[str, File],
        before: Mapping[str, File],
        used: Collection[str],
        hidden: Collection[str],
    ) -> None:
        self._found = found
        self._used = used
        self._hidden = hidden
        self._given = {same_name(path): path for path in before}
        self._trusted = {*hidden, *(before.keys() & found.keys())}
        tests = [path for path in hidden if path.endswith(".py")]
        self._folders = {_folder(path) for path in tests}
        """They hold hidden Python files, so modules may be imported from there."""
        self._packages = {folder for path in tests for folder in parents(path)}
        # Not of a folder that also has the code to work on: its package is part of the work.
        work = {path for path in before if path.endswith(".py") and path not in hidden}
        mixed = {_folder(path) for path in work if not _is_test_name(path)}
        self._inits = {f"{folder}/{INIT}".lstrip("/") for folder in self._folders - mixed}
        self._scripts = {name: path for path in hidden if (name := _script_name(path))}

    def obeyed(self, path: str) -> str | None:
        """Why the verification would obey the file, as it was given or not."""
        if path in self._used:
            return "is run by the verification; name it in collect to keep it"
        if is_hook(path) or path in self._inits:
            return "can change how tests run; name it in collect to keep it"
        return None

    def in_place_of_another(self, path: str) -> str | None:
        """Why a new file would be taken for another one."""
        if self._is_shadow(path):
            return "can change how tests run; name it in collect to keep it"
        if (other := self._loaded_instead_of(path)) is not None:
            return f"would be loaded instead of {shown(other)}; name it in collect to keep it"
        if (given := self._given.get(same_name(path))) is not None:
            return f"differs from {shown(given)} only in its spelling"
        return None

    def _is_shadow(self, path: str) -> bool:
        """Whether a new module would be imported instead of a standard one or a test runner."""
        folder, _, name = path.rpartition("/")
        if name == INIT:
            folder, _, module = folder.rpartition("/")
        elif name.endswith(".py"):
            module = name.removesuffix(".py")
        else:
            return False
        # A module of a package has another full name: `shop.types` hides nothing, unless a
        # hidden file in the same folder is run or imported from there.
        is_in_package = f"{folder}/{INIT}" in self._found and folder not in self._folders
        return not is_in_package and (module in sys.stdlib_module_names or module in RUNNERS)

    def _loaded_instead_of(self, path: str) -> str | None:
        """The hidden or given file whose name in code would now mean the new one."""
        if path.endswith(f"/{INIT}"):
            # Python prefers a package to a module of the same name,
            module = f"{_folder(path)}.py"
            return module if module in self._trusted else None
        if path.endswith(".py"):
            # and a module to a folder that is no package.
            folder = path.removesuffix(".py")
            is_package = f"{folder}/{INIT}" in self._trusted
            return f"{folder}/" if folder in self._packages and not is_package else None
        return self._scripts.get(_script_name(path)) if path not in self._hidden else None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_test_name(path: str) -> bool:
    return path.rpartition("/")[2] == INIT or matches_any(path, TEST_NAMES)


def _script_name(path: str) -> str:
    """How JavaScript code names a file: without its ending, or by its folder; empty: it cannot."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if not dot:
        return path
    if ending not in SCRIPT_ENDINGS:
        return ""
    return _folder(path) if stem == "index" else path.removesuffix(f".{ending}")
