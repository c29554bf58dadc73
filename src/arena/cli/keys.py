"""Keyboard input: single keys from a terminal, or lines from a pipe."""

import asyncio
import codecs
import os
import sys
import termios
import tty
from collections import deque
from types import TracebackType
from typing import Protocol, Self

END = frozenset("\r\n")
ERASE = frozenset("\x7f\b")
STOP = "\x04"
"""Ctrl-D: end of input."""


class Keys(Protocol):
    """A source of key presses."""

    is_live: bool
    """Whether a person sees the screen before each key; False for a pipe."""

    async def key(self) -> str | None:
        """The next key; None at the end of the input."""
        ...

    async def line(self) -> str | None:
        """The next line of text; None at the end of the input."""
        ...


class TerminalKeys:
    """A person at a terminal: each key counts at once, and input typed ahead is kept."""

    is_live = True

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        # Bytes come one at a time, and a character may take several of them.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._file)
        # Drain, because the default of setcbreak (flush) drops what was typed ahead. Not raw mode:
        # Ctrl-C must still raise an interrupt.
        tty.setcbreak(self._file, termios.TCSADRAIN)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    async def key(self) -> str | None:
        """The next key, without Enter."""
        while True:
            data = await self._byte()
            if not data:
                return None
            char = self._decoder.decode(data)
            if char:
                return None if char == STOP else char

    async def line(self) -> str | None:
        """A line, shown while it is typed."""
        typed: list[str] = []
        while (char := await self.key()) is not None:
            if char in END:
                _show("\n")
                return "".join(typed)
            if char in ERASE and typed:
                typed.pop()
                _show("\b \b")
            elif char.isprintable():
                typed.append(char)
                _show(char)
        return None

    async def _byte(self) -> bytes:
        # Not in a thread: a thread that blocks in read() cannot be stopped, so Ctrl-C would hang.
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_reader(self._file, ready.set)
        try:
            await ready.wait()
            return os.read(self._file, 1)
        except OSError:  # the terminal was closed
            return b""
        finally:
            loop.remove_reader(self._file)


class PipedKeys:
    """Input from a program or a file: each character is a key, a note is the rest of its line."""

    is_live = False

    def __init__(self) -> None:
        self._waiting: deque[str] = deque()

    async def key(self) -> str | None:
        """The next character that is not white space."""
        while not self._waiting:
            line = sys.stdin.buffer.readline()
            if not line:
                return None
            self._waiting.extend(line.decode("utf-8", "replace").strip())
        key = self._waiting.popleft()
        return key if not key.isspace() else await self.key()

    async def line(self) -> str | None:
        """The rest of the current line, or the next line if nothing is left of it."""
        rest = "".join(self._waiting).strip()
        self._waiting.clear()
        if rest:
            return rest
        line = sys.stdin.buffer.readline()
        return line.decode("utf-8", "replace").strip() if line else None


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
