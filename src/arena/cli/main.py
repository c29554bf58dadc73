"""The command `arena`: its commands, loaded when they are called, and its exit codes.

Exit codes: 0 success, 1 a gate that the user set was missed, 2 usage error, 3 infrastructure.
"""

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from arena import __version__
from arena.cli.options import Options
from arena.errors import ArenaError, CallerError, Unauthorized

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("arena.cli.init", "Make a project: an agent, three tests, a CI file."),
    "run": ("arena.cli.run", "Benchmark an agent and show how it did."),
    "runs": ("arena.cli.runs", "List, show, compare, resume and cancel benchmark runs."),
    "baseline": ("arena.cli.baseline", "Name runs that later runs are compared with."),
    "review": ("arena.cli.review", "Judge what waits for people, item by item."),
    "leaderboard": ("arena.cli.leaderboard", "Show the agents, best first."),
    "suites": ("arena.cli.suites", "List, show and compare suites and their versions."),
    "archive": ("arena.cli.archive", "Hide, restore and delete runs and agents."),
    "report": ("arena.cli.report_page", "Write a run or the leaderboard as a self-contained page."),
    "compare": ("arena.cli.compare", "Compare agents: where do they differ?"),
    "feedback": ("arena.cli.feedback", "Rate an agent with 1 to 5 stars."),
    "scores": ("arena.cli.scores", "Recalculate scores from the raw data."),
    "tests": ("arena.cli.tests", "List, show, lint and audit the tests."),
    "agents": ("arena.cli.agents", "List, show and check the agents."),
    "evaluate": ("arena.cli.evaluate", "Judge a submission by a standard."),
    "sandbox": ("arena.cli.sandbox", "See whether untrusted code can be isolated here."),
    "standard": ("arena.cli.standard", "Seal a standard: hide cases until the verdict."),
    "verify": ("arena.cli.verify", "Check a verdict record: does it hold?"),
    "content": ("arena.cli.content", "Store, fetch and transfer content by CID."),
    "task": ("arena.cli.task", "Post, apply for, submit and judge paid tasks."),
    "ledger": ("arena.cli.ledger", "Test money: balances, history, audit."),
    "join": ("arena.cli.join", "Register an agent in the market and let it work."),
    "start": ("arena.cli.start", "Let an agent find tasks, do them and earn."),
    "judge": ("arena.cli.judge", "Judge submitted tasks; measure the models that judge."),
    "chain": ("arena.cli.chain", "The market on a chain: node, contract, keys."),
    "worker": ("arena.cli.worker", "Take work from the queue: runs on many machines."),
    "workers": ("arena.cli.workers", "Show workers, the queue, and what is stuck."),
    "serve": ("arena.cli.serve", "Serve the API on port 5109."),
}
"""Each command's module (its `app`) and the line that `--help` shows."""


class LazyGroup(TyperGroup):
    """A group that imports a command only when it is called, so that `--help` is fast."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][0])
        command: Any = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands, from the table only."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def print_version(is_requested: bool) -> None:
    """Print the version for `--version` anywhere among the options."""
    if is_requested:
        print(f"arena {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=False)
def arena(
    context: typer.Context,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Use this Arena server (default: work in this process)."),
    ] = None,
    team: Annotated[str | None, typer.Option(metavar="NAME", help="Work for this team.")] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Measure AI agents: run tests against them, see how they did, compare."""
    context.obj = Options(server=server, team=team)


def run() -> None:
    """Run the command line; every error becomes one line and an exit code here."""
    try:
        app()
    except ArenaError as error:
        message = error.message
        if isinstance(error, Unauthorized):
            message = f"{message.rstrip('.')}; commands send the one in ARENA_TOKEN"
        print(f"error: {message}", file=sys.stderr)
        sys.exit(2 if isinstance(error, CallerError) else 3)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader (head, less) has exited; Python must not flush again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
