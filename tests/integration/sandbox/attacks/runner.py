"""Runs attacks as whoever started it, and writes what became of them to standard output.

A program of its own, so that the same attacks run as root and as somebody without rights, and
once more without walls ('open'), where the harmless ones must succeed.
"""

import asyncio
import ctypes
import json
import os
import socket
import sys
import time
from pathlib import Path

from arena.sandbox import FunctionCall, Limits, SandboxFailed
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionOutcome
from integration.sandbox.attacks.attack import Attack
from integration.sandbox.attacks.catalogue import ATTACKS
from integration.sandbox.attacks.open_walls import OpenProvider

LIMITS = Limits(wall_seconds=5.0, cpu_seconds=2)
HONEST = FunctionCall(
    language="python",
    source="def f(a, b):\n    return sorted(a) + [b]\n",
    function_name="f",
    inputs=[[[3, 1, 2], "x"]],
)


def canaries() -> dict[str, object]:
    document = json.loads(os.environ["ARENA_TEST_CANARIES"])
    return {**document, "secret": os.environ["ARENA_TEST_SECRET"]}


async def call(provider, attack: Attack, facts) -> dict[str, object]:
    language = "python" if attack.language == "python" else "javascript"
    started = time.monotonic()
    outcome: FunctionOutcome = await provider.call(
        FunctionCall(language=language, source=attack.text, function_name="f", inputs=[[facts]])
    )
    case = outcome.cases[0]
    return {
        "value": plain(case.value),
        "error": case.error,
        "limit": case.limit,
        "stdout": case.stdout,
        "stderr": outcome.stderr[:2000],
        "duration_ms": case.duration_ms,
        "seconds": time.monotonic() - started,
    }


def plain(value):
    """Values of their own as text, so that they survive JSON."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, str, float)):
        return value
    return repr(value)


async def command(provider, attack: Attack, facts) -> dict[str, object]:
    script = attack.source
    for key, text in facts.items():
        script = script.replace("{" + key + "}", str(text))
    sandbox = await provider.create()
    try:
        started = time.monotonic()
        result = await sandbox.exec(script)
        seconds = time.monotonic() - started
        again = await sandbox.exec("echo well")
    finally:
        await sandbox.destroy()
    return {
        "value": None,
        "error": None,
        "limit": result.limit,
        "stdout": result.stdout[:10000],
        "stderr": result.stderr[:2000],
        "exit_code": result.exit_code,
        "seconds": seconds,
        "well": again.stdout == "well\n",
    }


async def main(mode: str) -> None:
    facts = canaries()
    attacks = [one for one in ATTACKS if mode == "walls" or one.control]
    make = NamespaceProvider if mode == "walls" else OpenProvider
    providers = {
        "python": make(LIMITS),
        "javascript": make(LIMITS, javascript_engine="node"),
        "quickjs": make(LIMITS, javascript_engine="quickjs"),
    }
    providers["command"] = providers["python"]
    turns = asyncio.Semaphore(6)

    async def one(attack: Attack) -> tuple[str, dict[str, object]]:
        async with turns:
            provider = providers[attack.language]
            act = command if attack.language == "command" else call
            try:
                outcome = await act(provider, attack, facts)
            except SandboxFailed as error:
                outcome = {"broken": str(error)}
            if mode == "walls":
                honest = await providers["python"].call(HONEST)
                outcome["honest"] = honest.cases[0].value == [1, 2, 3, "x"]
            return attack.id, outcome

    outcomes = dict(await asyncio.gather(*(one(attack) for attack in attacks)))
    for provider in set(providers.values()):
        await provider.close()
    report = {"outcomes": outcomes, "left": left_over(), "pid": os.getpid()}
    Path(os.environ["ARENA_TEST_REPORT"]).write_text(json.dumps(report))


def adopt_orphans() -> None:
    """Whatever loses its parent becomes ours, so that nothing can hide from `left_over`."""
    set_child_subreaper = 36
    assert ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0


def left_over() -> list[str]:
    """Processes that are still below us; a moment is granted to die."""
    deadline = time.monotonic() + 5
    while True:
        reap()
        found = descendants()
        if not found or time.monotonic() > deadline:
            return [describe(pid) for pid in sorted(found)]
        time.sleep(0.05)


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def descendants() -> set[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found: set[int] = set()
    wave = {os.getpid()}
    while wave:
        wave = {pid for pid, parent in parents.items() if parent in wave}
        found |= wave
    return found


def describe(pid: int) -> str:
    try:
        return f"{pid} {Path('/proc', str(pid), 'cmdline').read_bytes()[:200]!r}"
    except OSError:
        return str(pid)


if __name__ == "__main__":
    # A program that uses us may have a default of its own; it must not reach into the boxes.
    socket.setdefaulttimeout(10)
    adopt_orphans()
    asyncio.run(main(sys.argv[1]))
