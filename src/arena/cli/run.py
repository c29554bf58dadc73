"""`arena run`: benchmark an agent."""

import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console

from arena.catalog.test import CatalogState
from arena.cli.connection import open_operations, resume_hint, settings_of, wait_for
from arena.cli.gate import exit_code
from arena.cli.options import AgentName, AgentsPath, FailUnder, Json, TestsPath, commands
from arena.cli.run_report import print_run
from arena.errors import InvalidInput
from arena.fields import split_agent
from arena.operations.runs import RunOperations
from arena.operations.tests import TestOperations
from arena.runs.run import Progress, Run

app = commands()


class GatedRunOperations(TestOperations, RunOperations):
    """Operations of a gated run: the gate also checks for test files with problems."""


@app.command()
def run(
    context: typer.Context,
    agent: AgentName,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only tests of this category.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this test (repeatable).")
    ] = None,
    tests: TestsPath = None,
    agents: AgentsPath = None,
    trials: Annotated[
        int | None, typer.Option(min=1, max=1000, metavar="N", help="Trials of each test.")
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=256, metavar="N", help="Questions at once (default: the agent's)."),
    ] = None,
    fail_under: FailUnder = None,
    as_json: Json = False,
) -> None:
    """Benchmark an agent and show its results."""
    agent_id, version = split_agent(agent)
    settings = settings_of(context, tests, agents)

    async def finished() -> Run:
        async with open_operations(settings, GatedRunOperations) as arena:
            if fail_under is not None and tests:
                _refuse_problems(await arena.catalog(), tests)
            created = await arena.create_run(
                agent_id,
                version=version,
                category=category,
                test_ids=test or None,
                trials=trials,
                concurrency=concurrency,
            )
            with resume_hint(context, settings, created.run_id, agents):
                await arena.execute_run(created.run_id, wait=False)
                title = f"{created.agent_id} {created.version}"
                return await finish(arena, created.run_id, title, fail_under, as_json=as_json)

    raise typer.Exit(exit_code(wait_for(finished()), fail_under))


def _refuse_problems(catalog: CatalogState, paths: Sequence[Path]) -> None:
    """Refuse files with problems: a test that is left out could not fail the gate."""
    for problem in catalog.problems:
        if any(Path(problem.file).is_relative_to(path) for path in paths):
            raise InvalidInput(
                f"{problem.file} has problems, so its tests would not count for --fail-under; "
                f"see them with: {shlex.join(['arena', 'tests', 'lint', *map(str, paths)])}"
            )


async def finish(
    arena: RunOperations, run_id: UUID, title: str, fail_under: float | None, *, as_json: bool
) -> Run:
    """Follow a started run to its end and show its results, and its gate if it has one."""
    await follow(arena, run_id, title, is_quiet=as_json)
    return await print_run(arena, run_id, fail_under, as_json=as_json)


async def follow(arena: RunOperations, run_id: UUID, title: str, *, is_quiet: bool = False) -> None:
    """Show a run's progress until it has ended."""
    events = arena.watch(run_id)
    if is_quiet or not sys.stderr.isatty():
        async for _ in events:
            pass
        return
    await _show_bar(events, title)


async def _show_bar(events: AsyncIterator[Progress], title: str) -> None:
    # Imported here: only a terminal needs it, and loading it takes as long as printing a table.
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[green]{task.fields[passed]} passed[/] [red]{task.fields[failed]} failed[/]"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None, passed=0, failed=0)
        async for now in events:
            bar.update(
                task,
                total=now.total,
                completed=now.completed,
                passed=now.passed,
                failed=now.failed,
            )
