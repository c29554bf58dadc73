"""How much one team's flood slows down another team's simple requests.

    python benchmarks/fairness.py [--seconds 8]

Starts a real server with two tokens. Team B lists its runs and evaluates a trivial standard, first
alone, then during each flood of team A; prints medians, 95th percentiles and the ratio to the idle
median. Figures, not tests: compare them within one output only. The goal is a ratio of at most 5.
"""

import argparse
import asyncio
import contextlib
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2

TOKENS = {"a": "a" * 20, "b": "b" * 20}
AGENT = """id: slow
name: Slow
description: Sleeps
connector: {type: python, callable: "slow:answer"}
limits: {max_concurrency: 2}
"""
TEST = "tests: [{id: slow1, name: Slow, prompt: p, agents: [slow], expected: {contains: [a]}}]\n"
SLOW_PATTERN = {"type": "regex", "pattern": "(a|aa)+$"}
SLEEP = "import time\ndef f(x):\n    time.sleep(9)\n    return x\n"
CASES = {"type": "test_cases", "functionName": "f", "language": "python"}

Send = Callable[[httpx2.AsyncClient], Awaitable[httpx2.Response]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="per flood")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as url:
        asyncio.run(measure(url, options.seconds))


@contextlib.contextmanager
def serving(home: Path):
    """A server with an agent that sleeps; yields its address."""
    (home / "agents").mkdir()
    (home / "benchmarks").mkdir()
    (home / "agents" / "slow.yaml").write_text(AGENT)
    program = "import time\n\ndef answer(prompt):\n    time.sleep(1)\n    return 'a'\n"
    (home / "agents" / "slow.py").write_text(program)
    (home / "benchmarks" / "slow.yaml").write_text(TEST)
    tokens = ",".join(f"{team}:{token}" for team, token in TOKENS.items())
    server = subprocess.Popen(
        [sys.executable, "-m", "arena", "serve", "--port", "0"],
        env={**os.environ, "ARENA_HOME": str(home), "ARENA_TOKENS": tokens},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found, "the server did not start"
        yield found.group()
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


async def measure(url: str, seconds: float) -> None:
    """Print the figures of team B, idle and in each flood of team A."""
    async with client_of("b", url) as client:
        for send in SIMPLE.values():
            await send(client)  # the first request opens what the others use
        idle = await timed(client, seconds / 2)
        print(f"{'':34}{'list runs':>26}{'trivial evaluate':>26}")
        show("idle", idle, idle)
        for name, (count, send) in FLOODS.items():
            async with client_of("a", url) as flooding:
                flood = [asyncio.create_task(keep(flooding, send)) for _ in range(count)]
                await asyncio.sleep(1)
                show(name, await timed(client, seconds), idle)
                for task in flood:
                    task.cancel()
                await asyncio.gather(*flood, return_exceptions=True)


def client_of(team: str, url: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=url,
        headers={"Authorization": f"Bearer {TOKENS[team]}"},
        timeout=120,
        limits=httpx2.Limits(max_connections=100),
    )


async def keep(client: httpx2.AsyncClient, send: Send) -> None:
    while True:
        answer = await send(client)
        assert answer.status_code < 500, answer.text


async def timed(client: httpx2.AsyncClient, seconds: float) -> dict[str, list[float]]:
    """The seconds that each simple request took, one after the other."""
    took: dict[str, list[float]] = {name: [] for name in SIMPLE}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, send in SIMPLE.items():
            start = time.monotonic()
            answer = await send(client)
            assert answer.status_code == 200, answer.text
            took[name].append(time.monotonic() - start)
        await asyncio.sleep(0.02)
    return took


def show(name: str, took: dict[str, list[float]], idle: dict[str, list[float]]) -> None:
    figures = ""
    for kind, times in took.items():
        median = statistics.median(times)
        late = sorted(times)[int(len(times) * 0.95)]
        ratio = median / statistics.median(idle[kind])
        figures += f"{median * 1000:9.1f} {late * 1000:7.1f} ms {ratio:4.1f} x"
    print(f"{name:34}{figures}", flush=True)


def evaluate(standard: dict[str, Any], submission: str) -> Send:
    """Sends a submission to be judged, without a record."""
    body = {"standard": standard, "submission": submission, "record": False}
    return lambda client: client.post("/api/evaluate", json=body)


async def run(client: httpx2.AsyncClient) -> httpx2.Response:
    created = await client.post("/api/benchmarks/run", json={"agent_id": "slow", "trials": 5})
    return await client.post(f"/api/benchmarks/run/{created.json()['run_id']}/execute")


SIMPLE: dict[str, Send] = {
    "list": lambda client: client.get("/api/benchmarks/runs"),
    "evaluate": evaluate({"type": "contains", "contains": ["yes"]}, "yes"),
}
MANY = {**CASES, "cases": [{"input": [n], "expected": [n] * 8} for n in range(9000)]}
FLOODS: dict[str, tuple[int, Send]] = {
    "12 x 14 slow patterns": (
        12,
        evaluate({"type": "all_of", "all_of": [SLOW_PATTERN] * 14}, "a" * 5000 + "!"),
    ),
    "24 x sleep(9) in the sandbox": (
        24,
        evaluate({**CASES, "cases": [{"input": [1], "expected": 1}]}, SLEEP),
    ),
    "25 runs of one agent": (25, run),
    "60 checks of one agent": (60, lambda client: client.post("/api/agents/slow/check", json={})),
    "4 x 9,000 cases": (4, evaluate(MANY, "def f(n):\n    return [n] * 8\n")),
    "4 x 7 MB answer": (
        4,
        evaluate(
            {"type": "json_schema", "schema": {"uniqueItems": True}},
            "[[]" + ",[]" * 2_300_000 + "]",
        ),
    ),
}


if __name__ == "__main__":
    main()
