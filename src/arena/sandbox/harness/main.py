"""Where an interpreter in the box begins: which kind of children it will have."""

from __future__ import annotations

import contextlib
import importlib
import socket
import sys
from collections.abc import Callable

from arena.sandbox.harness.hardening import Walls
from arena.sandbox.harness.zygote import start

# What submissions import most; a clone gets them for nothing. Each costs a few pages per child.
PRELOADED = (
    "abc array base64 bisect calendar cmath collections collections.abc contextlib copy csv "
    "dataclasses datetime decimal enum fractions functools heapq inspect io itertools "
    "json math numbers operator queue random re statistics string struct textwrap threading "
    "time traceback types typing zlib"
)


def main(control: int, orders: int, config: dict[str, object]) -> None:
    """Serve children of the configured kind until the supervisor goes away."""
    channels = socket.socket(fileno=control), socket.socket(fileno=orders)
    work, rehearse = _work(config)
    start(*channels, Walls(config), work, rehearse)


def _work(config: dict[str, object]) -> tuple[Callable[[], None], Callable[[], None]]:
    """What a child does, and what the zygote does once so that children find it done."""
    kind = str(config["kind"])
    if kind == "python":  # the others run foreign programs, which bring their own
        for name in PRELOADED.split():
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    module = importlib.import_module(f"arena.sandbox.harness.{kind}_calls")
    module.prepare(config)
    # A submission finds nothing of us by name, and deleting it here costs no child anything.
    for name in [name for name in sys.modules if name.split(".")[0] == "arena"]:
        del sys.modules[name]
    return module.run, getattr(module, "rehearse", _nothing)


def _nothing() -> None:
    pass
