"""Reads what a child writes, up to a limit, without ever being held up by it."""

import asyncio
import os
import time
from collections.abc import Callable

CHUNK = 1 << 16


class Drain:
    """The reading end of one pipe. Past the limit it is closed: the writer gets EPIPE."""

    def __init__(self, limit: int) -> None:
        self.descriptor, self.writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # The far end must block: a submission is not written for a pipe that says "later".
        os.set_blocking(self.writer, True)
        self.limit = limit
        self.data = bytearray()
        self.marks: list[tuple[int, float]] = []
        """How many bytes had come at which moment, by our clock."""
        self.over = False
        self.on_end: Callable[[], None] | None = None
        """Called when the writer has closed its end, or went over the limit."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read whenever something arrives."""
        if self.descriptor >= 0:
            self._loop = loop
            loop.add_reader(self.descriptor, self._read_some)

    def hand_over(self) -> None:
        """Close our copy of the writing end, once the child has its own."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def _read_some(self) -> bool:
        """False when there is nothing more for now, or ever."""
        try:
            piece = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return False
        if not piece:
            self.close()
            return False
        self.data += piece
        self.marks.append((len(self.data), time.monotonic()))
        if len(self.data) > self.limit:
            self.over = True
            del self.data[self.limit :]
            self.close()
            return False
        return True

    def finish(self) -> None:
        """The child is gone: take what is left in the pipe and close it."""
        self.hand_over()
        while self.descriptor >= 0 and self._read_some():
            pass
        self.close()

    def close(self) -> None:
        """Give the descriptors back."""
        self.hand_over()
        if self.descriptor >= 0:
            if self._loop is not None:
                self._loop.remove_reader(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1
            if self.on_end is not None:
                self.on_end()

    def text(self) -> str:
        """What came, as text: bytes that are not UTF-8 are shown as such."""
        return bytes(self.data).decode("utf-8", errors="backslashreplace")
