"""What one submission may use, and the names its result carries when it wanted more."""

from dataclasses import dataclass
from enum import StrEnum

MIB = 1024 * 1024


class Limit(StrEnum):
    """The limits that can end a submission; the value is what its result says."""

    WALL_TIME = "wall_time"
    CPU_TIME = "cpu_time"
    MEMORY = "memory"
    OUTPUT = "output"
    RESULT = "result_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The bounds of one run: a function with all its cases, or one command."""

    wall_seconds: float = 10.0
    """From the first instruction to the end, less what was spent waiting for a core."""
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
