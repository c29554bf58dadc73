"""Prints a run."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from textwrap import indent
from uuid import UUID

from rich.text import Text

from arena.cli import output
from arena.cli.gate import Gate, gate_of
from arena.cli.tables import print_table
from arena.operations.runs import RunDetails, RunOperations
from arena.runs.run import Result, Run
from arena.scoring.trials import Trials
from arena.text import percent_text, seconds_text

FEW = 40
"""Results printed at most, unless as JSON."""
FEW_TOOLS = 5


async def print_run(
    arena: RunOperations, run_id: UUID, fail_under: float | None = None, *, as_json: bool
) -> Run:
    """Print a run and its gate: all of it as JSON, or a summary for people."""
    details = await arena.run(run_id, limit=1)
    run = details.run
    gate = None if fail_under is None else gate_of(run, fail_under)
    if as_json:
        await _print_json(arena, details, gate)
        return run
    # Of a large run, only the failed results are printed.
    outcome = None if run.total_tests <= FEW else "failed"
    page = await arena.run(run_id, limit=FEW, outcome=outcome)
    _print_results(page)
    hidden = (run.completed_tests if outcome is None else run.failed_tests) - page.count
    if hidden > 0:
        output.line(f"… and {hidden} more: arena runs show {run.id} --json")
    screen = output.console()
    for error in details.errors:
        message = f"not executed: {error.test_id} (trial {error.trial}): {error.reason}"
        screen.print(output.plain(message), style="yellow")
    if details.trials:
        screen.print(output.plain(repeats(details.trials)))
    screen.print(summary(run))
    if gate is not None:
        style = {True: "green", False: "red", None: "yellow"}[gate.passed]
        screen.print(f"--fail-under {gate.minimum:g} {gate.reason}", style=style)
    return run


async def _print_json(arena: RunOperations, details: RunDetails, gate: Gate | None) -> None:
    """Write a run page by page: 20,000 results must not be in memory at once."""
    marker = '"results": []'  # quotes in texts are escaped, so no text can contain this
    empty = replace(details, results=[], count=0, next_cursor=None)
    output.line(_with_gate(empty, gate).partition(marker)[0] + '"results": [', end="")
    count = 0
    async for result in arena.results(details.run.id):
        text = indent(output.as_json(result, indent=2), "    ")
        output.line(f"{',' if count else ''}\n{text}", end="")
        count += 1
    whole = replace(empty, count=count)
    closing = "\n  ]" if count else "]"
    output.line(closing + _with_gate(whole, gate).partition(marker)[2])


def _with_gate(details: RunDetails, gate: Gate | None) -> str:
    """A run as JSON; a run with a gate also says whether it is met, and why."""
    return output.as_json(
        details if gate is None else {**output.jsonable(details), "gate": gate}, indent=2
    )


def _print_results(page: RunDetails) -> None:
    if not page.results:
        return
    columns = ("test", "trial", "category", "verdict", "points", "took", "why")
    if page.trials is None:
        columns = tuple(name for name in columns if name != "trial")
    print_table(
        columns,
        [_cells(result, columns) for result in _side_by_side(page.results)],
        right=("points", "took", "trial"),
        optional=("category", "took"),
        lines=2,
    )


def _side_by_side(results: Sequence[Result]) -> list[Result]:
    """The trials of a test one after the other; they are recorded in the order they finish."""
    places = {result.test_id: place for place, result in reversed(list(enumerate(results)))}
    return sorted(results, key=lambda result: (places[result.test_id], result.trial))


def repeats(trials: Trials) -> str:
    """The statistics of repeated trials."""
    k = trials.k
    text = f"pass@{k} {share(trials.pass_at_k)}  pass^{k} {share(trials.pass_all_k)}"
    if trials.flaky:
        text += f"  flaky: {', '.join(trials.flaky[:FEW])}"
        text += ", …" if len(trials.flaky) > FEW else ""
    return text


def share(value: float | None) -> str:
    """A share of 1 in per cent."""
    return percent_text(None if value is None else 100 * value)


def _cells(result: Result, columns: tuple[str, ...]) -> list[Text | str]:
    verdict = {True: "passed", False: "failed", None: "awaiting"}[result.passed]
    if result.status != "completed":
        verdict = result.status
    cells: dict[str, Text | str] = {
        "test": result.test_id,
        "trial": str(result.trial),
        "category": result.category,
        "verdict": output.status(verdict),
        "points": f"{result.points_earned:g}/{result.points_possible:g}",
        "took": seconds_text(result.duration_seconds),
        "why": output.plain("; ".join(_remarks(result))),
    }
    return [cells[column] for column in columns]


def _remarks(result: Result) -> Iterator[str]:
    """Why it failed, and what else a reader of the verdict should know."""
    if result.is_cut:
        yield "the answer was cut"
    if result.failure_reason:
        yield result.failure_reason
    if result.steps:
        yield f"called {', '.join(step.tool for step in result.steps[:FEW_TOOLS])}" + (
            ", …" if len(result.steps) > FEW_TOOLS else ""
        )


def summary(run: Run) -> Text:
    """One paragraph: who, how well, at what cost."""
    line = Text.assemble(
        (f"{run.agent_id} {run.agent_version}", "bold"), "  ", output.status(run.state), "  "
    )
    line.append(f"{run.passed_tests} of {run.total_tests} passed")
    if run.score_percent is not None:
        line.append(f"  score {percent_text(run.score_percent)}", "bold")
        line.append(f"  points {run.points_earned:g}/{run.points_possible:g}")
    line.append(f"\nrun {run.id}", "dim")
    if run.completed_at:
        line.append(f"  took {seconds_text(run.duration_seconds)}", "dim")
    if run.cost_usd:
        line.append(f"  cost ${run.cost_usd:.4f}", "dim")
    if run.error_message:
        line.append_text(output.plain(f"\n{run.error_message}"))
    if run.status == "awaiting_review":
        items = output.counted(run.awaiting_tests, "answer")
        line.append(f"\n{items} to be judged by people: arena review --run {run.id}", "magenta")
    if run.status == "failed":
        line.append(f"\nfix the cause, then: arena runs resume {run.id}")
    if run.is_interrupted:
        line.append(f"\ncontinue with: arena runs resume {run.id}")
    return line
