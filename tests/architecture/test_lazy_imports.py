"""Lazy imports: every name exists, respects the layers and saves start-up time.

Lazy imports are those inside functions, and dotted names in strings (registries, the table of
commands). import-linter checks the layers of the former; nothing else checks the latter.
"""

import ast
import functools
import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
DOTTED = re.compile(r"arena(\.\w+)+(:\w+)?")
NO_MODULES = {
    "arena.connectors",  # groups of entry points
    "arena.sandboxes",
    "arena.validators",
    "arena.toml",  # files
    "arena.db",
}
PROGRAMS = ("arena.agents.worker", "arena.sandbox.harness")
"""Started by their path, in processes that load nothing else of the package."""
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "importlinter"
]["contracts"]


@dataclass(frozen=True, order=True)
class Late:
    """A name that a module imports lazily."""

    module: str
    line: int
    target: str
    """`package.module`, or `package.module:name`."""

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.target}"


def modules() -> dict[str, ast.Module]:
    """The syntax of every module of the package, by its dotted name."""
    found: dict[str, ast.Module] = {}
    for path in sorted((SOURCE / "arena").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text())
    return found


MODULES = modules()


def imports(tree: ast.Module, *, late: bool) -> Iterator[tuple[int, str]]:
    """The imports inside functions, or those outside; without TYPE_CHECKING blocks."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[int, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import) and inside is late:
                yield from ((child.lineno, alias.name) for alias in child.names)
            if isinstance(child, ast.ImportFrom) and inside is late and not child.level:
                yield from ((child.lineno, f"{child.module}:{one.name}") for one in child.names)
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, inside or is_function)

    return walk(tree, False)


def in_functions() -> list[Late]:
    return [
        Late(name, line, target)
        for name, tree in MODULES.items()
        for line, target in imports(tree, late=True)
    ]


def in_texts() -> list[Late]:
    return [
        Late(name, node.lineno, node.value)
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and DOTTED.fullmatch(node.value)
        and node.value not in NO_MODULES
    ]


def as_module(target: str) -> str:
    """The module that an import of this name loads."""
    module, _, name = target.partition(":")
    return f"{module}.{name}" if f"{module}.{name}" in MODULES else module


@functools.cache
def loaded_with(module: str) -> frozenset[str]:
    """All that importing a module loads: its packages, what they import at the top, and so on."""
    loaded: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in loaded:
            continue
        loaded.add(name)
        if "." in name and not is_below(module, *PROGRAMS):
            waiting.append(name.rpartition(".")[0])
        if name in MODULES:
            waiting += [as_module(target) for _, target in imports(MODULES[name], late=False)]
    return frozenset(loaded)


def layer_of(module: str) -> tuple[int, str]:
    """The depth of a module's layer, and its top-level package."""
    (contract,) = (one for one in CONTRACTS if one["type"] == "layers")
    room = (module + ".").split(".")[1]
    for depth, layer in enumerate(contract["layers"]):
        if room in [name.strip() for name in layer.split("|")]:
            return depth, room
    raise AssertionError(f"{module} is in no layer")


def is_below(module: str, *packages: str) -> bool:
    return any(f"{module}.".startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("late", sorted({*in_functions(), *in_texts()}), ids=str)
def test_a_late_name_leads_somewhere(late: Late):
    module, _, name = late.target.partition(":")
    loaded = importlib.import_module(module)
    if name and not hasattr(loaded, name):
        importlib.import_module(f"{module}.{name}")
    assert pkgutil.resolve_name(late.target) is not None


@pytest.mark.parametrize("late", in_texts(), ids=str)
def test_a_name_in_a_text_keeps_to_its_layer(late: Late):
    target = as_module(late.target)
    (from_depth, from_room), (to_depth, to_room) = layer_of(late.module), layer_of(target)
    assert from_room == to_room or from_depth < to_depth
    for contract in CONTRACTS:
        if contract["type"] == "forbidden" and is_below(late.module, *contract["source_modules"]):
            assert not is_below(target, *contract["forbidden_modules"]), contract["name"]
        if contract["type"] == "protected" and is_below(target, *contract["protected_modules"]):
            assert is_below(late.module, *contract["allowed_importers"]), contract["name"]


@pytest.mark.parametrize("late", in_functions(), ids=str)
def test_a_late_import_saves_start_up(late: Late):
    is_loaded = as_module(late.target) in loaded_with(late.module)
    assert not is_loaded, "it is loaded with this module anyway: import it at the top"
