"""How a run is shown to people."""

from collections.abc import AsyncIterator

from rich.text import Text

from arena import schemas
from arena.cli import output
from arena.client import Client

FEW = 40
"""A run with no more results is shown whole; of a larger one only what failed."""


def results_of(client: Client, run: schemas.Run) -> AsyncIterator[schemas.Result]:
    """The results that are worth a line."""
    if run.total_tests <= FEW:
        return client.results(run.id)
    return client.results(run.id, outcome="failed")


async def print_run(client: Client, details: schemas.RunDetails) -> None:
    """A run with all its results as JSON, in the shape that the API has for it."""
    results = [result async for result in client.results(details.run.id)]
    whole = {"results": results, "count": len(results), "next_cursor": None}
    output.print_json(details.model_copy(update=whole))


async def show_run(details: schemas.RunDetails, results: AsyncIterator[schemas.Result]) -> None:
    """A table of results and a summary."""
    run = details.run
    screen = output.console()
    columns = ("test", "trial", "category", "verdict", "points", "took", "why")
    if details.trials is None:
        columns = tuple(name for name in columns if name != "trial")
    lines = output.table("", *columns, right=("points", "took", "trial"))
    shown = 0
    async for result in results:
        if shown == FEW:
            break
        shown += 1
        lines.add_row(*_cells(result, columns))
    if shown:
        screen.print(lines)
    hidden = (run.failed_tests if run.total_tests > FEW else run.completed_tests) - shown
    if hidden > 0:
        screen.print(f"… and {hidden} more: arena runs show {run.id} --json", style="dim")
    for error in details.errors:
        told = f"not executed: {error.test_id} (trial {error.trial}): {error.reason}"
        screen.print(output.plain(told), style="yellow")
    if details.trials:
        screen.print(output.plain(repeats(details.trials)))
    screen.print(summary(run))


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
    verdict = "passed" if result.passed else "failed"
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
    if run.cost_usd is not None:
        line.append(f"  ${run.cost_usd:.4f}")
    line.append(f"\nrun {run.id}", "dim")
    if run.error_message:
        line.append_text(output.plain(f"\n{run.error_message}"))
    if run.status == "failed":
        line.append(f"\nmend it, then: arena runs resume {run.id}")
    return line
