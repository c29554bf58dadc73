"""What a run costs: CPU per test, memory as the tests grow in number; how soon an edit is live.

    make bench            or: python benchmarks/flow.py [--tests 5000] [--rounds 3]

Every figure is measured on `arena run` as a user starts it, in a process of its own, with its
worker processes counted. Start-up (the same command with one test) is taken off. Compare figures
within one output only: machines are noisy.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.catalog import LiveCatalog

AGENT = """id: echo
name: Echo
description: Says what it hears
connector: {type: python, callable: "echo:answer"}
"""
TESTS_PER_FILE = 2500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=5000, help="tests of the CPU figure")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    start = [measure(1) for _ in range(options.rounds)]
    runs = [measure(options.tests) for _ in range(options.rounds)]
    cpu = statistics.median(run["cpu"] for run in runs)
    start_cpu = statistics.median(run["cpu"] for run in start)
    print(f"start-up                      {start_cpu:6.2f} s CPU")
    print(
        f"{options.tests} tests, above start-up   {cpu - start_cpu:6.2f} s CPU"
        f"  ({(cpu - start_cpu) / options.tests * 1000:.2f} ms a test; goal: at most 3 s for 5000)"
    )
    small, large = measure(2000)["rss"], measure(20000)["rss"]
    print(f"memory, 2,000 tests           {small / 1024:6.1f} MiB")
    print(
        f"memory, 20,000 tests          {large / 1024:6.1f} MiB"
        f"  (ratio {large / small:.2f}; goal: at most 1.20)"
    )
    print(f"an edited file is live after  {asyncio.run(edit()):6.2f} s  (goal: at most 1 s)")


async def edit(edits: int = 20) -> float:
    """The most seconds between the writing of a file and its test in the catalog."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), TESTS_PER_FILE)
        catalog, file = LiveCatalog([], home=Path(folder) / "benchmarks"), "edited.yaml"
        longest = 0.0
        async with catalog.watching():
            for number in range(edits):
                test = f"{{id: edit{number}, name: n, prompt: p, expected: {{contains: [a]}}}}"
                (Path(folder) / "benchmarks" / file).write_text(f"tests: [{test}]\n")
                start = time.monotonic()
                while not any(test.id == f"edit{number}" for test in catalog.current.tests):
                    await asyncio.sleep(0.005)
                longest = max(longest, time.monotonic() - start)
    return longest


def measure(tests: int) -> dict[str, float]:
    """CPU seconds and the largest process in KiB of one `arena run` of so many tests."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write(home, tests)
        command = [sys.executable, __file__, "--probe"]
        environment = {**os.environ, "ARENA_HOME": str(home)}
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        told = json.loads(done.stdout.splitlines()[-1])
    assert told["passed"] == tests, told
    return told


def write(home: Path, tests: int) -> None:
    """An agent that echoes, and tests that it passes."""
    (home / "agents").mkdir()
    (home / "agents" / "echo.yaml").write_text(AGENT)
    (home / "agents" / "echo.py").write_text("def answer(prompt):\n    return prompt\n")
    (home / "benchmarks").mkdir()
    for first in range(1, tests + 1, TESTS_PER_FILE):
        lines = ["category: bench", "tests:"]
        for number in range(first, min(first + TESTS_PER_FILE, tests + 1)):
            lines.append(
                f"  - {{id: t{number}, name: Test {number}, prompt: 'say {number}', "
                f"expected: {{contains: ['{number}']}}, agents: [echo]}}"
            )
        (home / "benchmarks" / f"tests{first:06}.yaml").write_text("\n".join(lines) + "\n")


def probe() -> None:
    """Run `arena run echo` and tell what it took; this process is measured as its parent."""
    command = [sys.executable, "-m", "arena", "run", "echo"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    listed = subprocess.run(
        [sys.executable, "-m", "arena", "runs", "list", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    run = json.loads(listed.stdout)["runs"][0]
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"cpu": cpu, "rss": used.ru_maxrss, "passed": run["passed_tests"]}))


if __name__ == "__main__":
    if sys.argv[1:] == ["--probe"]:
        probe()
    else:
        main()
