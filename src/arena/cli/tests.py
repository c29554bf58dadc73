"""`arena tests`: what is asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from arena import schemas
from arena.assembly import open_sandbox
from arena.catalog import AuditFinding, Test, audit, lint, load_catalog
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import Json, TestsDir, commands
from arena.cli.tables import print_table, print_values
from arena.errors import nearest
from arena.evaluation.resources import Resources
from arena.settings import Settings

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
    tests: TestsDir = None,
    as_json: Json = False,
) -> None:
    """List the active tests."""

    async def fetch(settings: Settings) -> tuple[list[schemas.Test], schemas.CatalogState]:
        async with connected(settings) as client:
            found = await client.tests(category=category, agent_id=agent)
            if not found:
                typer.echo(_why_none(category, agent, await client.tests()), err=True)
            return found, await client.catalog()

    settings = settings_of(context, tests)
    found, catalog = wait_for(fetch(settings))
    for problem in catalog.problems if settings.server else ():  # here the log has told them
        place = f"{problem.file}:{problem.line}:{problem.column}"
        output.console(stderr=True).print(output.plain(f"{place}: {problem.message}"))
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


def _why_none(category: str | None, agent: str | None, every: Sequence[schemas.Test]) -> str:
    """What may be wrong with a question that no test answers to."""
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
    tests: TestsDir = None,
    as_json: Json = False,
) -> None:
    """Show one test: its prompt and what a good answer is."""

    async def fetch(settings: Settings) -> schemas.Test:
        async with connected(settings) as client:
            return await client.test(test_id)

    test = wait_for(fetch(settings_of(context, tests)))
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
    """Report every problem of every test file; exit with 1 where there is one."""
    settings = settings_of(context)
    if paths:
        report = lint(paths)
    else:
        report = load_catalog(settings.tests, home=settings.home / "benchmarks")
    if as_json:
        told = [
            {"file": p.file, "line": p.line, "column": p.column, "message": p.message}
            for p in report.problems
        ]
        output.print_json({"problems": told, "count": len(told)})
    else:
        for problem in report.problems:
            output.line(output.plain(str(problem)).plain)
        counts = (("problem", report.problems), ("file", report.sources), ("test", report.tests))
        problems, files, good = (output.counted(len(found), word) for word, found in counts)
        output.line(f"{problems} in {files}, which offer {good}")
    raise typer.Exit(1 if report.problems else 0)


@app.command("audit")
def audit_tests(context: typer.Context, tests: TestsDir = None, as_json: Json = False) -> None:
    """Report each active test that an agent passes which does nothing; exit with 1 if any."""
    settings = settings_of(context, tests)
    catalog = load_catalog(settings.tests, home=settings.home / "benchmarks")
    active = [test for test in catalog.tests if test.active]
    findings = wait_for(_audit(settings, active))
    if as_json:
        told = [{"test_id": f.test_id, "agent": f.agent, "reason": f.reason} for f in findings]
        output.print_json({"findings": told, "tests": len(active)})
    elif findings:
        rows = [(finding.test_id, finding.agent, finding.reason) for finding in findings]
        print_table(("test", "passed by", "because"), rows, lines=2)
    if not as_json:
        weak = len({finding.test_id for finding in findings})
        output.line(f"{weak} of {len(active)} tests can be passed without doing anything")
    raise typer.Exit(1 if findings else 0)


async def _audit(settings: Settings, tests: Sequence[Test]) -> list[AuditFinding]:
    sandbox = open_sandbox(settings)
    try:
        return await audit(tests, Resources(sandbox=sandbox))
    finally:
        await sandbox.close()
