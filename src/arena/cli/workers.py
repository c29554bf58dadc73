"""`arena workers`: the workers, the queue, the runs in it, and what is stuck."""

import asyncio
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import open_operations, settings_of, wait_for
from arena.cli.options import Json
from arena.cli.tables import print_table
from arena.errors import InfrastructureError
from arena.operations.workers import WorkerOperations
from arena.queue.overview import QueueOverview, QueueTotals, Stuck, Worker
from arena.settings import Settings
from arena.text import UNKNOWN

app = typer.Typer(add_completion=False, rich_markup_mode=None)

REFRESH_SECONDS = 1.0
CLEAR = "\x1b[H\x1b[2J"
EMBEDDED = (
    "runs are executed by the process that starts them; "
    "see docs/operations/scale-out.md for workers on other machines"
)
NO_WORKER = "no worker is running; start one with: arena worker"


@app.command()
def workers(
    context: typer.Context,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again every second, until Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the workers, the queue, the runs in it, and what is stuck and why."""
    wait_for(_show(settings_of(context), watch=watch, as_json=as_json))


async def _show(settings: Settings, *, watch: bool, as_json: bool) -> None:
    async with open_operations(settings, WorkerOperations) as arena:
        if not watch:
            output.show(await arena.workers(), print_overview, as_json=as_json)
            return
        while True:
            try:
                _show_again(await arena.workers(), as_json=as_json)
            except InfrastructureError as error:
                # The database or the server may come back: whoever watches waits for that.
                output.line(f"error: {error.message}", at_once=True)
            await asyncio.sleep(REFRESH_SECONDS)


def _show_again(found: QueueOverview, *, as_json: bool) -> None:
    if as_json:
        output.line(output.as_json(found), at_once=True)
        return
    if output.console().is_terminal:
        output.line(CLEAR, end="")
    print_overview(found)
    output.line("", at_once=True)


def print_overview(found: QueueOverview) -> None:
    """Print tables of all of it, for people."""
    if found.dispatch == "embedded":
        output.line(EMBEDDED)
        return
    if found.workers:
        _print_workers(found)
    if not any(worker.takes_work for worker in found.workers):
        output.line(NO_WORKER)
    _print_queues(found)
    _print_runs(found)
    _print_chores(found)
    _print_totals(found.totals)
    for one in found.stuck:
        output.line(f"stuck: {_words(one)}")


def _print_workers(found: QueueOverview) -> None:
    rows = [
        (
            worker.name,
            output.status(worker.state),
            _place(worker),
            f"{worker.busy}/{worker.shards}",
            str(worker.questions),
            "yes" if worker.has_sandbox else "no",
            f"{worker.done_results:,}",
            output.time_cell(worker.seen_at),
            worker.version,
            ", ".join(worker.labels) or UNKNOWN,
            ", ".join(worker.judges) or UNKNOWN,
        )
        for worker in found.workers
    ]
    columns = (
        "worker",
        "state",
        "host",
        "busy",
        "questions",
        "sandbox",
        "results",
        "seen (UTC)",
        "version",
        "labels",
        "judges",
    )
    print_table(
        columns,
        rows,
        right=("busy", "questions", "results"),
        optional=("judges", "version", "questions", "seen (UTC)", "host", "sandbox"),
    )


def _place(worker: Worker) -> str:
    return UNKNOWN if worker.host is None else f"{worker.host} ({worker.pid})"


def _print_queues(found: QueueOverview) -> None:
    if not found.queues:
        return
    rows = [
        (
            one.queue,
            str(one.depth),
            str(one.in_work),
            _seconds(one.lag_seconds),
            ", ".join(one.workers) or "none",
        )
        for one in found.queues
    ]
    columns = ("queue", "depth", "in work", "lag", "workers")
    output.line("")
    print_table(columns, rows, right=("depth", "in work", "lag"))


def _print_runs(found: QueueOverview) -> None:
    output.line("")
    if not found.runs:
        output.line("no run is in the queue")
        return
    rows = [
        (
            str(run.run_id),
            f"{run.done_shards}/{run.total_shards}",
            str(run.in_work),
            str(run.depth),
            f"{run.completed_tests}/{run.total_tests}",
            f"{run.results_per_second:.1f}",
            output.time_cell(run.started_at),
            run.team_id,
            f"{run.agent_id} {run.agent_version}" + (" (ending)" if run.is_ending else ""),
        )
        for run in found.runs
    ]
    columns = (
        "run",
        "shards",
        "in work",
        "queued",
        "results",
        "results/s",
        "started (UTC)",
        "team",
        "agent",
    )
    numbers = ("shards", "in work", "queued", "results", "results/s")
    optional = ("started (UTC)", "team", "queued", "results")
    print_table(columns, rows, right=numbers, optional=optional, ids=("run",))


def _print_chores(found: QueueOverview) -> None:
    if not found.chores:
        return
    rows = [
        (one.kind, str(one.waiting), str(one.in_work), str(one.failed), _seconds(one.lag_seconds))
        for one in found.chores
    ]
    columns = ("chore", "waiting", "in work", "failed", "lag")
    output.line("")
    print_table(columns, rows, right=columns[1:])


def _print_totals(totals: QueueTotals) -> None:
    figures = [
        f"{totals.results:,} results",
        output.counted(totals.takeovers, "takeover"),
        f"{totals.retries} {'retry' if totals.retries == 1 else 'retries'}",
        f"{totals.hand_backs} handed back",
        f"{totals.reconciled} reconciled",
    ]
    output.line("")
    output.line(f"since the queue was made: {', '.join(figures)}")


def _words(one: Stuck) -> str:
    """One line: what waits, for how long, and why."""
    words = f"{one.agent_id} (run {one.run_id})"
    if one.shards:
        words = f"{output.counted(one.shards, 'shard')} of {words}"
    if one.waiting_seconds is not None:
        words += f", for {_seconds(one.waiting_seconds)}"
    return " ".join(output.plain(f"{words}: {one.reason}").plain.split())


def _seconds(value: float) -> str:
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"
