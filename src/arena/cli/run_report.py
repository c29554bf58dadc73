"""Prints a run."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import indent
from typing import Any
from uuid import UUID

from rich.text import Text

from arena.catalog.suite import short_version
from arena.cli import output
from arena.cli.baseline_report import print_compared
from arena.cli.gate import Compared, Gate
from arena.cli.tables import print_table
from arena.models.budget import Budget, Spent
from arena.models.step import sources_text
from arena.operations.runs import RunDetails, RunOperations
from arena.runs.run import Agreement, Result, Run
from arena.scoring.board import Provenance
from arena.scoring.trials import Trials
from arena.text import percent_text, seconds_text

FEW = 40
"""Results printed at most, unless as JSON."""
FEW_TOOLS = 5
PROVENANCES = {
    Provenance.RUN_HERE: "run here",
    Provenance.RE_EXECUTED: "re-executed",
    Provenance.REPORTED: "reported",
}
"""Where a run was executed, for people."""


async def print_run(
    arena: RunOperations,
    run_id: UUID,
    gate: Gate | None = None,
    compared: Compared | None = None,
    *,
    as_json: bool,
) -> None:
    """Print a run with its gate and baseline: all of it as JSON, or a summary for people."""
    details = await arena.run(run_id, limit=1)
    run = details.run
    if as_json:
        async for piece in json_pieces(details, arena.results(run_id), gate, compared):
            output.line(piece, end="")
        return
    # Of a large run, only the failed results are printed.
    outcome = None if run.total_tests <= FEW else "failed"
    page = await arena.run(run_id, limit=FEW, outcome=outcome)
    _print_results(page)
    for result in page.results:
        if result.workspace is not None:
            remarks = f"files of {result.test_id}: {workspace_text(result.workspace)}"
            output.console().print(output.plain(remarks))
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
    if compared is not None:
        print_compared(compared, run, gate)
    for part in gate.parts if gate else ():
        style = {True: "green", False: "red", None: "yellow"}[part.passed]
        screen.print(output.plain(str(part)), style=style)


async def json_pieces(
    details: RunDetails,
    results: AsyncIterator[Result],
    gate: Gate | None,
    compared: Compared | None = None,
) -> AsyncIterator[str]:
    """A run as JSON, in pieces: 20,000 results must not be in memory at once."""
    marker = '"results": []'  # quotes in texts are escaped, so no text can contain this
    empty = replace(details, results=[], count=0, next_cursor=None)
    yield _document(empty, gate, compared).partition(marker)[0] + '"results": ['
    count = 0
    async for result in results:
        text = indent(output.as_json(result, indent=2), "    ")
        yield f"{',' if count else ''}\n{text}"
        count += 1
    whole = replace(empty, count=count)
    closing = "\n  ]" if count else "]"
    yield closing + _document(whole, gate, compared).partition(marker)[2] + "\n"


def _document(details: RunDetails, gate: Gate | None, compared: Compared | None) -> str:
    """A run as JSON; with a gate also whether it is met, and why; with a baseline also that."""
    more: dict[str, object] = {}
    if gate is not None:
        more["gate"] = gate
    if compared is not None:
        more["baseline"] = {"name": compared.name, **output.jsonable(compared.comparison)}
    return output.as_json({**output.jsonable(details), **more} if more else details, indent=2)


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
    if result.messages:
        yield output.counted(sum(one.role == "user" for one in result.messages), "turn")
    if result.user.get("score", 100) < 100:
        yield f"the simulated user kept to its script for {result.user['score']:g} of 100"
    if result.steps:
        names = ", ".join(step.tool for step in result.steps[:FEW_TOOLS])
        more = ", …" if len(result.steps) > FEW_TOOLS else ""
        yield f"called {names}{more} ({sources_text(result.steps)})"


def workspace_text(workspace: Mapping[str, Any]) -> str:
    """What the agent did to its files, and what was not as it left it."""
    return "; ".join(_workspace_remarks(workspace))


def _workspace_remarks(workspace: Mapping[str, Any]) -> Iterator[str]:
    paths = [str(change["path"]) for change in workspace.get("changes", ())]
    more = ", …" if len(paths) > FEW_TOOLS else ""
    yield f"changed {', '.join(paths[:FEW_TOOLS])}{more}" if paths else "changed no file"
    if problems := workspace.get("problems"):
        yield f"{output.counted(len(problems), 'remark')} on its files: {problems[0]}"
    if workspace.get("is_protected") is False:
        yield "unprotected: the agent could have read the hidden files"


def summary(run: Run) -> Text:
    """One paragraph: who, how well, at what cost."""
    line = Text.assemble(
        (f"{run.agent_id} {run.agent_version}", "bold"), "  ", output.status(run.state), "  "
    )
    if run.is_archived:
        line.append("archived  ", "yellow")
    line.append(f"{run.passed_tests} of {run.total_tests} passed")
    if run.score_percent is not None:
        line.append(f"  score {percent_text(run.score_percent)}", "bold")
        line.append(f"  points {run.points_earned:g}/{run.points_possible:g}")
    line.append(f"\nrun {run.id}", "dim")
    if run.completed_at:
        line.append(f"  took {seconds_text(run.duration_seconds)}", "dim")
    if run.cost_usd:
        line.append(f"  cost ${run.cost_usd:.4f}", "dim")
    if run.budget:
        line.append(f"\nbudget: {budget_text(run.budget, run.spent or Spent())}", "dim")
    line.append_text(_origin(run))
    if run.error_message:
        line.append_text(output.plain(f"\n{run.error_message}"))
    return line.append_text(_next_step(run))


def _next_step(run: Run) -> Text:
    """How a run that was not measured to its end goes on."""
    line = Text()
    if run.status == "awaiting_review":
        items = output.counted(run.awaiting_tests, "answer")
        line.append(f"\n{items} to be judged by people: arena review --run {run.id}", "magenta")
    if run.status == "failed":
        line.append(f"\nfix the cause, then: arena runs resume {run.id}")
    if run.status == "budget_exceeded":
        line.append(f"\ncontinue with a larger budget, like: arena runs resume {run.id} ")
        line.append(_larger_budget(run))
    if run.is_interrupted:
        line.append(f"\ncontinue with: arena runs resume {run.id}")
    return line


def _larger_budget(run: Run) -> str:
    """Options that would let a run go on."""
    budget = run.budget or Budget()
    reached = (run.spent or Spent()).reached(budget)
    match reached and reached.name:
        case "max_cost":
            return f"--max-cost {2 * (budget.max_cost_usd or 0):g}"
        case "max_tokens":
            return f"--max-tokens {2 * (budget.max_tokens or 0)}"
        case "max_minutes":
            return f"--max-minutes {2 * (budget.max_minutes or 0):g}"
        case _:
            return "--allow-unknown-prices"


def budget_text(budget: Budget, spent: Spent) -> str:
    """What is spent of a budget, judges and simulated users included."""
    return ", ".join(limit.text for limit in spent.limits(budget))


def provenance_text(run: Run) -> str:
    """Where a run was executed, where nothing else says that a reported one is a claim."""
    claim = ", a claim" if run.provenance is Provenance.REPORTED else ""
    return PROVENANCES[run.provenance] + claim


def claim_text(run: Run) -> str:
    """What to add to a line about a run: that it is reported, if it is."""
    return f", {provenance_text(run)}" if run.provenance is Provenance.REPORTED else ""


def suite_text(run: Run) -> str:
    """The suite of a run, with the beginning of its version."""
    return f"{run.suite} {short_version(run.suite_version)}" if run.suite else ""


def verification_text(run: Run) -> str:
    """What was checked when a run was pushed."""
    checked = run.verification or {}
    answered = checked.get("of_results", 0) - checked.get("without_answer", 0)
    text = f"{checked.get('replayed', 0)} of {answered} verdicts replayed"
    if unproved := checked.get("unproved_tests"):
        text += f"; does not count for the board: {output.counted(unproved, 'test')} of the suite"
        text += " may apply to the agent"
    elif not run.is_full:
        text += "; does not count for the board: it covers only some tests"
    return text


def print_agreement(agreement: Agreement) -> None:
    """Print how far a run agrees with the one that it repeats."""
    output.line(
        f"{agreement.agreed} of {agreement.results} results agree with run "
        f"{agreement.source_run_id}"
    )
    words = {True: "passed", False: "failed", None: "not judged"}
    for one in agreement.differences[:FEW]:
        was, now = words[one.source_passed], words[one.passed]
        output.line(f"  {one.test_id} (trial {one.trial}): {was} then, {now} now")


def _origin(run: Run) -> Text:
    """The suite of a run, and where it was executed."""
    line = Text()
    if run.suite:
        line.append(f"\nsuite {suite_text(run)}", "dim")
        line.append(f"  {run.test_count} of {run.suite_tests} tests", "dim")
        if not run.is_full:
            line.append("  partial: does not count for the leaderboard", "yellow")
        line.append(f"  {PROVENANCES[run.provenance]}", "dim")
    if run.provenance is Provenance.REPORTED:
        line.append(f"\na claim: executed elsewhere as run {run.source_run_id}", "yellow")
        line.append(f"; {verification_text(run)}", "yellow")
        for reason, count in (run.verification or {}).get("reasons", {}).items():
            line.append(f"\n  not replayed: {count} ({reason})", "yellow")
    elif run.source_run_id is not None:
        line.append(f"  repeats run {run.source_run_id}", "dim")
    return line
