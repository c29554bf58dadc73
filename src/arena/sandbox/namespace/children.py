"""Follows one child of a zygote from its request to its outcome."""

import asyncio
import bisect
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from arena.sandbox.errors import SandboxFailed
from arena.sandbox.harness.reaper import PATIENCE
from arena.sandbox.limits import Limit, Limits, ran_out_of_memory
from arena.sandbox.namespace.launch import in_memory
from arena.sandbox.namespace.zygote import Exit, Zygote
from arena.sandbox.ports import CaseOutcome, FunctionOutcome
from arena.sandbox.results import Results, complete, over_limit, read_results

GRACE_SECONDS = 5.0
"""How long past a child's deadline a zygote may not respond before it is killed."""
READY = b'{"ready":1}\n'
"""What a child writes once it is isolated; results follow."""
OUTPUT_DELAY_SECONDS = 0.005
LINGER_SECONDS = 0.05
"""How long a child may outlive its last result before it is killed."""
SMALL_REQUEST_BYTES, LARGE_RESULT_BYTES = 1 << 15, 1 << 16
CHUNK_BYTES = 1 << 16
# One at a time: under the GIL a second thread is no faster, and needs twice the memory.
READER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large results")


class Drain:
    """The reading end of a pipe. It is closed over the limit, and the writer gets EPIPE."""

    def __init__(self, limit: int) -> None:
        self.descriptor, self.writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # The far end must block: a submission does not expect EAGAIN from a pipe.
        os.set_blocking(self.writer, True)
        self.limit = limit
        self.data = bytearray()
        self.marks: list[tuple[int, float]] = []
        """How many bytes had arrived, and when."""
        self.over = False
        self.on_end: Callable[[], None] | None = None
        """Called when the writer has closed its end, or went over the limit."""
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read whenever something arrives."""
        if self.descriptor >= 0:
            self._loop = loop
            loop.add_reader(self.descriptor, self._read_some)

    def close_writer(self) -> None:
        """Close our copy of the writing end, once the child has its own."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def _read_some(self) -> bool:
        """Read once; False if there is nothing more for now, or ever."""
        try:
            piece = os.read(self.descriptor, CHUNK_BYTES)
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
        """The child has exited: read the rest of the pipe and close it."""
        self.close_writer()
        while self.descriptor >= 0 and self._read_some():
            pass
        self.close()

    def close(self) -> None:
        """Close both descriptors."""
        self.close_writer()
        if self.descriptor >= 0:
            if self._loop is not None:
                self._loop.remove_reader(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1
            if self.on_end is not None:
                self.on_end()

    def text(self) -> str:
        """What arrived, as text: bytes that are not UTF-8 are shown escaped."""
        return bytes(self.data).decode("utf-8", errors="backslashreplace")


class Pipes:
    """A child's result, standard output and standard error."""

    def __init__(self, limits: Limits) -> None:
        self.result = Drain(limits.result_bytes)
        self.stdout = Drain(limits.output_bytes)
        self.stderr = Drain(limits.output_bytes)
        self._later: asyncio.TimerHandle | None = None

    @property
    def writers(self) -> tuple[int, int, int]:
        """The ends that the child gets."""
        return self.result.writer, self.stdout.writer, self.stderr.writer

    @property
    def has_too_much_output(self) -> bool:
        """Whether either stream went over its limit."""
        return self.stdout.over or self.stderr.over

    def watch(self) -> None:
        """Begin to read; our copies of the writing ends are closed."""
        loop = asyncio.get_running_loop()
        for drain in (self.result, self.stdout, self.stderr):
            drain.close_writer()
        self.result.watch(loop)
        # A pipe holds 64 KiB: most submissions end before anything needs to be read.
        self._later = loop.call_later(OUTPUT_DELAY_SECONDS, self._watch_output, loop)

    def _watch_output(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stdout.watch(loop)
        self.stderr.watch(loop)

    def finish(self) -> None:
        """Read what is left and close."""
        if self._later is not None:
            self._later.cancel()
        for drain in (self.result, self.stdout, self.stderr):
            drain.finish()


@dataclass(slots=True, kw_only=True)
class Child:
    """A spawned child, and its pipes."""

    zygote: Zygote
    name: int
    exited: asyncio.Future[Exit]
    pipes: Pipes
    started: float

    @classmethod
    def spawn(
        cls, zygote: Zygote, limits: Limits, request: int, wall_seconds: float | None
    ) -> "Child":
        """Spawn a child that reads its request from the descriptor `request`."""
        pipes = Pipes(limits)
        try:
            name, exited = zygote.spawn((request, *pipes.writers), wall_seconds)
        except SandboxFailed:
            pipes.finish()
            raise
        pipes.watch()
        return cls(zygote=zygote, name=name, exited=exited, pipes=pipes, started=time.monotonic())

    @classmethod
    def spawn_with(cls, zygote: Zygote, limits: Limits, request: bytes) -> "Child":
        """Spawn a child whose request is known: its clock runs from the start."""
        descriptor = _in_a_pipe(request) or in_memory("request", request)
        try:
            return cls.spawn(zygote, limits, descriptor, limits.wall_seconds)
        finally:
            os.close(descriptor)

    def kill(self) -> None:
        """Kill it and everything in its namespaces."""
        self.zygote.kill(self.name)

    async def wait(self, wall_seconds: float) -> Exit:
        """Wait for its exit, which the reaper enforces; a silent zygote is killed."""
        try:
            async with asyncio.timeout((1 + PATIENCE) * wall_seconds + GRACE_SECONDS):
                return await asyncio.shield(self.exited)
        except TimeoutError:
            await self.zygote.close()
            raise SandboxFailed("the zygote did not respond and was killed") from None
        except asyncio.CancelledError:
            self.kill()
            raise
        finally:
            self.pipes.finish()

    async def wait_for_results(self) -> None:
        """Wait until it has closed its results, or has exited."""
        closed = asyncio.Event()
        self.pipes.result.on_end = closed.set
        self.exited.add_done_callback(lambda _: closed.set())
        if self.pipes.result.descriptor < 0:
            closed.set()
        try:
            await closed.wait()
        except asyncio.CancelledError:
            self.kill()
            self.pipes.finish()
            raise

    def release(self) -> None:
        """All results have arrived: read the remaining output, and make sure it exits."""
        self.pipes.finish()
        if not self.exited.done():
            killing = asyncio.get_running_loop().call_later(LINGER_SECONDS, self.kill)
            self.exited.add_done_callback(lambda _: killing.cancel())


def _in_a_pipe(request: bytes) -> int | None:
    """A pipe with the whole of a small request, at half the cost of a file; or None."""
    if len(request) > SMALL_REQUEST_BYTES:
        return None
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        # EAGAIN: the user's quota of pipe memory is used up, so this pipe is tiny.
        with contextlib.suppress(BlockingIOError):
            if os.write(writer, request) == len(request):
                return reader
    finally:
        os.close(writer)
    os.close(reader)
    return None


async def outcome_of(child: Child, limits: Limits, count: int, engine: str) -> FunctionOutcome:
    """Wait for the results or the exit of the child, and turn them into one outcome per input."""
    await child.wait_for_results()
    if _is_complete(child, count):
        child.release()
        results = await _read(child.pipes.result.data, count)
        failure = CaseOutcome(error="ended without a result")
    else:
        exit = await child.wait(limits.wall_seconds)
        data = child.pipes.result.data
        if not data.startswith(READY):
            raise SandboxFailed(f"the child could not be isolated: {bytes(data[:300])!r}, {exit}")
        failure = failure_of(child, exit, limits)
        results = _explained(child, await _read(data, count), failure)
    cases = complete(results, count, failure)
    if child.pipes.has_too_much_output:
        cases = [over_limit(Limit.OUTPUT)] * len(cases)
    return FunctionOutcome(
        engine=engine,
        cases=_with_marks(child, cases, results.output_marks),
        stdout=child.pipes.stdout.text(),
        stderr=child.pipes.stderr.text(),
    )


def _is_complete(child: Child, count: int) -> bool:
    """Whether every result is there, so that the exit status does not matter."""
    drain = child.pipes.result
    return not drain.over and drain.data.startswith(READY) and drain.data.count(b"\n") == count + 1


async def _read(data: bytearray, count: int) -> Results:
    if len(data) > LARGE_RESULT_BYTES:
        return await asyncio.get_running_loop().run_in_executor(READER, _read_now, data, count)
    return _read_now(data, count)


def _read_now(data: bytearray, count: int) -> Results:
    return read_results(bytes(memoryview(data)[len(READY) :]), count)


def _explained(child: Child, results: Results, failure: CaseOutcome) -> Results:
    """The results, with the externally observed failure as the reason for missing ones."""
    if child.pipes.result.over:
        # Over the limit no result counts, not even those before it.
        return Results(outcomes=(), output_marks=(), failure=failure)
    reported = results.failure
    # A reached limit explains a truncated line better than a protocol violation does.
    if failure.limit is None or (reported and "protocol violation" not in (reported.error or "")):
        return results
    return replace(results, failure=failure)


def failure_of(child: Child, exit: Exit, limits: Limits) -> CaseOutcome:
    """Why a result is missing."""
    limit = limit_of(child, exit, limits)
    if limit is not None:
        return over_limit(limit)
    if exit.signal is not None:
        name = signal.Signals(exit.signal).name
        return CaseOutcome(error=f"ended by signal {name} without a result")
    return CaseOutcome(error=f"ended without a result (exit code {exit.exit_code})")


def limit_of(child: Child, exit: Exit, limits: Limits) -> Limit | None:
    """The limit that ended the child, if one did."""
    if child.pipes.has_too_much_output:
        return Limit.OUTPUT
    if child.pipes.result.over:
        return Limit.RESULT
    if exit.timed_out:
        return Limit.WALL_TIME
    if exit.signal in (signal.SIGKILL, signal.SIGXCPU):
        # The kernel enforces CPU time with one clock and reports it with another, which can be far
        # behind on a busy virtual machine; only the OOM killer acts regardless of time.
        spent = exit.cpu_seconds >= limits.cpu_seconds / 2
        return Limit.CPU_TIME if spent else Limit.MEMORY
    failed = exit.signal is not None or exit.exit_code
    return Limit.MEMORY if failed and ran_out_of_memory(child.pipes.stderr.text()) else None


def _with_marks(
    child: Child, cases: Sequence[CaseOutcome], output_marks: Sequence[int]
) -> list[CaseOutcome]:
    """Each case with its duration and its part of standard output."""
    data, marks = child.pipes.result.data, child.pipes.result.marks
    offsets = [offset for offset, _ in marks]
    stdout = bytes(child.pipes.stdout.data)
    position = data.find(b"\n") + 1
    before, printed = child.started, 0
    timed: list[CaseOutcome] = []
    for index, case in enumerate(cases):
        position = data.find(b"\n", position) + 1 or len(data)
        place = min(bisect.bisect_left(offsets, position), len(marks) - 1)
        moment = marks[place][1] if marks else time.monotonic()
        is_last = index == len(cases) - 1
        upto = len(stdout) if is_last or index >= len(output_marks) else output_marks[index]
        text = stdout[printed:upto].decode("utf-8", errors="backslashreplace")
        printed = max(printed, upto)
        duration_ms = max(0.0, moment - before) * 1000
        timed.append(replace(case, duration_ms=duration_ms, stdout=text))
        before = max(before, moment)
    return timed
