"""The limits of a submission, and the names that its result shows when one is reached."""

import os
import re
from dataclasses import dataclass
from enum import StrEnum

MIB = 1024 * 1024
SUBMISSIONS_PER_CORE = 4
"""Most submissions take milliseconds; with fewer at once, cores would be idle in between."""
STDERR_TAIL = 8000
COMPILE_SECONDS = 60.0
"""How long the compiler of a program may take."""
GRADING_SECONDS = 20.0
"""How long one run of a grader's script may take, with the submitted code that it calls."""
# What the runtimes of the built-in languages print when an allocation fails.
OUT_OF_MEMORY = re.compile(
    r"^MemoryError\b|heap limit|[Oo]ut of memory|Array buffer allocation failed|bad_alloc"
    r"|OutOfMemoryError|NoMemoryError|[Cc]annot allocate memory|^\S*lua\S*: not enough memory"
    r"|memory allocation of \d+ bytes failed|^(?:PHP )?Fatal error: +Allowed memory size",
    re.MULTILINE,
)


class Limit(StrEnum):
    """The limits that can end a submission; the value is in its result."""

    WALL_TIME = "wall_time"
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    OUTPUT = "output"
    RESULT = "result_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run: a function with all its cases, or one command."""

    wall_seconds: float = 10.0
    """From the first instruction to the end, less the time spent waiting for a core."""
    cpu_seconds: int = 8
    memory_bytes: int = 400 * MIB
    """Address space of a function's process; data of each process where processes are allowed."""
    output_bytes: int = MIB
    """For standard output and standard error, each."""
    result_bytes: int = 32 * MIB
    """All encoded results of one run together."""
    scratch_bytes: int = 8 * MIB
    """Files of a function; a command has `workspace_bytes`."""
    workspace_bytes: int = 256 * MIB
    file_bytes: int = 4 * MIB
    """The largest single file of a function."""
    workspace_file_bytes: int = 128 * MIB
    files: int = 256
    workspace_files: int = 8192
    open_files: int = 32
    processes: int = 24
    """Threads of a function."""
    workspace_processes: int = 64
    """Processes and threads of a command."""


@dataclass(slots=True)
class TimeBudget:
    """The time that all runs of a submission may take together."""

    total_seconds: float
    spent_seconds: float = 0.0

    @property
    def left_seconds(self) -> float:
        """What is left of it, never below zero."""
        return max(0.0, self.total_seconds - self.spent_seconds)

    def spend(self, duration_ms: float, most_seconds: float) -> None:
        """Count a run; waiting for a core, which lengthens a run, counts up to its own limit."""
        self.spent_seconds += min(duration_ms / 1000, most_seconds)


def ran_out_of_memory(stderr: str) -> bool:
    """Whether the end of `stderr` has the message of a runtime whose allocation failed."""
    return OUT_OF_MEMORY.search(stderr[-STDERR_TAIL:]) is not None


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def submissions_at_once() -> int:
    """How many submissions may run at once; the others wait before their clock starts."""
    return SUBMISSIONS_PER_CORE * cores()
