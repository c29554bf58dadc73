"""The cost of a run: CPU per test, memory by number of tests, time until an edit is live.

    make bench            or: python benchmarks/flow.py [--tests 5000] [--rounds 3]

Measures `arena run` and `arena evaluate --batch` in separate processes, as a user starts them. CPU
includes worker processes, except for the batch, where only the main process counts. Start-up (the
same command with one test) is subtracted. Compare figures within one output only: machines are
noisy. The floor (the imports of `start.py`, measured between the runs) shows how fast the machine
is: 1,000 trivial tests should cost at most one floor.
"""

import argparse
import asyncio
import json
import os
import resource
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from start import FLOOR

from arena.catalog.live import LiveCatalog

AGENT = """id: echo
name: Echo
description: Repeats the prompt
connector: {type: python, callable: "echo:answer"}
"""
TESTS_PER_FILE = 2500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tests", type=int, default=5000, help="number of tests for the CPU figure"
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    # Interleaved, so that a machine that gets busier slows all of them alike.
    turns = [(floor(), measure(1), measure(options.tests)) for _ in range(options.rounds)]
    floor_cpu = statistics.median(floor for floor, _, _ in turns)
    start_cpu = statistics.median(start["cpu"] for _, start, _ in turns)
    cpu = statistics.median(run["cpu"] for _, _, run in turns) - start_cpu
    print(f"floor: the imports alone      {floor_cpu:6.2f} s CPU  (0.30 on the reference machine)")
    print(f"start-up                      {start_cpu:6.2f} s CPU")
    print(
        f"{options.tests} tests, above start-up   {cpu:6.2f} s CPU"
        f"  ({cpu / options.tests * 1000:.2f} ms per test; goal: at most 0.30 with that floor,"
        f" {floor_cpu:.2f} with this one)"
    )
    small, large = measure(2000)["rss"], measure(20000)["rss"]
    print(f"memory, 2,000 tests           {small / 1024:6.1f} MiB")
    print(
        f"memory, 20,000 tests          {large / 1024:6.1f} MiB"
        f"  ({(large - small) / 18000:.2f} KiB per test; goal: at most 1.20)"
    )
    as_json = measure(20000, "--json")["rss"]
    print(
        f"memory, 20,000 with --json    {as_json / 1024:6.1f} MiB"
        f"  (ratio to the plain run {as_json / large:.2f}; goal: at most 1.20)"
    )
    batches = [(batch(1), batch(options.tests)) for _ in range(options.rounds)]
    judged = statistics.median(many - one for one, many in batches)
    print(
        f"evaluate --batch              {judged:6.2f} s CPU of the main process"
        f"  ({judged / options.tests * 1000:.2f} ms per submission; goal: at most 0.60)"
    )
    print(f"an edited file is live after  {asyncio.run(edit()):6.2f} s  (goal: at most 1 s)")


async def edit(edits: int = 20) -> float:
    """The maximum seconds from writing a file until its test is in the catalog."""
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


def floor() -> float:
    """CPU seconds of importing the libraries that every command needs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", FLOOR], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(tests: int, *options: str) -> dict[str, float]:
    """CPU seconds, and the size of the largest process in KiB, of one `arena run`."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write(home, tests)
        measured = probe("--probe-run", home, *options)
    assert measured["passed"] == tests, measured
    return measured


def batch(lines: int) -> float:
    """CPU seconds of the main process of `arena evaluate --batch`."""
    with tempfile.TemporaryDirectory() as folder:
        source, to = Path(folder) / "lines.jsonl", Path(folder) / "verdicts.jsonl"
        standard = {"type": "contains", "contains": ["yes"]}
        with source.open("w") as file:
            for number in range(lines):
                line = {"id": str(number), "standard": standard, "submission": f"yes, {number}"}
                file.write(json.dumps(line) + "\n")
        words = ("evaluate", "--batch", str(source), "--output", str(to))
        measured = probe("--probe-main", Path(folder) / "home", *words)
        assert len(to.read_text().splitlines()) == lines
    return measured["cpu"]


def probe(kind: str, home: Path, *words: str) -> dict[str, float]:
    """Run this file as a separate process and return its measurements."""
    done = subprocess.run(
        [sys.executable, __file__, kind, *words],
        env={**os.environ, "ARENA_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def write(home: Path, tests: int) -> None:
    """Write an echo agent and tests that it passes."""
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


def probe_run(*options: str) -> None:
    """Run `arena run echo` as a child process and print what it used."""
    command = [sys.executable, "-m", "arena", "run", "echo", *options]
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


def probe_main(*words: str) -> None:
    """Run the command `arena` in this process, then print what the process used."""
    sys.argv = ["arena", *words]
    try:
        runpy.run_module("arena", run_name="__main__")
    except SystemExit as error:
        if error.code:
            raise
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe-run"]:
        probe_run(*sys.argv[2:])
    elif sys.argv[1:2] == ["--probe-main"]:
        probe_main(*sys.argv[2:])
    else:
        main()
