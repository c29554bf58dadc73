"""Replaces the child, already isolated, by Node."""

from __future__ import annotations

import os
from typing import Any

REQUEST = 3
_state: dict[str, Any] = {}


def prepare(config: dict[str, Any]) -> None:
    """Build the command line once."""
    scripts = config["scripts"]
    script = scripts["node.js"].replace("MAKE_CALLS", scripts["calls.js"])
    # With its own limit V8 ends a heap bomb with a clear message; RLIMIT_DATA stops large buffers.
    # No other option of V8: one that is not the default may change results (the stack's size), and
    # makes Node compile its own modules instead of using its cache.
    old_space = max(32, int(config["memory_bytes"]) // (1 << 20) // 2)
    _state["program"] = config["node"]
    _state["arguments"] = [
        "node",
        f"--max-old-space-size={old_space}",
        "--no-warnings",
        "-e",
        script,
    ]


def run() -> None:
    """Start Node with only the five descriptors and an empty environment."""
    # The handshake: its sender's pid tells the supervisor what to put into a cgroup.
    os.write(REQUEST, b"!")
    os.execve(_state["program"], _state["arguments"], {})
