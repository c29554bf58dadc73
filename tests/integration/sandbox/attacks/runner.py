"""Runs attacks as the user who started it, and writes their outcomes to a report.

A program of its own, so that the same attacks run as root and as an unprivileged user, and
once more in a yard without walls ('open'), where they must succeed.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import socket
import sys
import threading
import time
from pathlib import Path

from arena.errors import ArenaError
from arena.sandbox.errors import SandboxFailed
from arena.sandbox.limits import Limits
from arena.sandbox.namespace.provider import NamespaceProvider
from arena.sandbox.ports import FunctionCall, FunctionOutcome
from integration.sandbox.attacks.attack import Attack
from integration.sandbox.attacks.catalogue import ATTACKS
from integration.sandbox.attacks.controls import breaks, control_of
from integration.sandbox.attacks.open_walls import OpenProvider
from integration.sandbox.attacks.trusting import ANSWER, MAX_ARGUMENT_BYTES, believe_everything
from integration.sandbox.attacks.yard import METADATA, furnish

LIMITS = Limits(wall_seconds=5.0, cpu_seconds=2)
SHORT = Limits(wall_seconds=3.0, cpu_seconds=1)
"""For attacks that only a time limit ends: they use all the time they get."""
OUTLIVED_SECONDS = SHORT.wall_seconds + 1.5
"""In the control: an attack that runs longer has outlived its time limit."""
PATIENCE_SECONDS = 60.0
LONG = 1 << 20
"""Longer texts are reported by their length."""
HONEST = FunctionCall(
    language="python",
    source="def f(a, b):\n    return sorted(a) + [b]\n",
    function_name="f",
    inputs=[[[3, 1, 2], "x"]],
)


def canaries() -> dict[str, object]:
    document = json.loads(os.environ["ARENA_TEST_CANARIES"])
    return {**document, "secret": os.environ["ARENA_TEST_SECRET"]}


async def call(provider, attack: Attack, source: str, inputs) -> dict[str, object]:
    language = "python" if attack.language == "python" else "javascript"
    started = time.monotonic()
    outcome: FunctionOutcome = await provider.call(
        FunctionCall(language=language, source=source, function_name="f", inputs=inputs)
    )
    case = outcome.cases[-1]
    return {
        "value": plain(case.value),
        "error": case.error,
        "limit": case.limit,
        "stdout": case.stdout,
        "stderr": outcome.stderr[:2000],
        "duration_ms": case.duration_ms,
        "seconds": time.monotonic() - started,
        **await remains(attack.marker),
    }


def plain(value):
    """Values of our own types as text, so that they survive JSON."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, str) and len(value) > LONG:
        return f"{len(value)} characters"
    if value is None or isinstance(value, (bool, int, str, float)):
        return value
    return repr(value)


async def remains(marker: str) -> dict[str, object]:
    """The processes an attack left and their zombie children, after a short grace period."""
    survivors: set[int] = set()
    for _ in range(20 if marker else 0):
        survivors = {pid for pid in descendants() if marker in describe(pid)}
        if not survivors:
            break
        await asyncio.sleep(0.1)
    parents = {pid: parent for pid, parent in parent_of_each().items() if parent in survivors}
    zombies = sum(describe(pid) == str(pid) for pid in parents)
    return {"survivors": len(survivors), "zombies": zombies}


async def command(provider, attack: Attack, script: str, facts) -> dict[str, object]:
    for key, text in facts.items():
        script = script.replace("{" + key + "}", str(text))
    sandbox = await provider.create()
    try:
        started = time.monotonic()
        result = await sandbox.exec(script)
        seconds = time.monotonic() - started
        seen = {**await remains(attack.marker), **await aftermath(sandbox)}
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
        **seen,
    }


async def aftermath(sandbox) -> dict[str, object]:
    """What a command left behind that its output does not show."""
    read: list[str] = []
    for name in ("result", "other"):
        try:
            read.append((await sandbox.read_file(name))[:100])
        except SandboxFailed:
            raise
        except ArenaError as error:
            read.append(type(error).__name__)
    return {"read": read, "on_host": Path("/desk/ran-here").exists()}


async def contain(attack: Attack, providers, facts) -> dict[str, object]:
    """Run it with all walls, and an honest submission after it."""
    provider = providers[attack.language]
    try:
        if attack.language == "command":
            outcome = await command(provider, attack, attack.text, facts)
        else:
            outcome = await call(provider, attack, attack.text, [[facts]])
    except SandboxFailed as error:
        outcome = {"broken": str(error)}
    honest = await providers["python"].call(HONEST)
    outcome["honest"] = honest.cases[0].value == [1, 2, 3, "x"]
    return outcome


