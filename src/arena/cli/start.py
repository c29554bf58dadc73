"""`arena start`: an agent that finds tasks, does them and earns, until it is stopped."""

import asyncio
import json
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

import typer

from arena.amounts import Amount
from arena.cli import output
from arena.cli.connection import open_operations, settings_of, wait_for
from arena.cli.executor import CommandExecutor, solver_words, task_line
from arena.cli.options import Json, commands
from arena.cli.parties import AsAgent, signer_of
from arena.cli.task_report import values_of
from arena.client.journal import Journal
from arena.client.loop import AgentLoop
from arena.client.loop_options import LoopEvent, LoopOptions
from arena.client.waiting import until_reachable
from arena.errors import InvalidInput
from arena.market.signing import Prover
from arena.operations.operations import Operations
from arena.settings import Settings

T = TypeVar("T")

app = commands()

Exec = Annotated[
    str | None,
    typer.Option(
        "--exec",
        metavar="COMMAND",
        help="The solver: task JSON on stdin, result on stdout. Without it: events on stdout.",
    ),
]
MinReward = Annotated[
    str | None, typer.Option(metavar="AMOUNT", help="Ignore tasks that pay less.")
]
MaxConcurrent = Annotated[
    int,
    typer.Option(
        min=1, max=100, metavar="N", help="Tasks at a time, assigned or just applied for."
    ),
]
Poll = Annotated[
    float,
    typer.Option(min=0.1, max=3600, metavar="SECONDS", help="The longest time between two polls."),
]
Timeout = Annotated[
    float,
    typer.Option(
        min=0.1, max=86_400, metavar="SECONDS", help="The time limit of the command per task."
    ),
]
Retries = Annotated[
    int, typer.Option(min=0, max=20, metavar="N", help="Retries of a failed execution.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what it would apply for, and do nothing.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How an agent should work."""

    solver: Sequence[str] | None
    """The words of the command that does the tasks."""
    options: LoopOptions
    timeout_seconds: float
    dry_run: bool
    as_json: bool
    version: str | None = None
    """If set, the agent is first registered with it."""
    register_only: bool = False


@app.command()
def start(
    context: typer.Context,
    command: Exec = None,
    agent: AsAgent = None,
    min_reward: MinReward = None,
    max_concurrent: MaxConcurrent = 1,
    poll: Poll = 5.0,
    timeout: Timeout = 300.0,
    retries: Retries = 2,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Let a registered agent work: apply, execute, submit, follow the outcome."""
    settings = settings_of(context)
    order = Start(
        solver=None if command is None else solver_words(command),
        options=loop_options(min_reward, max_concurrent, poll, retries),
        timeout_seconds=timeout,
        dry_run=dry_run,
        as_json=as_json,
    )
    wait_for(work(settings, signer_of(settings, agent), order))


def loop_options(
    min_reward: str | None, max_concurrent: int, poll: float, retries: int
) -> LoopOptions:
    """The options of the loop, checked."""
    if min_reward is not None:
        try:
            Amount.parse(min_reward)
        except ValueError as error:
            raise InvalidInput(f"--min-reward: {error}") from None
    return LoopOptions(
        min_reward=min_reward, max_concurrent=max_concurrent, poll_seconds=poll, retries=retries
    )


async def work(settings: Settings, signer: Prover, start: Start) -> None:
    """Work until a signal arrives; unfinished work is in the journal."""
    async with open_operations(settings, Operations) as client:
        client.signer = signer
        market = (await _reached(settings, start, client.market)).market
        folder = settings.home / "work" / market / signer.agent
        execute = None
        if start.solver is not None:
            # The folder's name in 0.1: another one would not find jobs that are still running.
            errands = folder / "errands"
            execute = CommandExecutor(start.solver, errands, timeout_seconds=start.timeout_seconds)
        if start.version is not None and not start.dry_run:
            register = partial(client.register, version=start.version)
            agent = await _reached(settings, start, register)
            _note(f"{agent.id} {agent.version} is registered")
        if start.register_only and not start.dry_run:
            return
        # If it never worked here, a dry run must not leave a folder behind.
        journal = Journal(folder) if folder.is_dir() or not start.dry_run else None
        loop = AgentLoop(client, execute=execute, options=start.options, journal=journal)
        if start.dry_run:
            await _show_candidates(loop, start)
            return
        loop.on("*", lambda event: _print(event, start))
        if execute is not None:
            # By then the result is in the journal, or the command runs again: the job's files
            # are not needed.
            for kind in ("retrying", "submitted", "failed"):
                loop.on(kind, lambda event: event.task and execute.forget(event.task.id))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, loop.stop)
        _note(f"{signer.agent} is looking for tasks (stop with Ctrl-C)")
        await loop.run()


async def _reached(settings: Settings, start: Start, call: Callable[[], Awaitable[T]]) -> T:
    """The result of a call; an agent waits for a server that is away, a dry run does not."""
    if settings.server is None or start.dry_run:
        return await call()
    return await until_reachable(call, _note)


async def _show_candidates(loop: AgentLoop, start: Start) -> None:
    tasks = (await loop.candidates())[: await loop.room()]
    for task in tasks:
        _print(LoopEvent(kind="candidate", task=task), start)
    if not tasks:
        _note("nothing to apply for now")


def _print(event: LoopEvent, start: Start) -> None:
    """An event: a JSON line for programs, text for people."""
    is_for_programs = start.as_json or start.solver is None
    text = json.dumps(_document(event), ensure_ascii=False) if is_for_programs else _text(event)
    output.line(text, at_once=True)


def _document(event: LoopEvent) -> dict[str, Any]:
    document: dict[str, Any] = {"event": f"task_{event.kind}"}
    if event.task is None:
        document["event"] = event.kind
    else:
        document |= json.loads(task_line(event.task))
        task = event.task
        more = {
            "state": task.state,
            "deadline": task.deadline.isoformat(),
            "resultHash": task.result_hash,
            "score": task.score,
            "reasonURI": task.reason_uri,
            "payout": str(task.payout) if event.kind in ("paid", "expired") else None,
        }
        document |= {name: value for name, value in more.items() if value is not None}
    if event.reason:
        document["reason"] = event.reason
    return document


TEXTS = {
    "candidate": "would be applied for: {reward} {currency}",
    "applied": "applied for: {reward} {currency}",
    "assigned": "assigned",
    "submitted": "submitted as {result_hash}",
    "judged": "judged: score {score}; why: arena verify {reason_uri}",
    "paid": "paid: {payout} {currency}",
    "refunded": "not paid: the poster was refunded",
    "expired": "expired: {expiry_reason}; paid: {payout} {currency}",
    "failed": "failed: {reason}; submit it yourself: arena task submit {id} FILE",
    "retrying": "will be retried: {reason}",
}


def _text(event: LoopEvent) -> str:
    if event.task is None:
        return f"{event.kind}: {event.reason}"
    text = TEXTS[event.kind].format(**values_of(event.task), reason=event.reason)
    return f"task {event.task.id} {text}"


def _note(text: str) -> None:
    """Print to standard error, so that standard output has only events."""
    typer.echo(text, err=True)
