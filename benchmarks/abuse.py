"""What one client can do to others: latencies of another team while a server is abused.

Starts `arena serve` with tokens and 1,024 descriptors, and measures `GET /api/health` and a list
of another team: idle, then during each kind of abuse. Then the memory after two equal floods.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2

RED, BLUE = "red-token-0123456789", "blue-token-0123456789"
LIMIT_SECONDS = 1.0
PATIENCE_SECONDS = 8.0
MIB = 1024 * 1024
HELD_BYTES = int(7.9 * MIB)
NUMBERS = 2**61 - 1


class Server:
    """A real server in a process of its own."""

    def __init__(self, home: Path, descriptors: int) -> None:
        self._log = (home / "log").open("w+")
        command = f'ulimit -n {descriptors}; exec "$0" -m arena serve --port 0'
        tokens = f"red:{RED},blue:{BLUE}"
        self._process = subprocess.Popen(
            ["bash", "-c", command, sys.executable],
            env={**os.environ, "ARENA_HOME": str(home / "home"), "ARENA_TOKENS": tokens},
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[3]
        self.address = ("127.0.0.1", int(self.url.rpartition(":")[2]))

    @property
    def memory_mib(self) -> float:
        """The resident memory of the server."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def stop(self) -> tuple[int, bool]:
        """Stop it; returns the lines of its log, and whether one of them is a traceback."""
        self._process.terminate()
        try:
            self._process.wait(30)
        finally:
            self._process.kill()
            self._log.seek(0)
            text = self._log.read()
            self._log.close()
        return text.count("\n"), "Traceback" in text


class Probe:
    """Another team's client, which asks again and again."""

    def __init__(self, url: str) -> None:
        headers = {"Authorization": f"Bearer {BLUE}"}
        self._http = httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False, headers=headers)
        self.worst: dict[str, float] = {}

    async def ask(self, path: str) -> None:
        """Note the time of one request on a connection of its own."""
        started = time.perf_counter()
        answer = await self._http.get(path, headers={"Connection": "close"})
        assert answer.status_code == 200, answer.text
        self.worst[path] = max(self.worst.get(path, 0), time.perf_counter() - started)

    async def run(self, seconds: float) -> None:
        """Ask for this long, at least once."""
        end = time.monotonic() + seconds
        while True:
            await self.ask("/api/health")
            await self.ask("/api/benchmarks/runs")
            if time.monotonic() > end:
                return
            await asyncio.sleep(0.05)


@asynccontextmanager
async def half_open(server: Server, count: int = 1100) -> AsyncIterator[str]:
    """Connections that send a part of a request."""
    with contextlib.ExitStack() as closing:
        for _ in range(count):
            half = closing.enter_context(socket.create_connection(server.address))
            half.sendall(b"POST /api/evaluate HTTP/1.1\r\nHost: localhost\r\n")
            await asyncio.sleep(0)
        yield f"{count} held"


@asynccontextmanager
async def streams(server: Server, count: int = 1000) -> AsyncIterator[str]:
    """Event streams of one run."""
    auth = {"Authorization": f"Bearer {RED}"}
    async with httpx2.AsyncClient(base_url=server.url, trust_env=False, headers=auth) as http:
        answer = await http.post("/api/benchmarks/run", json={"agent_id": "bench"})
        path = f"/api/benchmarks/runs/{answer.json()['run_id']}/events"
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {RED}\r\n\r\n"
    async with AsyncExitStack() as closing:
        opened = 0
        for _ in range(count):
            reader, writer = await asyncio.open_connection(*server.address)
            closing.callback(writer.close)
            writer.write(head.encode())
            opened += b" 200 " in await reader.readline()
        yield f"{opened} of {count} accepted"


