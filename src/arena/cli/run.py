"""`arena run`: benchmark an agent."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from arena.catalog.test import CatalogState
from arena.cli import output
from arena.cli.baseline_run import BaselineRunOperations, NamedBaseline, find_baseline
from arena.cli.budget import AllowUnknownPrices, MaxCost, MaxMinutes, MaxTokens, limits_of
from arena.cli.connection import open_operations, resume_hint, settings_of, wait_for
from arena.cli.ending import EndedRunOperations, ending
from arena.cli.following import follow
from arena.cli.gate import Gates
from arena.cli.options import (
    AgentName,
    AgentsPath,
    BaselineOption,
    CsvFile,
    FailOnNewFailure,
    FailOnRegression,
    FailUnder,
    Json,
    JsonlFile,
    JunitFile,
    MarkdownFile,
    TestsPath,
    commands,
)
from arena.cli.rerun import Rerun, RerunOperations, find_rerun
from arena.errors import CallerError, InvalidInput
from arena.fields import split_agent
from arena.operations.runs import RunCreated, RunOperations
from arena.operations.tests import TestOperations
from arena.settings import Settings

app = commands()

Category = Annotated[str | None, typer.Option(metavar="NAME", help="Only tests of this category.")]
TestIds = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Only this test (repeatable).")
]
Tags = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only tests with this tag (repeatable).")
]
Patterns = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Only tests whose id or name matches (repeatable)."),
]
SuiteOption = Annotated[
    str | None,
    typer.Option("--suite", metavar="NAME", help="The suite to run (default: the agent's)."),
]
FEW_FILES = 3
Trials = Annotated[
    int | None, typer.Option(min=1, max=1000, metavar="N", help="Trials of each test.")
]
Concurrency = Annotated[
    int | None,
    typer.Option(min=1, max=256, metavar="N", help="Questions at once (default: the agent's)."),
]


class GatedRunOperations(
    TestOperations, RerunOperations, BaselineRunOperations, EndedRunOperations
):
    """Operations of a gated run: the gate also checks for test files with problems."""


@app.command()
def run(
    context: typer.Context,
    agent: AgentName,
    suite: SuiteOption = None,
    category: Category = None,
    test: TestIds = None,
    tag: Tags = None,
    match: Patterns = None,
    rerun: Rerun = None,
    tests: TestsPath = None,
    agents: AgentsPath = None,
    trials: Trials = None,
    concurrency: Concurrency = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    max_minutes: MaxMinutes = None,
    allow_unknown_prices: AllowUnknownPrices = None,
    fail_under: FailUnder = None,
    baseline: BaselineOption = None,
    fail_on_regression: FailOnRegression = False,
    fail_on_new_failure: FailOnNewFailure = False,
    junit: JunitFile = None,
    markdown: MarkdownFile = None,
    csv: CsvFile = None,
    jsonl: JsonlFile = None,
    as_json: Json = False,
) -> None:
    """Benchmark an agent and show its results."""
    agent_id, version = split_agent(agent)
    settings = settings_of(context, tests, agents)
    files = {"junit": junit, "markdown": markdown, "csv": csv, "jsonl": jsonl}
    gates = Gates.of(fail_under, baseline, fail_on_regression, fail_on_new_failure)
    end = ending(gates, as_json=as_json, **files)

    chosen = {"suite": suite, "category": category, "trials": trials, "concurrency": concurrency}
    budget = limits_of(max_cost, max_tokens, max_minutes, allow_unknown_prices, settings)
    filters = {"test_ids": test or None, "tags": tag or None, "match": match or None}

    async def finished() -> int:
        async with open_operations(settings, GatedRunOperations) as arena:
            own = (*(tests or ()), *settings.project_tests)
            if gates.options and own and not settings.server:
                _refuse_problems(await arena.catalog(), own, gates)
            named = await find_baseline(arena, baseline)
            repeated = await find_rerun(arena, rerun, agent_id, version, suite)
            request: dict[str, Any] = {**chosen, **filters, **budget, "rerun_of": repeated}
            created = await arena.create_run(agent_id, version=version, **request)
            baseline_id = await _baseline_of(arena, named, created)
            if repeated is not None:
                print(f"only the tests that failed in run {repeated}", file=sys.stderr)
            with resume_hint(context, settings, created.run_id, agents):
                if end.prints and not as_json:
                    output.console().print(output.plain(_scope(created, settings)), style="dim")
                _announce(created)
                await arena.execute_run(created.run_id, wait=False)
                title = f"{created.agent_id} {created.version}"
                await follow(arena, settings, created.run_id, title, is_quiet=as_json)
                return await end.show(arena, created.run_id, baseline_id)

    raise typer.Exit(wait_for(finished()))


def _announce(created: RunCreated) -> None:
    """Say before the start why the run does not count, and whose cost is not known."""
    if created.partial_because:
        reason = f"partial, does not count for the board: {created.partial_because}"
        print(reason, file=sys.stderr)
    if created.unpriced_models:
        models = ", ".join(created.unpriced_models)
        print(f"no known price, so the cost is not counted: {models}", file=sys.stderr)


def _scope(created: RunCreated, settings: Settings) -> str:
    """Which tests are run: another project may have tests and agents with the same names."""
    shown = ", ".join(created.files[:FEW_FILES])
    more = f" and {len(created.files) - FEW_FILES} more" if len(created.files) > FEW_FILES else ""
    project = settings.project if not settings.server else None
    where = f"project {project.name} ({project.file}), " if project else ""
    return f"{where}suite {created.suite}: {shown}{more}"


async def _baseline_of(
    arena: RunOperations, named: NamedBaseline | None, created: RunCreated
) -> UUID | None:
    """The run to compare a new one with; without one for its suite, the new run is cancelled."""
    if named is None:
        return None
    try:
        return named.run_for(created.suite)
    except CallerError:
        await arena.cancel_run(created.run_id)
        raise


def _refuse_problems(catalog: CatalogState, paths: Sequence[Path], gates: Gates) -> None:
    """Refuse files with problems: a test that is left out could not fail the gate."""
    for problem in catalog.problems:
        if any(Path(problem.file).is_relative_to(path) for path in paths):
            raise InvalidInput(
                f"{problem.file} has problems, so its tests would not count for "
                f"{gates.options[0].partition(' ')[0]}; "
                f"see them with: {shlex.join(['arena', 'tests', 'lint', *map(str, paths)])}"
            )
