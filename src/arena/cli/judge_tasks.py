"""`arena judge --watch`: judge the tasks submitted to a judge."""

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from typing import Annotated

import typer

from arena.assembly import Arena, open_arena
from arena.cli import output
from arena.cli.connection import open_operations, settings_of, wait_for
from arena.client.executing import unless_stopped
from arena.errors import ArenaError, InvalidInput
from arena.market.call import EventKind
from arena.market.judge_market import JudgeMarket, LocalMarket
from arena.market.judging import AT_ONCE, JudgeFlow
from arena.operations.operations import Operations
from arena.settings import Settings

MIN_STEP_SECONDS = 0.1
"""The pause between two steps, however many events the market sends."""

JudgeName = Annotated[str | None, typer.Option("--as", metavar="NAME", help="Which judge you are.")]
Watch = Annotated[bool, typer.Option("--watch", help="Judge submitted tasks until stopped.")]
Once = Annotated[bool, typer.Option("--once", help="Judge the tasks that wait now, then end.")]
Poll = Annotated[
    float,
    typer.Option(min=0.1, max=3600, metavar="SECONDS", help="The longest time between two polls."),
]
AtOnce = Annotated[
    int, typer.Option(min=1, max=100, metavar="N", help=f"Tasks to judge at once ({AT_ONCE}).")
]


def judge_tasks(
    context: typer.Context,
    name: str | None,
    *,
    watch: bool,
    once: bool,
    poll_seconds: float,
    at_once: int,
) -> None:
    """Judge submitted tasks: fetch, check, evaluate, keep the record, settle."""
    if watch == once:
        raise InvalidInput("give either --watch (until stopped) or --once (what waits now)")
    if name is None:
        raise InvalidInput("say which judge you are with --as NAME")
    poll = poll_seconds if watch else None
    wait_for(_judge(settings_of(context), name, poll, at_once))


async def _judge(settings: Settings, name: str, poll_seconds: float | None, at_once: int) -> None:
    async with AsyncExitStack() as closing:
        operations = await closing.enter_async_context(open_operations(settings, Operations))
        # Without a server, use the rooms of the operations, so that nothing is opened twice.
        own = (
            await closing.enter_async_context(open_arena(settings))
            if settings.server
            else operations.arena
        )
        flow = judge_flow(operations, own, name, at_once=at_once)
        if poll_seconds is None:
            count = await flow.step()
            for task in flow.claimed_elsewhere:
                _report(f"task {task.id} is being judged by another process of {name}")
            _report(f"{output.counted(count, 'task')} judged")
            return
        await _watch(operations, flow, name, poll_seconds)


def judge_flow(operations: Operations, own: Arena, name: str, *, at_once: int) -> JudgeFlow:
    """A judge that evaluates with the rooms `own`, and prints what it does."""
    return JudgeFlow(
        _judge_market(operations, own),
        name,
        own.market.contents,
        own.resources,
        sandbox=own.settings.sandbox,
        report=_report,
        at_once=at_once,
    )


def _judge_market(operations: Operations, own: Arena) -> JudgeMarket:
    if not own.settings.server:
        return LocalMarket(own.market, own.reviews, own.task_reviews, operations.team)
    from arena.client.judging import ServerMarket  # loads an HTTP library

    return ServerMarket(operations, own.content)


async def _watch(operations: Operations, flow: JudgeFlow, name: str, poll_seconds: float) -> None:
    """Judge whenever a task is submitted, until a signal arrives."""
    wake, stop = asyncio.Event(), asyncio.Event()

    def end() -> None:
        stop.set()
        wake.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)
    listener = asyncio.create_task(_listen(operations, wake, poll_seconds))
    typer.echo(f"{name} judges what is submitted (stop with Ctrl-C)", err=True)
    try:
        while not stop.is_set():
            wake.clear()
            try:
                # It may be cancelled anywhere: a verdict that was not sent is made again next time.
                await unless_stopped(stop, flow.step())
            except ArenaError as error:
                _report(f"nothing can be judged now: {error.message}")
            with suppress(TimeoutError):
                await asyncio.wait_for(wake.wait(), poll_seconds)
            await asyncio.sleep(MIN_STEP_SECONDS)
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


async def _listen(operations: Operations, wake: asyncio.Event, poll_seconds: float) -> None:
    while True:
        # Without the stream the judge still polls every `poll_seconds`.
        with suppress(ArenaError):
            async for event in operations.watch_market():
                if event.kind == EventKind.RESULT_SUBMITTED:
                    wake.set()
        await asyncio.sleep(poll_seconds)


def _report(text: str) -> None:
    output.line(text, at_once=True)
