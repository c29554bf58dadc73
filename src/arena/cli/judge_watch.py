"""`arena judge --watch`: judge the tasks that were submitted to a judge."""

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from typing import Annotated

import typer

from arena.assembly import open_resources
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.judging import JudgeFlow
from arena.client import Client
from arena.client.stopping import unless_stopped
from arena.content import LocalStore
from arena.errors import ArenaError, InvalidInput
from arena.settings import Settings

BREATH_SECONDS = 0.1


JudgeName = Annotated[str | None, typer.Option("--as", metavar="NAME", help="Which judge you are.")]
Watch = Annotated[bool, typer.Option("--watch", help="Judge submitted tasks until stopped.")]
Once = Annotated[bool, typer.Option("--once", help="Judge the tasks that wait now, then end.")]
Poll = Annotated[
    float,
    typer.Option(min=0.1, max=3600, metavar="SECONDS", help="How often to look, at the least."),
]


def judge_tasks(
    context: typer.Context, name: str | None, *, watch: bool, once: bool, poll_seconds: float
) -> None:
    """Judge submitted tasks: fetch, check, evaluate, keep the record, settle."""
    if watch == once:
        raise InvalidInput("say --watch (go on until stopped) or --once (what waits now)")
    if name is None:
        raise InvalidInput("say which judge you are with --as NAME")
    wait_for(_judge(settings_of(context), name, poll_seconds if watch else None))


async def _judge(settings: Settings, name: str, poll_seconds: float | None) -> None:
    async with AsyncExitStack() as closing:
        resources, _ = open_resources(settings, closing)
        client = await closing.enter_async_context(connected(settings))
        store = LocalStore(settings.content_folder)
        flow = JudgeFlow(client, name, resources, store, sandbox=settings.sandbox, tell=_tell)
        if poll_seconds is None:
            count = await flow.step()
            _tell(f"{output.counted(count, 'task')} judged")
            return
        await _watch(client, flow, name, poll_seconds)


async def _watch(client: Client, flow: JudgeFlow, name: str, poll_seconds: float) -> None:
    """Judge whenever something happens, until a signal comes."""
    wake, stop = asyncio.Event(), asyncio.Event()

    def end() -> None:
        stop.set()
        wake.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end)
    listener = asyncio.create_task(_listen(client, wake, poll_seconds))
    typer.echo(f"{name} judges what is submitted (stop with Ctrl-C)", err=True)
    try:
        while not stop.is_set():
            wake.clear()
            try:
                # Nothing has to be finished: what was not sent is judged anew by the next one.
                await unless_stopped(stop, flow.step())
            except ArenaError as wrong:
                _tell(f"nothing can be judged now: {wrong.message}")
            with suppress(TimeoutError):
                await asyncio.wait_for(wake.wait(), poll_seconds)
            await asyncio.sleep(BREATH_SECONDS)
    finally:
        listener.cancel()
        await asyncio.gather(listener, return_exceptions=True)


async def _listen(client: Client, wake: asyncio.Event, poll_seconds: float) -> None:
    while True:
        # Without the stream the judge still looks every `poll_seconds`.
        with suppress(ArenaError):
            async for event in client.watch_market():
                if event.kind == "ResultSubmitted":
                    wake.set()
        await asyncio.sleep(poll_seconds)


def _tell(text: str) -> None:
    output.line(text, at_once=True)
