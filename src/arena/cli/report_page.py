"""`arena report`: a run or the leaderboard as a self-contained page."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from arena.cli import output
from arena.cli.connection import open_operations, settings_of, wait_for
from arena.cli.options import commands
from arena.cli.run_name import RUN_HELP, find_run
from arena.dashboard.report.board_page import board_page
from arena.dashboard.report.pages import DATA, RunReport, run_page, write_report
from arena.errors import InvalidInput
from arena.operations.operations import Operations
from arena.runs.run import Result
from arena.settings import Settings

app = commands()

MOST_TESTS = 1000
"""Tests fetched with their prompts; more would make the page too large to open."""

BOARD_ROWS = 1000


@app.command()
def report(
    context: typer.Context,
    html: Annotated[
        Path, typer.Option("--html", metavar="DIR", help="The folder to write the page to.")
    ],
    run: Annotated[str | None, typer.Argument(metavar="RUN", help=RUN_HELP)] = None,
    leaderboard: Annotated[
        bool, typer.Option("--leaderboard", help="The leaderboard instead of a run.")
    ] = False,
    category: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="On the leaderboard, only tests of this category count."),
    ] = None,
) -> None:
    """Write a run, or the leaderboard, as one self-contained page."""
    if (run is None) != leaderboard:
        raise InvalidInput("name a RUN or --leaderboard, one of the two")
    if category and run is not None:
        raise InvalidInput("--category goes with --leaderboard; a run's page can be filtered")

    async def fetch(settings: Settings) -> tuple[str, str]:
        async with open_operations(settings, Operations) as arena:
            if run is not None:
                return await _run(arena, await find_run(arena, run))
            return await _board(arena, await _team(arena, settings), category)

    page, data = wait_for(fetch(settings_of(context)))
    output.line(f"wrote {write_report(html, page, data)}")


async def _run(arena: Operations, run_id: UUID) -> tuple[str, str]:
    # Only the run itself; all results come page by page below.
    details = await arena.run(run_id, limit=1)
    results = [result async for result in arena.results(run_id)]
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.test_id, result)
    tests = {
        test_id: (await arena.result(run_id, result.id)).test
        for test_id, result in list(first.items())[:MOST_TESTS]
    }
    whole = replace(details, results=results, count=len(results), next_cursor=None)
    data = json.loads(output.as_json(whole))
    data["tests"] = [json.loads(output.as_json(test)) for test in tests.values()]
    page = run_page(RunReport(details=details, results=results, tests=tests), DATA)
    return page, json.dumps(data, indent=1, ensure_ascii=False)


async def _team(arena: Operations, settings: Settings) -> str:
    """The team of the page: the one that was set, or the token's."""
    if settings.server and settings.token and not settings.names_team:
        return (await arena.teams()).teams[0]
    return settings.team


async def _board(arena: Operations, team: str, category: str | None) -> tuple[str, str]:
    board = await arena.leaderboard(category=category, limit=BOARD_ROWS)
    page = board_page(board, team=team, category=category, data_name=DATA)
    return page, output.as_json(board, indent=1)