@asynccontextmanager
async def held_bodies(server: Server, token: str = "", count: int = 60) -> AsyncIterator[str]:
    """Bodies that are sent but for their last byte."""
    auth = f"Authorization: Bearer {token}\r\n" if token else ""
    head = f"POST /api/evaluate HTTP/1.1\r\nHost: localhost\r\n{auth}Content-Type: application/json"
    head += f"\r\nContent-Length: {HELD_BYTES}\r\n\r\n"
    async with AsyncExitStack() as closing:

        async def hold() -> None:
            _, writer = await asyncio.open_connection(*server.address)
            closing.callback(writer.close)
            writer.write(head.encode())
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(5):
                    for _ in range(HELD_BYTES // MIB):
                        writer.write(b" " * MIB)
                        await writer.drain()

        await asyncio.gather(*(hold() for _ in range(count)))
        yield f"{server.memory_mib:.0f} MiB"


def bodies() -> dict[str, tuple[str, bytes]]:
    """Legal requests of up to 8 MiB that are dear to read or to judge: path and body."""
    exact = {"validation": "exact", "expected": {"value": "x"}}

    def evaluate(standard: object, submission: object, **more: object) -> tuple[str, bytes]:
        text = submission if isinstance(submission, str) else json.dumps(submission)
        body = {"standard": standard, "submission": text, "record": False, **more}
        return "/api/evaluate", json.dumps(body).encode()

    def raw(value: str) -> tuple[str, bytes]:
        head = json.dumps({"standard": exact, "submission": "x"})[:-1]
        return "/api/evaluate", f'{head}, "sealed": {{"a": {value}}}}}'.encode()

    program = {"type": "program", "functionName": "f"}
    cases = [{"input": [1], "expected": 1}] * 100_000
    numbers = {"type": "json", "expected": [1.0] * 900_000, "tolerance": 0.1}
    unique = {"type": "json_schema", "schema": {"type": "array", "uniqueItems": True}}
    fences = "```\nx\n```\n" * 580_000
    return {
        "sealed, 2.6 million empty lists": raw("[" + ",".join(["[]"] * 2_600_000) + "]"),
        "sealed, 249,000 empty lists": raw("[" + ",".join(["[]"] * 249_000) + "]"),
        "900,000 numbers, tolerance": evaluate(numbers, [1.0] * 400_000),
        "7 MB of tiny fences": evaluate({"type": "program", "cases": cases[:1]}, fences),
        "100,000 cases": evaluate({**program, "cases": cases}, "def f(x): return x"),
        "multiples of 2**61-1": evaluate(unique, [NUMBERS * i for i in range(1, 40_000)]),
        "a million unknown keys": (
            "/api/tasks",
            ("{" + ",".join(f'"{i:x}":1' for i in range(700_000)) + "}").encode(),
        ),
        "nested 100,000 deep": raw("[" * 100_000 + "]" * 100_000),
    }


@asynccontextmanager
async def posted(server: Server, path: str, body: bytes) -> AsyncIterator[str]:
    """One request with this body; the server works on it meanwhile."""
    headers = {"Authorization": f"Bearer {RED}", "Content-Type": "application/json"}
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
        request = asyncio.create_task(http.post(path, content=body, headers=headers))
        yield f"{len(body) / MIB:.1f} MiB sent"
        try:
            answer = await asyncio.wait_for(request, PATIENCE_SECONDS)
            print(f"  answered with {answer.status_code}:")
        except (httpx2.HTTPError, TimeoutError):
            print(f"  not answered within {PATIENCE_SECONDS:g} s:")


async def measure(
    server: Server, name: str, abuse: Callable[[Server], object] | None, seconds: float
) -> None:
    """Print the worst latencies of another team during an abuse."""
    probe = Probe(server.url)
    note = ""
    async with AsyncExitStack() as closing:
        if abuse is not None:
            note = await closing.enter_async_context(abuse(server))  # pyright: ignore
        await probe.run(seconds)
    worst = list(probe.worst.values())
    mark = "" if max(worst) < LIMIT_SECONDS else "  TOO SLOW"
    figures = "".join(f"{value * 1000:9.0f} ms" for value in worst)
    print(f"{name:44}{figures}{server.memory_mib:9.0f} MiB  {note}{mark}", flush=True)


def prepare(home: Path) -> None:
    """An agent with a test, for a run that can be watched."""
    for folder in ("agents", "benchmarks"):
        (home / "home" / folder).mkdir(parents=True)
    (home / "home" / "agents" / "bench.yaml").write_text(
        "id: bench\nversion: 1.0.0\nconnector: {type: command, command: cat}\n"
    )
    (home / "home" / "benchmarks" / "bench.yaml").write_text(
        "tests:\n- {id: b, name: b, prompt: b, expected: {contains: [b]}, agents: [bench]}\n"
    )


async def main(only: str) -> None:
    """Run every scenario whose name contains `only`."""
    scenarios: dict[str, Callable[[Server], object]] = {
        "1,100 half-open connections": half_open,
        "1,000 event streams of one run": streams,
        "60 held bodies of 7.9 MiB, no token": held_bodies,
        "60 held bodies of 7.9 MiB, with a token": lambda server: held_bodies(server, RED),
    }
    for name, (path, body) in bodies().items():
        scenarios[name] = lambda server, path=path, body=body: posted(server, path, body)
    with tempfile.TemporaryDirectory(prefix="arena-abuse-") as folder:
        prepare(Path(folder))
        server = Server(Path(folder), 1024)
        try:
            print(f"{'':44}{'health':>12}{'list':>12}{'memory':>13}")
            await measure(server, "idle", None, 2)
            for name, abuse in scenarios.items():
                if only in name:
                    await measure(server, name, abuse, 2)
            memory: list[float] = []
            for _ in range(2):
                for flood in (half_open, streams, lambda one: held_bodies(one, RED)):
                    async with flood(server):
                        pass
                memory.append(server.memory_mib)
            grown = memory[1] / memory[0] * 100 - 100
            print(f"after a flood {memory[0]:.0f} MiB, after the same again {memory[1]:.0f} MiB")
            print(f"  ({grown:+.0f} %, at most +20 %)")
        finally:
            lines, has_traceback = server.stop()
        print(f"{lines} lines of log, {'with a' if has_traceback else 'no'} traceback")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    asyncio.run(main(parser.parse_args().only))
