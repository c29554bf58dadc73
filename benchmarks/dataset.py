"""The cost of a data set: memory and CPU of `arena run` by number of rows.

    make bench            or: python benchmarks/dataset.py [--rows 100000] [--format csv]

Measures `arena run` on one test with a CSV data set, in a separate process, as a user starts it;
CPU includes worker processes. Compare figures within one output only: the floor (the imports of
`start.py`) shows how fast the machine is.
"""

import argparse
import json
import tempfile
from pathlib import Path

from flow import AGENT, floor, probe

TEST = """category: bench
tests:
  - id: say
    name: Say {{number}}
    dataset: rows.FORMAT
    prompt: say {{number}}
    expected: {contains: ["{{number}}"]}
    agents: [echo]
"""
FEW = 2000
MEMORY_GOAL = 1.2
"""Of the process with many rows, relative to that with few."""
CPU_GOAL_MS = 0.4
"""Per row, on a machine with a floor of 0.30 s."""
REFERENCE_FLOOR = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--format", choices=("csv", "jsonl"), default="csv")
    options = parser.parse_args()

    floor_cpu = floor()
    few, many = (measure(rows, options.format) for rows in (FEW, options.rows))
    floor_cpu = (floor_cpu + floor()) / 2  # before and after: the machine may get busier
    each = (many["cpu"] - few["cpu"]) / (options.rows - FEW) * 1000
    goal = CPU_GOAL_MS * floor_cpu / REFERENCE_FLOOR
    print(f"memory, {FEW} rows of data      {few['rss'] / 1024:6.1f} MiB")
    print(
        f"memory, {options.rows} rows of data    {many['rss'] / 1024:6.1f} MiB"
        f"  (ratio {many['rss'] / few['rss']:.2f}; goal: at most {MEMORY_GOAL:.2f})"
    )
    print(
        f"CPU per row of data           {each:6.3f} ms"
        f"  (goal: at most {CPU_GOAL_MS} with a floor of {REFERENCE_FLOOR:.2f} s,"
        f" {goal:.2f} with this one, {floor_cpu:.2f} s)"
    )


def measure(rows: int, kind: str) -> dict[str, float]:
    """CPU seconds, and the size of the largest process in KiB, of one `arena run`."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in ("agents", "benchmarks"):
            (home / name).mkdir()
        (home / "agents" / "echo.yaml").write_text(AGENT)
        (home / "agents" / "echo.py").write_text("def answer(prompt):\n    return prompt\n")
        (home / "benchmarks" / "say.yaml").write_text(TEST.replace("FORMAT", kind))
        with (home / "benchmarks" / f"rows.{kind}").open("w") as file:
            if kind == "csv":
                file.write("id,number\n")
            for number in range(rows):
                row = {"id": f"r{number}", "number": str(number)}
                file.write(",".join(row.values()) if kind == "csv" else json.dumps(row))
                file.write("\n")
        measured = probe("--probe-run", home)
    assert measured["passed"] == rows, measured
    return measured


if __name__ == "__main__":
    main()
