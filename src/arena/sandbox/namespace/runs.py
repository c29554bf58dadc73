"""One submission from its request to its outcome: a child of a zygote, followed from outside."""

import asyncio
import bisect
import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from arena.sandbox.errors import SandboxFailed
from arena.sandbox.harness.clocks import PATIENCE
from arena.sandbox.limits import Limit, Limits
from arena.sandbox.memory import complains_of_memory
from arena.sandbox.namespace.streams import Drain
from arena.sandbox.namespace.zygote import Ended, Ticket, Zygote
from arena.sandbox.ports import CaseOutcome, FunctionOutcome
from arena.sandbox.results import Results, complete, read_results

GRACE_SECONDS = 5.0
"""How long a zygote may be silent past a child's deadline before it is given up itself."""
READY = b'{"ready":1}\n'
PATIENCE_SECONDS = 0.005
LINGER_SECONDS = 0.05
"""How long a child may outlive its last result before it is killed."""
SMALL, LARGE = 1 << 15, 1 << 16
# One at a time: a second thread would decode no sooner, and hold twice the memory.
READER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="large results")


class Pipes:
    """The three ways out of a child."""

    def __init__(self, limits: Limits) -> None:
        self.result = Drain(limits.result_bytes)
        self.stdout = Drain(limits.output_bytes)
        self.stderr = Drain(limits.output_bytes)
        self._later: asyncio.TimerHandle | None = None

    @property
    def writers(self) -> tuple[int, int, int]:
        """The ends that the child gets."""
        return self.result.writer, self.stdout.writer, self.stderr.writer

    def watch(self) -> None:
        """Begin to read; our copies of the writing ends are closed."""
        loop = asyncio.get_running_loop()
        for drain in (self.result, self.stdout, self.stderr):
            drain.hand_over()
        self.result.watch(loop)
        # A pipe holds 64 KiB: most submissions are over before anybody needs to read from it.
        self._later = loop.call_later(PATIENCE_SECONDS, self._watch_output, loop)

    def _watch_output(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stdout.watch(loop)
        self.stderr.watch(loop)

    def finish(self) -> None:
        """Take what is left and close."""
        if self._later is not None:
            self._later.cancel()
        for drain in (self.result, self.stdout, self.stderr):
            drain.finish()


@dataclass(slots=True, kw_only=True)
class Run:
    """A child that was spawned and has its request, or will get it."""

    zygote: Zygote
    ticket: Ticket
    pipes: Pipes
    started: float


def spawn(zygote: Zygote, limits: Limits, request: int, wall_seconds: float | None) -> Run:
    """Spawn a child that reads its request from the descriptor `request`."""
    pipes = Pipes(limits)
    try:
        ticket = zygote.spawn((request, *pipes.writers), wall_seconds)
    except SandboxFailed:
        pipes.finish()
        raise
    pipes.watch()
    return Run(zygote=zygote, ticket=ticket, pipes=pipes, started=time.monotonic())


def spawn_with(zygote: Zygote, limits: Limits, request: bytes) -> Run:
    """Spawn a child whose request is known: the clock runs from the start."""
    descriptor = _in_a_pipe(request) or _in_memory(request)
    try:
        return spawn(zygote, limits, descriptor, limits.wall_seconds)
    finally:
        os.close(descriptor)


def _in_a_pipe(request: bytes) -> int | None:
    """Where a small request can be read, all of it, for half the price of a file; or None."""
    if len(request) > SMALL:
        return None
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if os.write(writer, request) == len(request):
            return reader
    except BlockingIOError:
        pass  # The user's share of pipe memory is used up, and this one is tiny.
    finally:
        os.close(writer)
    os.close(reader)
    return None


def _in_memory(request: bytes) -> int:
    descriptor = os.memfd_create("request")
    view = memoryview(request)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


async def ended(run: Run, wall_seconds: float) -> Ended:
    """Wait for the child's end, which the zygote enforces; and for the zygote itself."""
    try:
        async with asyncio.timeout((1 + PATIENCE) * wall_seconds + GRACE_SECONDS):
            return await asyncio.shield(run.ticket.ended)
    except TimeoutError:
        await run.zygote.close()
        raise SandboxFailed("the zygote does not answer and was ended") from None
    except asyncio.CancelledError:
        run.zygote.kill(run.ticket)
        raise
    finally:
        run.pipes.finish()


async def _last_word(run: Run) -> None:
    """Until the child has closed its results, or is gone."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def settle(_: object = None) -> None:
        if not over.done():
            over.set_result(None)

    run.pipes.result.on_end = settle
    run.ticket.ended.add_done_callback(settle)
    if run.pipes.result.descriptor < 0:
        settle()
    try:
        await over
    except asyncio.CancelledError:
        run.zygote.kill(run.ticket)
        run.pipes.finish()
        raise


def _is_complete(run: Run, count: int) -> bool:
    """Whether every result is there, so that how the process ends tells nothing more."""
    drain = run.pipes.result
    return not drain.over and drain.data.startswith(READY) and drain.data.count(b"\n") == count + 1


def _let_go(run: Run) -> None:
    """The results are in: take the output there is by now, and see the child off."""
    run.pipes.finish()
    if not run.ticket.ended.done():
        loop = asyncio.get_running_loop()
        killing = loop.call_later(LINGER_SECONDS, run.zygote.kill, run.ticket)
        run.ticket.ended.add_done_callback(lambda _: killing.cancel())


async def outcome_of(run: Run, limits: Limits, count: int, engine: str) -> FunctionOutcome:
    """Wait for the results, or the end of the child, and make sense of what it left."""
    await _last_word(run)
    if _is_complete(run, count):
        _let_go(run)
        results = await _read(run.pipes.result.data, count)
        failure = CaseOutcome(error="ended without a result")
    else:
        end = await ended(run, limits.wall_seconds)
        data = run.pipes.result.data
        if not data.startswith(READY):
            raise SandboxFailed(f"the child could not be isolated: {bytes(data[:300])!r}, {end}")
        failure = why(run, end, limits)
        results = _explained(run, await _read(data, count), failure)
    cases = complete(results, count, failure)
    if run.pipes.stdout.over or run.pipes.stderr.over:
        over = CaseOutcome(error=f"over the limit: {Limit.OUTPUT.value}", limit=Limit.OUTPUT)
        cases = [over for _ in cases]
    return FunctionOutcome(
        engine=engine,
        cases=_with_marks(run, cases, results.output_marks),
        stdout=run.pipes.stdout.text(),
        stderr=run.pipes.stderr.text(),
    )


async def _read(data: bytearray, count: int) -> Results:
    if len(data) > LARGE:
        return await asyncio.get_running_loop().run_in_executor(READER, _read_now, data, count)
    return _read_now(data, count)


def _read_now(data: bytearray, count: int) -> Results:
    return read_results(bytes(memoryview(data)[len(READY) :]), count)


def _explained(run: Run, results: Results, failure: CaseOutcome) -> Results:
    """What was read, with what was seen from outside as the reason for what is missing."""
    if run.pipes.result.over:
        # Whatever was read before the limit is not worth more than the rest.
        return Results(outcomes=(), output_marks=(), failure=failure)
    if failure.limit is None:
        return results
    return replace(results, failure=_prefer(results.failure, failure))


def _prefer(told: CaseOutcome | None, seen: CaseOutcome) -> CaseOutcome:
    """A limit that was seen from outside explains a cut-off line better than the line does."""
    return seen if told is None or "protocol violation" in (told.error or "") else told


def why(run: Run, end: Ended, limits: Limits) -> CaseOutcome:
    """Why there is no result where there should be one."""
    limit = limit_of(run, end, limits)
    if limit is not None:
        return CaseOutcome(error=f"over the limit: {limit.value}", limit=limit)
    if end.signal is not None:
        name = signal.Signals(end.signal).name
        return CaseOutcome(error=f"ended by signal {name} without a result")
    return CaseOutcome(error=f"ended without a result (exit code {end.exit_code})")


def limit_of(run: Run, end: Ended, limits: Limits) -> Limit | None:
    """The limit that ended the child, if one did."""
    if run.pipes.stdout.over or run.pipes.stderr.over:
        return Limit.OUTPUT
    if run.pipes.result.over:
        return Limit.RESULT
    if end.late:
        return Limit.WALL_TIME
    if end.signal in (signal.SIGKILL, signal.SIGXCPU):
        # The kernel enforces by one clock and reports by another, which on a busy virtual machine
        # can be far behind; only the memory killer strikes without regard to time.
        spent = end.cpu_seconds >= limits.cpu_seconds / 2
        return Limit.CPU_TIME if spent else Limit.MEMORY
    if (end.signal is not None or end.exit_code) and complains_of_memory(run.pipes.stderr.text()):
        return Limit.MEMORY
    return None


def _with_marks(
    run: Run, cases: Sequence[CaseOutcome], output_marks: Sequence[int]
) -> list[CaseOutcome]:
    """Give each case its time and its share of standard output."""
    data, marks = run.pipes.result.data, run.pipes.result.marks
    offsets = [offset for offset, _ in marks]
    stdout = bytes(run.pipes.stdout.data)
    position = data.find(b"\n") + 1
    before, shown = run.started, 0
    timed: list[CaseOutcome] = []
    for index, case in enumerate(cases):
        position = data.find(b"\n", position) + 1 or len(data)
        place = min(bisect.bisect_left(offsets, position), len(marks) - 1)
        moment = marks[place][1] if marks else time.monotonic()
        is_last = index == len(cases) - 1
        upto = len(stdout) if is_last or index >= len(output_marks) else output_marks[index]
        text = stdout[shown:upto].decode("utf-8", errors="backslashreplace")
        shown = max(shown, upto)
        timed.append(
            CaseOutcome(
                value=case.value,
                error=case.error,
                limit=case.limit,
                duration_ms=max(0.0, moment - before) * 1000,
                stdout=text,
            )
        )
        before = max(before, moment)
    return timed
