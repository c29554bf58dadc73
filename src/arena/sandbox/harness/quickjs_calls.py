"""Calls a JavaScript function in QuickJS, which has no files, timers or modules."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
from typing import Any

from arena.sandbox.harness.hardening import REQUEST, RESULT
from arena.sandbox.harness.python_calls import (
    _exit,  # pyright: ignore[reportPrivateUsage]
    emit,
    read_all,
)

EXTENSION = "/_quickjs.so"
# Below the process's own limit, so that QuickJS can still report that memory ran out.
HEADROOM_BYTES = 96 * 1024 * 1024
MAX_STACK_BYTES = 4 * 1024 * 1024
_state: dict[str, Any] = {}


def prepare(config: dict[str, Any]) -> None:
    """Load the engine and the scripts that every child starts from."""
    loader = importlib.machinery.ExtensionFileLoader("_quickjs", EXTENSION)
    spec = importlib.util.spec_from_file_location("_quickjs", EXTENSION, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    scripts = config["scripts"]
    # One context with our scripts already in it: every clone has its own copy.
    context = module.Context()
    context.set_memory_limit(max(16 << 20, int(config["memory_bytes"]) - HEADROOM_BYTES))
    context.set_max_stack_size(MAX_STACK_BYTES)
    context.add_callable("emit", emit)
    context.add_callable("print", write_line)
    script = f"({scripts['quickjs.js']})(({scripts['calls.js']}), emit, print, eval)"
    _state["start"] = context.eval(script)
    context.eval("delete globalThis.emit; delete globalThis.print")
    _state["context"] = context
    _state["error"] = module.JSException


def run() -> None:
    """Everything a child does: read the request, call, answer, exit without clean-up."""
    request = read_all(REQUEST).decode()
    try:
        _state["start"](request)
        while _state["context"].execute_pending_job():
            pass
    except _state["error"] as error:
        # Outside every call: memory ran out in our own scripts, or a pending job threw.
        write_line(2, str(error))
        _exit(1)
    os.close(RESULT)
    _exit(0)


def write_line(stream: int, text: str) -> int:
    """Write a line of the submission's console; returns its length in bytes."""
    data = text.encode("utf-8", errors="backslashreplace") + b"\n"
    view = memoryview(data)
    while view:
        view = view[os.write(stream, view) :]
    return len(data)
