"""The cost of steps and of checks of them: CPU per test, beside tests that have neither.

    make bench            or: python benchmarks/steps.py [--tests 2000] [--rounds 3]

The same run three times: an agent that reports no steps, one that reports two with every answer,
and the same with a test that checks them. Start-up (one test) is subtracted. Compare figures
within one output only: machines are noisy.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from flow import AGENT, TESTS_PER_FILE, probe

PLAIN = "def answer(prompt):\n    return prompt\n"
STEPPING = """\
STEPS = [{"tool": "search", "arguments": {"word": "a"}, "result": [1, 2]}, {"tool": "book"}]


def answer(prompt):
    return {"output": prompt, "steps": STEPS}
"""
CONTAINS = "expected: {{contains: ['{number}']}}"
CHECKED = (
    "validation: all_of, expected: {{all_of: ["
    "{{validation: contains, expected: {{contains: ['{number}']}}}}, "
    "{{validation: tool_called, expected: {{tool: search, arguments: {{word: a}}}}}}, "
    "{{validation: tool_order, expected: {{tools: [search, book]}}}}]}}"
)
KINDS = {
    "no steps": (PLAIN, CONTAINS),
    "two steps per answer": (STEPPING, CONTAINS),
    "two steps, two checks": (STEPPING, CHECKED),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=2000)
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
    agent, standard = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "agents").mkdir()
        (home / "agents" / "echo.yaml").write_text(AGENT)
        (home / "agents" / "echo.py").write_text(agent)
        (home / "benchmarks").mkdir()
        for first in range(1, tests + 1, TESTS_PER_FILE):
            lines = ["category: bench", "tests:"]
            for number in range(first, min(first + TESTS_PER_FILE, tests + 1)):
                lines.append(
                    f"  - {{id: t{number}, name: Test {number}, prompt: 'say {number}', "
                    f"{standard.format(number=number)}, agents: [echo]}}"
                )
            (home / "benchmarks" / f"tests{first:06}.yaml").write_text("\n".join(lines) + "\n")
        measured = probe("--probe-run", home)
    assert measured["passed"] == tests, measured
    return measured["cpu"]


if __name__ == "__main__":
    main()
