"""Long-lived processes that answer line by line, and a pool of them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from arena.agents.process import Process, Program, describe_end
from arena.errors import AgentCrashed, AgentTimedOut, AgentUnavailable


class Ended(Exception):
    """The process exited, or was killed, before it wrote a whole line."""


class LineProcess:
    """A process that writes one line for each line it reads, one at a time."""

    def __init__(self, program: Program, *, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._buffer = bytearray()
        self._is_out_of_sync = False
        self._waiting: asyncio.Future[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self.process = Process(program, self._add)
        self.process.ended.add_done_callback(self._on_end)

    @property
    def is_ready(self) -> bool:
        """Whether it runs and has no pending or surplus output, as far as it was read."""
        return not (self._waiting or self._buffer or self._is_out_of_sync or self.process.has_ended)

    async def ask(self, line: bytes, timeout_seconds: float) -> tuple[bytes, bool]:
        """Send `line` (with its newline); returns the reply, and whether it was cut."""
        self._waiting = waiting = self._loop.create_future()
        if self.process.has_ended:
            raise Ended
        # A bare timer: `asyncio.timeout` would cost as much as sending the line.
        timer = self._loop.call_later(timeout_seconds, self._fail, TimeoutError())
        try:
            self.process.write(line)
            reply = await waiting
        finally:
            timer.cancel()
        self._waiting = None
        return reply, self._is_out_of_sync

    async def end(self) -> None:
        """Kill the process and its group."""
        await self.process.end()

    def _add(self, data: bytes) -> None:
        waiting = self._waiting
        if waiting is None or waiting.done():
            # Unsolicited output: the next reply would belong to the wrong question.
            self._desynchronize()
            return
        end = data.find(b"\n")
        self._buffer += data if end < 0 else data[:end]
        if len(self._buffer) > self._max_line_bytes:
            waiting.set_result(bytes(self._buffer[: self._max_line_bytes]))
            self._desynchronize()
        elif end >= 0:
            waiting.set_result(bytes(self._buffer))
            self._buffer[:] = data[end + 1 :]

    def _desynchronize(self) -> None:
        self._is_out_of_sync = True
        self._buffer.clear()
        self.process.kill()

    def _on_end(self, _: asyncio.Future[int]) -> None:
        self._fail(Ended())

    def _fail(self, error: Exception) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)


class LinePool:
    """As many line processes as there are concurrent questions; they are reused."""

    def __init__(
        self,
        program: Program,
        *,
        max_line_bytes: int,
        greet: Callable[[LineProcess], Awaitable[None]] | None = None,
    ) -> None:
        self._program = program
        self._max_line_bytes = max_line_bytes
        self._greet = greet
        """Called with a new process before it gets its first question."""
        self._idle: list[LineProcess] = []
        self._living: set[LineProcess] = set()
        self._is_closed = False

    async def ask(
        self, line: bytes, timeout_seconds: float, variables: Mapping[str, str] | None = None
    ) -> tuple[bytes, bool]:
        """The reply to `line`, and whether it was cut at the limit.

        If the question starts a process, that gets `variables` in its environment too.
        """
        try:
            return await self._ask_any(line, timeout_seconds, variables)
        except TimeoutError:
            raise AgentTimedOut(f"the agent did not answer within {timeout_seconds:g} s") from None

    def forget_idle(self) -> None:
        """Kill the idle processes; the next question gets a fresh one."""
        for process in self._idle:
            process.process.kill()
        self._idle.clear()

    async def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        await asyncio.gather(*(process.end() for process in self._living))
        self._idle.clear()

    async def _ask_any(
        self, line: bytes, timeout_seconds: float, variables: Mapping[str, str] | None
    ) -> tuple[bytes, bool]:
        clock = asyncio.get_running_loop().time
        used = self._take()
        if used is not None:
            begin = clock()
            try:
                return await self._ask(used, line, timeout_seconds)
            except Ended:
                # It answered before, so it may have been exiting and never have read this question:
                # ask a fresh process. If that one exits too, it is a crash.
                timeout_seconds -= clock() - begin
        fresh = await self._start(variables)
        try:
            return await self._ask(fresh, line, timeout_seconds)
        except Ended:
            if self._is_closed:
                raise AgentUnavailable("the connector was closed", retryable=False) from None
            raise AgentCrashed(await how_it_ended(fresh)) from None

    async def _start(self, variables: Mapping[str, str] | None) -> LineProcess:
        if self._is_closed:
            raise AgentUnavailable("the connector is closed", retryable=False)
        program = self._program
        if variables:
            program = replace(program, environment={**program.environment, **variables})
        process = LineProcess(program, max_line_bytes=self._max_line_bytes)
        self._living.add(process)
        process.process.ended.add_done_callback(lambda _: self._living.discard(process))
        if self._greet is not None:
            try:
                await self._greet(process)
            except BaseException:
                await process.end()  # unusable, or the caller was cancelled
                raise
        return process

    async def _ask(
        self, process: LineProcess, line: bytes, timeout_seconds: float
    ) -> tuple[bytes, bool]:
        try:
            return await process.ask(line, timeout_seconds)
        finally:
            if process.is_ready and not self._is_closed:
                self._idle.append(process)
            else:
                await process.end()

    def _take(self) -> LineProcess | None:
        while self._idle:
            process = self._idle.pop()
            process.process.read_now()  # there may be surplus output since its last answer
            if process.is_ready:
                return process
            process.process.kill()
        return None


async def how_it_ended(process: LineProcess) -> str:
    """Why a process exited without an answer."""
    code = await process.process.ended
    return describe_end(code, process.process.stderr) + ("" if code else " before it answered")
