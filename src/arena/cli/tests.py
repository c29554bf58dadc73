"""`arena tests`: what is asked."""

from pathlib import Path
from typing import Annotated

import typer

from arena import schemas
from arena.catalog import audit, load_catalog
from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.options import Json, TestsDir
from arena.settings import Settings

app = typer.Typer(no_args_is_help=True, help="The tests.", rich_markup_mode=None)


@app.command("list")
def list_tests(
    context: typer.Context,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    agent: Annotated[str | None, typer.Option(help="Only tests for this agent.")] = None,
    tests: TestsDir = None,
    as_json: Json = False,
) -> None:
    """List the active tests."""

    async def fetch(settings: Settings) -> tuple[list[schemas.Test], schemas.CatalogState]:
        async with connected(settings) as client:
            found = await client.tests(category=category, agent_id=agent)
            return found, await client.catalog()

    found, catalog = wait_for(fetch(settings_of(context, tests)))
    for problem in catalog.problems:
        place = f"{problem.file}:{problem.line}:{problem.column}"
        output.console(stderr=True).print(output.plain(f"{place}: {problem.message}"))
    if as_json:
        output.print_json({"tests": found, "count": len(found)})
        return
    columns = ("test", "name", "category", "validation", "points", "timeout", "agents")
    lines = output.table("", *columns, right=("points", "timeout"))
    for test in found:
        agents = test.applicable_agent_types
        lines.add_row(
            test.test_id,
            output.plain(test.name),
            test.category,
            test.validation_type,
            f"{test.points:g}",
            f"{test.timeout_seconds} s",
            "everyone" if agents is None else ", ".join(agents) or "nobody",
        )
    screen = output.console()
    screen.print(lines)
    screen.print(f"{len(found)} tests, {sum(test.points for test in found):g} points", style="dim")


@app.command("show")
def show(
    context: typer.Context, test_id: str, tests: TestsDir = None, as_json: Json = False
) -> None:
    """Show one test: its prompt and what a good answer is."""

    async def fetch(settings: Settings) -> schemas.Test:
        async with connected(settings) as client:
            return await client.test(test_id)

    test = wait_for(fetch(settings_of(context, tests)))
    if as_json:
        output.print_json(test)
        return
    screen = output.console()
    lines = output.table("", "key", "value")
    lines.show_header = False
    for key, value in test.model_dump(mode="json").items():
        if value not in (None, []):
            lines.add_row(key, output.plain(output.listed(value)))
    screen.print(lines)


@app.command("lint")
def lint_files(
    context: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders (default: all that is loaded).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Report every problem of every test file; exit with 1 where there is one."""
    settings = settings_of(context)
    if paths:
        report = load_catalog(paths, builtin=False)
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
            print(problem)
        files = len(report.sources)
        print(f"{len(report.problems)} problems in {files} files, {len(report.tests)} good tests")
    raise typer.Exit(1 if report.problems else 0)


@app.command("audit")
def audit_tests(context: typer.Context, tests: TestsDir = None, as_json: Json = False) -> None:
    """Report each active test that an agent passes which does nothing; exit with 1 if any."""
    settings = settings_of(context, tests)
    catalog = load_catalog(settings.tests, home=settings.home / "benchmarks")
    active = [test for test in catalog.tests if test.active]
    findings = wait_for(audit(active))
    if as_json:
        told = [{"test_id": f.test_id, "agent": f.agent, "reason": f.reason} for f in findings]
        output.print_json({"findings": told, "tests": len(active)})
    elif findings:
        lines = output.table("", "test", "passed by", "because")
        for finding in findings:
            lines.add_row(finding.test_id, finding.agent, output.plain(finding.reason))
        output.console().print(lines)
    if not as_json:
        weak = len({finding.test_id for finding in findings})
        print(f"{weak} of {len(active)} tests can be passed without doing anything")
    raise typer.Exit(1 if findings else 0)
