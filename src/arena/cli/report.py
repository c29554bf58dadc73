"""How a run is shown to people."""

from uuid import UUID

from rich.text import Text

from arena import schemas
from arena.cli import output
from arena.cli.tables import print_table
from arena.client import Client

FEW = 40
"""No more results than this are shown to a person."""


async def print_run(client: Client, run_id: UUID, *, as_json: bool) -> schemas.Run:
    """Show a run: all of it to a program, what matters of it to a person."""
    details = await client.run(run_id, limit=1)
    run = details.run
    if as_json:
        results = [result async for result in client.results(run_id)]
        whole = {"results": results, "count": len(results), "next_cursor": None}
        output.print_json(details.model_copy(update=whole))
        return run
    # Of a large run only what failed is worth a line.
    outcome = None if run.total_tests <= FEW else "failed"
    page = await client.run(run_id, limit=FEW, outcome=outcome)
    _print_results(page)
    hidden = (run.completed_tests if outcome is None else run.failed_tests) - page.count
    if hidden > 0:
        output.line(f"… and {hidden} more: arena runs show {run.id} --json")
    screen = output.console()
    for error in details.errors:
        told = f"not executed: {error.test_id} (trial {error.trial}): {error.reason}"
        screen.print(output.plain(told), style="yellow")
    if details.trials:
        screen.print(output.plain(repeats(details.trials)))
    screen.print(summary(run))
    return run


def _print_results(page: schemas.RunDetails) -> None:
    if not page.results:
        return
    columns = ("test", "trial", "category", "verdict", "points", "took", "why")
    if page.trials is None:
        columns = tuple(name for name in columns if name != "trial")
    print_table(
        columns,
        [_cells(result, columns) for result in page.results],
        right=("points", "took", "trial"),
        optional=("category", "took"),
        lines=2,
    )


def repeats(trials: schemas.Trials) -> str:
    """What asking more than once has shown."""
    k = trials.k
    told = f"pass@{k} {share(trials.pass_at_k)}  pass^{k} {share(trials.pass_all_k)}"
    if trials.flaky:
        told += f"  flaky: {', '.join(trials.flaky[:FEW])}"
        told += ", …" if len(trials.flaky) > FEW else ""
    return told


def share(value: float | None) -> str:
    """A share of 1 in per cent."""
    return output.percent(None if value is None else 100 * value)


def _cells(result: schemas.Result, columns: tuple[str, ...]) -> list[Text | str]:
    verdict = {True: "passed", False: "failed", None: "awaiting"}[result.passed]
    if result.status != "completed":
        verdict = result.status
    cells: dict[str, Text | str] = {
        "test": result.test_id,
        "trial": str(result.trial),
        "category": result.category,
        "verdict": output.status(verdict),
        "points": f"{result.points_earned:g}/{result.points_possible:g}",
        "took": output.seconds(result.duration_seconds),
        "why": output.plain(result.failure_reason),
    }
    return [cells[column] for column in columns]


def summary(run: schemas.Run) -> Text:
    """One paragraph: who, how well, at what cost."""
    line = Text.assemble(
        (f"{run.agent_id} {run.agent_version}", "bold"), "  ", output.status(run.status), "  "
    )
    line.append(f"{run.passed_tests} of {run.total_tests} passed")
    if run.score_percent is not None:
        line.append(f"  score {output.percent(run.score_percent)}", "bold")
        line.append(f"  points {run.points_earned:g}/{run.points_possible:g}")
    line.append(f"\nrun {run.id}", "dim")
    if run.started_at and run.completed_at:
        took = (run.completed_at - run.started_at).total_seconds()
        line.append(f"  took {output.seconds(took)}", "dim")
    if run.cost_usd:
        line.append(f"  cost ${run.cost_usd:.4f}", "dim")
    if run.error_message:
        line.append_text(output.plain(f"\n{run.error_message}"))
    if run.status == "awaiting_review":
        items = output.counted(run.awaiting_tests, "answer")
        line.append(f"\n{items} to be judged by people: arena review --run {run.id}", "magenta")
    if run.status == "failed":
        line.append(f"\nmend it, then: arena runs resume {run.id}")
    return line
