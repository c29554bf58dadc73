"""The cost of a workspace: CPU per test, beside tests that have none.

    make bench            or: python benchmarks/workspaces.py [--tests 60] [--rounds 3]

The same run three times: tests without files, tests whose agent changes a file but is judged by its
answer, and tests whose files are verified by a command in the sandbox. Start-up (one test) is
subtracted. Compare figures within one output only: machines are noisy.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from flow import AGENT, probe

WRITING = """\
import os


def answer(prompt):
    if 'ARENA_WORKSPACE' in os.environ:
        open('out.txt', 'w').write(prompt)
    return prompt
"""
CONTAINS = "expected: {{contains: ['{number}']}}"
FILES = "workspace: {{files: {{a.txt: '1'}}}}"
VERIFY = "validation: verify, expected: {{command: 'grep -q {number} out.txt'}}"
KINDS = {
    "no files": CONTAINS,
    "files, judged by text": f"{CONTAINS}, {FILES}",
    "files, verified": f"{VERIFY}, {FILES}",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    # Interleaved, so that a machine that gets busier slows all of them alike.
    turns = [
        {kind: measure(kind, options.tests) - measure(kind, 1) for kind in KINDS}
        for _ in range(options.rounds)
    ]
    for kind in KINDS:
        cpu = statistics.median(turn[kind] for turn in turns)
        print(f"{kind:24}{cpu:6.2f} s CPU  ({cpu / options.tests * 1000:.2f} ms per test)")


def measure(kind: str, tests: int) -> float:
    """CPU seconds of one `arena run`."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "agents").mkdir()
        (home / "agents" / "echo.yaml").write_text(AGENT)
        (home / "agents" / "echo.py").write_text(WRITING)
        (home / "benchmarks").mkdir()
        lines = ["category: bench", "tests:"]
        for number in range(1, tests + 1):
            lines.append(
                f"  - {{id: t{number}, name: Test {number}, prompt: 'say {number}', "
                f"{KINDS[kind].format(number=number)}, agents: [echo]}}"
            )
        (home / "benchmarks" / "tests.yaml").write_text("\n".join(lines) + "\n")
        measured = probe("--probe-run", home)
    assert measured["passed"] == tests, measured
    return measured["cpu"]


if __name__ == "__main__":
    main()
