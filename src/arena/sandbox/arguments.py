"""What callers hand to a sandbox, checked once for every provider, before anything is sent."""

from arena.errors import InvalidInput
from arena.text import utf8

MAX_SECONDS = 86_400.0
MAX_COMMAND_BYTES = 100_000


def checked_seconds(timeout: float | None, default: float) -> float:
    """`timeout`, or the default for None; InvalidInput where no clock can be set to it."""
    seconds = default if timeout is None else timeout
    # NaN is not between anything.
    if not 0 < seconds <= MAX_SECONDS:
        raise InvalidInput(
            f"timeout is {seconds} seconds; it must be more than 0 and at most {MAX_SECONDS:.0f}"
        )
    return seconds


def checked_command(command: str) -> str:
    """`command`, which a shell can be given."""
    if len(utf8(command, "the command")) > MAX_COMMAND_BYTES or "\0" in command:
        raise InvalidInput(
            f"a command is at most {MAX_COMMAND_BYTES} bytes, without NUL; write a file and run it"
        )
    return command


def content_bytes(content: str | bytes) -> bytes:
    """What a file will hold."""
    return utf8(content, "the content of a file") if isinstance(content, str) else content
