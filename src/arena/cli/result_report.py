"""Prints the results of one test of a run in full."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from arena.catalog.test import Test
from arena.cli import output
from arena.cli.conversation import as_text
from arena.cli.run_report import workspace_text
from arena.errors import NotFound
from arena.models.step import step_line
from arena.operations.results import ResultDetails
from arena.operations.results import ResultOperations as Operations
from arena.runs.run import Result
from arena.runs.user import user_text
from arena.text import seconds_text


async def print_results(arena: Operations, run_id: UUID, test_id: str, *, as_json: bool) -> None:
    """Print every trial of the test: its conversation or output, its verdict and why."""
    rows = await arena.result_rows(run_id, test_id=test_id)
    if not rows.results:
        raise NotFound(f"run {run_id} has no result of the test {test_id!r}")
    found = [await arena.result(run_id, row.id) for row in rows.results]
    if as_json:
        output.print_json({"results": found, "count": len(found)})
        return
    for details in sorted(found, key=lambda one: one.result.trial):
        print_result(details)


def print_result(details: ResultDetails) -> None:
    """Print one trial: what was said and done, the verdict, the changed files."""
    result, screen = details.result, output.console()
    trial = f", trial {result.trial}" if result.trial > 1 or details.test.trials > 1 else ""
    screen.print(output.plain(f"{result.test_id}{trial}"), style="bold")
    screen.print(_said(result, details.test))
    screen.print()
    verdict = {True: "passed", False: "failed", None: "awaiting"}[result.passed]
    line = output.status(verdict if result.status == "completed" else result.status)
    line.append(f"  points {result.points_earned:g}/{result.points_possible:g}")
    line.append(f"  took {seconds_text(result.duration_seconds)}")
    screen.print(line)
    if result.failure_reason:
        screen.print(output.plain(result.failure_reason))
    for finding in result.findings:
        mark = "✓" if finding.passed else "✗"
        screen.print(output.plain(f"{mark} {finding.criterion}: {finding.reason}"))
    if text := user_text(result.user):
        screen.print(output.plain(text), style="dim")
    if result.workspace is not None:
        screen.print(output.plain("\n".join(_files(result.workspace))))
    screen.print()


def _said(result: Result, test: Test) -> object:
    if result.messages:
        return as_text(result.messages, result.steps or ())
    tools = "".join(f"tool: {step_line(step)}\n" for step in result.steps or ())
    answer = (result.actual_output or {}).get("output", "")
    return output.plain(f"asked: {test.prompt}\n\n{tools}answer:\n{answer}")


def _files(workspace: Mapping[str, Any]) -> Iterator[str]:
    """What the agent did to its files, and the difference."""
    yield f"files: {workspace_text(workspace)}"
    if diff := workspace.get("diff"):
        yield str(diff).rstrip()
