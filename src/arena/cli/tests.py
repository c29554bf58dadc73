"""`arena tests`: list, show, lint and audit tests."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.catalog.test import CatalogState, Test, TestAudit
from arena.cli import output
from arena.cli.connection import call, settings_of
from arena.cli.options import Json, TestsPath, commands
from arena.cli.tables import print_table, print_values
from arena.errors import nearest
from arena.operations.tests import TestOperations

app = commands("The tests.")


@app.command("list")
def list_tests(
    context: typer.Context,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this category.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Only tests for this agent.")
    ] = None,
    tests: TestsPath = None,
    as_json: Json = False,
) -> None:
    """List the active tests."""

    async def fetch(arena: TestOperations) -> tuple[list[Test], CatalogState]:
        found = await arena.tests(category=category, agent_id=agent)
        if not found:
            typer.echo(_why_none(category, agent, await arena.tests()), err=True)
        return found, await arena.catalog()

    found, catalog = call(context, TestOperations, fetch, tests=tests)
    if settings_of(context).server:  # in process, the log has reported the problems
        for problem in catalog.problems:
            output.console(stderr=True).print(output.plain(str(problem)))
    if as_json:
        output.print_json({"tests": found, "count": len(found)})
        return
    columns = ("test", "name", "category", "validation", "points", "timeout", "agents")
    rows = [
        (
            test.id,
            test.name,
            test.category,
            test.validation,
            f"{test.points:g}",
            f"{test.timeout_seconds} s",
            _agents(test.agents),
        )
        for test in found
    ]
    print_table(
        columns,
        rows,
        right=("points", "timeout"),
        optional=("agents", "timeout", "validation"),
    )
    output.line(f"{len(found)} tests, {sum(test.points for test in found):g} points")


def _why_none(category: str | None, agent: str | None, every: Sequence[Test]) -> str:
    """Why no test matches the filters."""
    categories = {test.category for test in every}
    if category is not None and category not in categories:
        return f"no test is of the category {category!r}{nearest(category, categories)}"
    if agent is None:
        return "there are no active tests"
    here = [test for test in every if category in (None, test.category)]
    agents = {name for test in here for name in test.agents or ()}
    return f"no test here is for the agent {agent!r}{nearest(agent, agents)}"


def _agents(names: Sequence[str] | None) -> str:
    return "everyone" if names is None else ", ".join(names) or "nobody"


@app.command("show")
def show(
    context: typer.Context,
    test_id: Annotated[str, typer.Argument(metavar="TEST", help="The id of the test.")],
    tests: TestsPath = None,
    as_json: Json = False,
) -> None:
    """Show one test: its prompt and what a good answer is."""
    test = call(context, TestOperations, lambda arena: arena.test(test_id), tests=tests)
    if as_json:
        output.print_json(test)
        return
    print_values(output.jsonable(test))


@app.command("lint")
def lint_files(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files or folders (default: all that is loaded)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Report every problem in test files; exit with 1 if there is one."""
    # Imported here to save start-up: the other commands may use a server.
    from arena.catalog.catalog import lint, load_catalog

    settings = settings_of(context)
    if paths:
        report = lint(paths, builtin=settings.has_builtin)
    else:
        report = load_catalog(
            settings.tests,
            project=settings.project_tests,
            home=settings.home / "benchmarks",
            builtin=settings.has_builtin,
        )
    if as_json:
        problems = [asdict(problem) for problem in report.problems]
        output.print_json({"problems": problems, "count": len(problems)})
    else:
        for problem in report.problems:
            output.line(output.plain(str(problem)).plain)
        counts = (("problem", report.problems), ("file", report.sources), ("test", report.tests))
        problems, files, good = (output.counted(len(found), word) for word, found in counts)
        output.line(f"{problems} in {files} with {good}")
    raise typer.Exit(1 if report.problems else 0)


@app.command("audit")
def audit_tests(context: typer.Context, tests: TestsPath = None, as_json: Json = False) -> None:
    """Report tests that can be passed by doing nothing. Exit with 1 if there are any."""

    async def audit(arena: TestOperations) -> TestAudit:
        while (report := await arena.audit_tests()).pending:
            pass  # each call audits a part
        return report

    report = call(context, TestOperations, audit, tests=tests)
    findings, count = report.findings, report.audited + len(report.left_out)
    if as_json:
        shown = [{"test_id": f.test_id, "agent": f.agent, "reason": f.reason} for f in findings]
        output.print_json({"findings": shown, "tests": count})
    elif findings:
        rows = [(finding.test_id, finding.agent, finding.reason) for finding in findings]
        print_table(("test", "passed by", "because"), rows, lines=2)
    if not as_json:
        weak = len({finding.test_id for finding in findings})
        output.line(f"{weak} of {count} tests can be passed without doing anything")
        if report.left_out:
            names = ", ".join(report.left_out)
            output.line(f"not audited, needs a model, a person or a sandbox: {names}")
    raise typer.Exit(1 if findings else 0)
