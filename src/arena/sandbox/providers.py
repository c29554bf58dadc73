"""Providers by name: the built-in ones, and those of other packages by entry point."""

import pkgutil
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import cast

from arena.errors import NotFound
from arena.sandbox.ports import SandboxProvider

GROUP = "arena.sandboxes"
BUILTIN = {
    "namespace": "arena.sandbox.namespace.provider:NamespaceProvider",
    "docker": "arena.sandbox.docker:DockerProvider",
    "daytona": "arena.sandbox.daytona:DaytonaProvider",
}


def known_providers() -> dict[str, str]:
    """Every provider's name and import path."""
    return {point.name: point.value for point in entry_points(group=GROUP)} | BUILTIN


def provider_named(name: str) -> Callable[..., SandboxProvider]:
    """The class of the provider called `name`, imported on demand."""
    # Entry points are read from every installed package, so only for a name that is not built in.
    known = BUILTIN if name in BUILTIN else known_providers()
    if name not in known:
        raise NotFound.among("sandbox provider", name, known)
    return cast("Callable[..., SandboxProvider]", pkgutil.resolve_name(known[name]))
