"""The start-up cost of short commands: CPU seconds, compared with a floor.

    make bench-start      or: python benchmarks/start.py [--rounds 9]

Every figure is the user and system time of a new process and its children, in a home that already
has its tables and a few runs. The floor is the same interpreter importing the libraries that every
command needs. Commands and floor alternate, so that a busy machine slows all of them alike: compare
the ratios.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ARENA = (sys.executable, "-m", "arena")
FLOOR = "import asyncio, typer, rich, pydantic, sqlalchemy.ext.asyncio"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to measure, and its goal."""

    name: str
    words: tuple[str, ...]
    ratio: float | None = None
    """The maximum, as a multiple of the floor."""
    seconds: float | None = None
    """The maximum in CPU seconds."""


COMMANDS = (
    Command(name="floor", words=(sys.executable, "-c", FLOOR)),
    Command(name="arena --version", words=(*ARENA, "--version"), seconds=0.05),
    Command(name="arena leaderboard", words=(*ARENA, "leaderboard"), ratio=1.7),
    Command(name="arena runs list", words=(*ARENA, "runs", "list"), ratio=1.7),
    Command(name="arena agents list", words=(*ARENA, "agents", "list"), ratio=1.7),
    Command(name="arena run, one test", words=(*ARENA, "run", "echo"), ratio=2.2),
)
AGENT = """id: echo
name: Echo
description: Repeats the prompt
connector: {type: python, callable: "echo:answer"}
"""
TESTS = """category: bench
tests:
  - {id: t1, name: One, prompt: say 1, expected: {contains: ['1']}, agents: [echo]}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        write_home(Path(folder))
        environment = {**os.environ, "ARENA_HOME": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        took: dict[str, list[float]] = {command.name: [] for command in COMMANDS}
        for number in range(options.rounds + 1):
            for command in COMMANDS:
                seconds = cpu_seconds(command.words, environment)
                if number:  # the first round creates byte code, tables and a run
                    took[command.name].append(seconds)
    report({name: statistics.median(figures) for name, figures in took.items()})


def report(medians: dict[str, float]) -> None:
    floor = medians["floor"]
    print(f"{'':<22} {'CPU s':>7} {'x floor':>8}   goal")
    for command in COMMANDS:
        seconds = medians[command.name]
        goal = f"at most {command.ratio} x" if command.ratio else ""
        goal = f"below {command.seconds} s" if command.seconds else goal
        print(f"{command.name:<22} {seconds:>7.3f} {seconds / floor:>8.2f}   {goal}")


def write_home(home: Path) -> None:
    """Write an echo agent and a test that it passes."""
    for name, text in {
        "agents/echo.yaml": AGENT,
        "agents/echo.py": "def answer(prompt):\n    return prompt\n",
        "benchmarks/one.yaml": TESTS,
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)


def cpu_seconds(words: tuple[str, ...], environment: dict[str, str]) -> float:
    """User and system time of a command and of the children it waited for."""
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