async def lost_zygote(provider) -> str:
    """Whether a zygote dies within a short grace period."""
    for _ in range(50):
        if any(not one.alive for fleet in provider._fleets.values() for one in fleet.zygotes):
            return "a zygote was killed"
        await asyncio.sleep(0.1)
    return ""


NOTHING = {
    "value": None,
    "error": None,
    "limit": None,
    "stdout": "",
    "stderr": "",
    "exit_code": None,
    "well": True,
    "survivors": 0,
    "zombies": 0,
    "duration_ms": 0.0,
    "seconds": OUTLIVED_SECONDS,
}


async def release(attack: Attack, providers, facts) -> dict[str, object]:
    """Run it without walls, in the yard."""
    control = control_of(attack)
    provider = (engines(OpenProvider) if control.alone else providers)[attack.language]
    text = attack.text if control.lowered is None else attack.start + control.lowered
    outcome: dict[str, object] = {}
    if len(text) > MAX_ARGUMENT_BYTES:
        return {**NOTHING, "error": "Argument list too long", "outlived": False, "broken": ""}
    outlived, broken = False, ""
    try:
        for _ in range(control.runs):
            if attack.language == "command":
                action = command(provider, attack, text, facts)
            else:
                action = call(provider, attack, text, [[facts]] * control.cases)
            seconds = OUTLIVED_SECONDS if control.outlives else PATIENCE_SECONDS
            outcome = await asyncio.wait_for(action, seconds)
    except TimeoutError:
        outlived = True
    except SandboxFailed as error:
        broken = str(error)
    if control.alone:
        if control.seen is breaks:
            broken = broken or await lost_zygote(provider)
        await provider.close()
    return {**NOTHING, **outcome, "outlived": outlived, "broken": broken}


def engines(make):
    return dict.fromkeys(("python", "javascript", "command"), make())


async def main(mode: str) -> None:
    facts = canaries()
    reached: list[object] = []
    if mode == "open":
        furnish()
        believe_everything()
        facts |= {"port": decoy_server("127.0.0.1", 0, reached), "expected": ANSWER}
        decoy_server(METADATA, 80, reached)
        providers = engines(OpenProvider)
        calm = [attack for attack in ATTACKS if not control_of(attack).outlives]
        wild = [attack for attack in ATTACKS if control_of(attack).outlives]
        outcomes = await each(calm, 4, lambda one: release(one, providers, facts))
        outcomes |= await each(wild, len(wild), lambda one: release(one, providers, facts))
    else:
        providers = engines(lambda **more: NamespaceProvider(LIMITS, **more))
        short = engines(lambda **more: NamespaceProvider(SHORT, **more))
        outcomes = await each(
            ATTACKS,
            6,
            lambda one: contain(one, short if control_of(one).outlives else providers, facts),
        )
        for provider in set(short.values()):
            await provider.close()
    for provider in set(providers.values()):
        await provider.close()
    left = left_over() if mode == "walls" else []
    report = {"outcomes": outcomes, "left": left, "pid": os.getpid(), "reached": len(reached)}
    Path(os.environ["ARENA_TEST_REPORT"]).write_text(json.dumps(report))


async def each(attacks, at_once: int, act) -> dict[str, dict[str, object]]:
    turns = asyncio.Semaphore(at_once)

    async def one(attack: Attack) -> tuple[str, dict[str, object]]:
        async with turns:
            return attack.id, await act(attack)

    return dict(await asyncio.gather(*map(one, attacks)))


def decoy_server(host: str, port: int, reached: list[object]) -> int:
    """Start a server that answers every request like a web server; return its port."""
    server = socket.create_server((host, port))
    server.settimeout(None)
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"

    def serve() -> None:
        while True:
            connection, peer = server.accept()
            reached.append(peer)
            connection.settimeout(0.5)
            with contextlib.suppress(OSError):
                connection.recv(4096)
                connection.sendall(answer)
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1]


def adopt_orphans() -> None:
    """Adopt orphans (child subreaper), so that nothing can hide from `left_over`."""
    set_child_subreaper = 36
    assert ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0


def left_over() -> list[str]:
    """Our descendants that are still alive after a short grace period."""
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


def parent_of_each() -> dict[int, int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents


def descendants() -> set[int]:
    parents = parent_of_each()
    found: set[int] = set()
    wave = {os.getpid()}
    while wave:
        wave = {pid for pid, parent in parents.items() if parent in wave}
        found |= wave
    return found


def describe(pid: int) -> str:
    """Its pid and command line; zombies have no command line."""
    try:
        line = Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return str(pid)
    return f"{pid} {line[:2000]!r}" if line else str(pid)


if __name__ == "__main__":
    # A caller of Arena may set a default timeout; it must not affect the sandboxes.
    socket.setdefaulttimeout(10)
    adopt_orphans()
    asyncio.run(main(sys.argv[1]))
