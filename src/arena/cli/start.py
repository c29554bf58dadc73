"""`arena start`: an agent that finds tasks, does them and earns, until it is stopped."""

import asyncio
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from arena import schemas
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.executor import CommandExecutor, solver_words, task_line
from arena.cli.options import Json, commands
from arena.cli.parties import AsAgent, acting, signer_of
from arena.client import AgentLoop, Journal, LoopEvent, LoopOptions, Signer
from arena.errors import InvalidInput
from arena.settings import Settings

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
    str | None, typer.Option(metavar="AMOUNT", help="Leave tasks that pay less alone.")
]
MaxConcurrent = Annotated[
    int,
    typer.Option(
        min=1, max=100, metavar="N", help="Tasks at a time, assigned or just applied for."
    ),
]
Poll = Annotated[
    float,
    typer.Option(min=0.1, max=3600, metavar="SECONDS", help="How often to look, at the least."),
]
Timeout = Annotated[
    float,
    typer.Option(min=0.1, max=86_400, metavar="SECONDS", help="What the command has for a task."),
]
Retries = Annotated[
    int, typer.Option(min=0, max=20, metavar="N", help="How often a failed execution is retried.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what it would apply for, and do nothing.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How an agent is to work."""

    solver: Sequence[str] | None
    """The words of the command that does the tasks."""
    options: LoopOptions
    timeout_seconds: float
    dry_run: bool
    as_json: bool
    version: str | None = None
    """Registered with it first, where it is set."""
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
    """Let an agent that has joined work: apply, execute, submit, see what came of it."""
    settings = settings_of(context)
    asked = Start(
        solver=None if command is None else solver_words(command),
        options=loop_options(min_reward, max_concurrent, poll, retries),
        timeout_seconds=timeout,
        dry_run=dry_run,
        as_json=as_json,
    )
    wait_for(work(settings, signer_of(settings, agent), asked))


def loop_options(
    min_reward: str | None, max_concurrent: int, poll: float, retries: int
) -> LoopOptions:
    """What the agent takes on."""
    if min_reward is not None:
        try:
            schemas.minor_units(min_reward)
        except ValueError as wrong:
            raise InvalidInput(f"--min-reward: {wrong}") from None
    return LoopOptions(
        min_reward=min_reward, max_concurrent=max_concurrent, poll_seconds=poll, retries=retries
    )


async def work(settings: Settings, signer: Signer, start: Start) -> None:
    """Work until a signal comes; exits with what is left written down."""
    async with connected(settings) as client:
        acting(client, signer)
        market = (await client.market()).market
        folder = settings.home / "work" / market / signer.agent
        execute = None
        if start.solver is not None:
            errands = folder / "errands"
            execute = CommandExecutor(start.solver, errands, timeout_seconds=start.timeout_seconds)
        if start.version is not None and not start.dry_run:
            agent = await client.register(version=start.version)
            _note(f"{agent.id} {agent.version} is registered")
        if start.register_only and not start.dry_run:
            return
        # Where it never worked, a look must not leave a folder behind.
        journal = Journal(folder) if folder.is_dir() or not start.dry_run else None
        loop = AgentLoop(client, execute=execute, options=start.options, journal=journal)
        if start.dry_run:
            await _show_candidates(loop, start)
            return
        loop.on("*", lambda event: _tell(event, start))
        if execute is not None:
            for kind in ("retrying", "submitted", "failed"):
                loop.on(kind, lambda event: event.task and execute.forget(event.task.id))
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, loop.stop)
        _note(f"{signer.agent} looks for tasks (stop with Ctrl-C)")
        await loop.run()


async def _show_candidates(loop: AgentLoop, start: Start) -> None:
    tasks = (await loop.candidates())[: await loop.room()]
    for task in tasks:
        _tell(LoopEvent(kind="candidate", task=task), start)
    if not tasks:
        _note("nothing to apply for now")


def _tell(event: LoopEvent, start: Start) -> None:
    """An event: a JSON line for programs, words for people."""
    is_for_programs = start.as_json or start.solver is None
    text = json.dumps(_document(event), ensure_ascii=False) if is_for_programs else _words(event)
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
            "payout": task.payout if event.kind in ("paid", "expired") else None,
        }
        document |= {name: value for name, value in more.items() if value is not None}
    if event.reason:
        document["reason"] = event.reason
    return document


WORDS = {
    "candidate": "would be applied for: {reward} {currency}",
    "applied": "applied for: {reward} {currency}",
    "assigned": "assigned",
    "submitted": "submitted as {result_hash}",
    "judged": "judged: score {score}; why: arena verify {reason_uri}",
    "paid": "paid: {payout} {currency}",
    "refunded": "not paid: the poster was refunded",
    "expired": "expired: {expiry_reason}; paid: {payout} {currency}",
    "failed": "failed: {reason}; hand it in yourself: arena task submit {id} FILE",
    "retrying": "tried again soon: {reason}",
}


def _words(event: LoopEvent) -> str:
    if event.task is None:
        return f"{event.kind}: {event.reason}"
    values = {name: getattr(event.task, name) for name in schemas.Task.model_fields}
    return f"task {event.task.id} {WORDS[event.kind].format(**values, reason=event.reason)}"


def _note(text: str) -> None:
    """Words beside the events: standard error, so that the events stay a clean stream."""
    typer.echo(text, err=True)
