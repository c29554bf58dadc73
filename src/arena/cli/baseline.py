"""`arena baseline`: runs with a name that later runs are compared with."""

from typing import Annotated

import typer

from arena.cli import output
from arena.cli.baseline_run import BaselineRunOperations
from arena.cli.connection import call
from arena.cli.options import By, Json, caller, commands
from arena.cli.run_name import RunName, find_run
from arena.cli.run_report import claim_text
from arena.cli.tables import print_table
from arena.operations.baselines import BaselineOperations
from arena.runs.run import Run
from arena.scoring.baseline import Baseline, BaselineList
from arena.text import UNKNOWN, percent_text

app = commands("Baselines: runs with a name that later runs are compared with.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The baseline: for example main.")]
Suite = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Its suite, if several suites have this baseline."),
]


@app.command("set")
def set_baseline(
    context: typer.Context,
    name: Name,
    run: RunName,
    suite: Suite = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Give a completed, full run a name, or move the name to it."""

    async def named(arena: BaselineRunOperations) -> tuple[Baseline, Run]:
        run_id = await find_run(arena, run)
        made = await arena.set_baseline(name, run_id, suite=suite, by=by or caller())
        return made, (await arena.run(run_id, limit=1)).run

    made, of_run = call(context, BaselineRunOperations, named)
    output.show(made, lambda one: output.line(_text(one) + claim_text(of_run)), as_json=as_json)


@app.command("list")
def list_baselines(
    context: typer.Context,
    suite: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only baselines of this suite.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the baselines."""
    listed = call(context, BaselineOperations, lambda arena: arena.baselines(suite=suite))
    output.show(listed, _print_list, as_json=as_json)


@app.command("remove")
def remove_baseline(
    context: typer.Context, name: Name, suite: Suite = None, as_json: Json = False
) -> None:
    """Remove a baseline; its run stays."""
    removed = call(
        context, BaselineOperations, lambda arena: arena.remove_baseline(name, suite=suite)
    )
    output.show(
        removed, lambda one: output.line(f"removed {one.name} of {one.suite}"), as_json=as_json
    )


def _text(baseline: Baseline) -> str:
    agent = f"{baseline.agent_id}@{baseline.agent_version}"
    score = percent_text(baseline.score_percent)
    return f"{baseline.name} of {baseline.suite} is run {baseline.run_id} ({agent}, {score})"


def _print_list(listed: BaselineList) -> None:
    if not listed.baselines:
        output.line("no baselines; set one with: arena baseline set NAME RUN")
        return
    rows = [
        (
            one.name,
            one.suite,
            str(one.run_id),
            f"{one.agent_id}@{one.agent_version}" if not one.is_deleted else "deleted",
            percent_text(one.score_percent),
            output.time_cell(one.set_at),
            one.set_by or UNKNOWN,
        )
        for one in listed.baselines
    ]
    columns = ("baseline", "suite", "run", "agent", "score", "set (UTC)", "by")
    optional = ("by", "set (UTC)", "suite")
    print_table(columns, rows, right=("score",), optional=optional, ids=("run",))
