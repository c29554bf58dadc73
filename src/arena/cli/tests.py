"""`arena tests`: list, show, lint and audit tests."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from arena.catalog.test import AuditFinding, CatalogState, Test, TestAudit, WrittenTest
from arena.cli import output
from arena.cli.connection import call, settings_of
from arena.cli.files import create_file
from arena.cli.options import Json, TestsPath, commands
from arena.cli.progress import progress
from arena.cli.shown_test import shown_test
from arena.cli.tables import print_table, print_values
from arena.errors import nearest
from arena.operations.tests import TestOperations

app = commands("The tests.")
MAX_NAMED = 10
"""Tests that a line names."""


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
    print_values(shown_test(output.jsonable(test)))


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


@app.command("schema")
def print_schema() -> None:
    """Print a JSON Schema of test files, for editors."""
    # Imported here to save start-up: it builds every standard.
    from arena.catalog.file_schema import file_schema

    output.print_json(file_schema())


Write = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write it to a new file (default: standard output)."),
]
NewId = Annotated[str | None, typer.Option("--id", metavar="TEST", help="The id of the new test.")]


@app.command("from-result")
def from_result(
    context: typer.Context,
    result: Annotated[
        str,
        typer.Argument(
            metavar="RESULT", help="Its id, the beginning of it, or RUN:TEST (latest:my_test)."
        ),
    ],
    write: Write = None,
    test_id: NewId = None,
    as_json: Json = False,
) -> None:
    """Write a test of what happened in a result.

    What was asked, the tools with the answers that they gave, and the standard of the original
    test; the agent's answer stands in a comment.
    """
    # Imported here to save start-up: it loads the operations of runs.
    from arena.cli.written_test import test_of_result

    _print_written(test_of_result(context, result, test_id), write, as_json)


@app.command("from-execution")
def from_execution(
    context: typer.Context,
    execution: Annotated[str, typer.Argument(metavar="ID", help="Its id, or its idempotency key.")],
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="What a good answer contains; repeatable (default: the answer that it gave, if "
            "it completed).",
        ),
    ] = None,
    write: Write = None,
    test_id: NewId = None,
    as_json: Json = False,
) -> None:
    """Write a test of a reported execution that has messages."""
    written = call(
        context,
        TestOperations,
        lambda arena: arena.test_from_execution(execution, expect=expect, test_id=test_id),
    )
    _print_written(written, write, as_json)


def _print_written(written: WrittenTest, write: Path | None, as_json: bool) -> None:
    if write is not None:
        create_file(write, written.yaml.encode())
    if as_json:
        output.print_json(written)
    elif write is not None:
        output.line(f"{write}: the test {written.test_id}")
    else:
        typer.echo(written.yaml, nl=False)


@app.command("audit")
def audit_tests(
    context: typer.Context,
    tests: TestsPath = None,
    fix_hints: Annotated[
        bool, typer.Option("--fix-hints", help="Say how to close each hole.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Also report tests that a bare list of their own keywords passes."
        ),
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="Also audit tests that a model judges; costs money.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Report tests that can be passed without doing what they ask.

    Also solutions that do not pass their own test. Exit with 1 if there are any.
    """

    async def audit(arena: TestOperations) -> TestAudit:
        report = await arena.audit_tests(judge=judge)
        if not report.pending:
            return report
        total = len(report.left_out) + report.audited + report.pending
        with progress("auditing", total, is_quiet=as_json) as on_progress:
            while report.pending:  # each call audits a part
                on_progress(total - report.pending)
                report = await arena.audit_tests(judge=judge)
        return report

    report = call(context, TestOperations, audit, tests=tests)
    findings = [*report.findings, *(report.weaknesses if strict else ())]
    if as_json:
        output.print_json(_audit_json(report, findings))
    else:
        _print_audit(report, findings, with_hints=fix_hints, is_strict=strict)
    raise typer.Exit(1 if findings else 0)


def _audit_json(report: TestAudit, findings: Sequence[AuditFinding]) -> dict[str, object]:
    weaknesses = sorted({finding.test_id for finding in report.weaknesses})
    return {
        "findings": list(findings),
        "tests": report.audited + len(report.left_out),
        "solved": report.solved,
        "weaknesses": weaknesses,
        "left_out": report.left_out,
    }


def _print_audit(
    report: TestAudit, findings: Sequence[AuditFinding], *, with_hints: bool, is_strict: bool
) -> None:
    if findings:
        rows = [(finding.test_id, _agent_of(finding), finding.reason) for finding in findings]
        print_table(("test", "passed by", "because"), rows, lines=2)
    if with_hints:
        for test_id, hint in dict.fromkeys((one.test_id, one.hint) for one in findings):
            output.line(f"{test_id}: {hint}")
    count = report.audited + len(report.left_out)
    broken = {finding.test_id for finding in findings if finding.kind == "solution"}
    weak = {finding.test_id for finding in findings if finding.kind != "solution"}
    is_cheated = any(finding.kind == "cheat" for finding in findings)
    how = "without doing anything, or by cheating" if is_cheated else "without doing anything"
    output.line(f"{len(weak)} of {count} tests can be passed {how}")
    if broken or report.solved:
        output.line(f"{report.solved} of {report.solved + len(broken)} solutions pass their test")
    words = len({finding.test_id for finding in report.weaknesses})
    if words and not is_strict:
        passed = output.counted(words, "test")
        output.line(f"a bare list of the keywords in its standard passes {passed}: see --strict")
    if report.left_out:
        names = ", ".join(report.left_out[:MAX_NAMED])
        more = len(report.left_out) - MAX_NAMED
        names += f" and {more:,} more (--json has all)" if more > 0 else ""
        output.line(f"not audited, needs a model, a person or a sandbox: {names}")


def _agent_of(finding: AuditFinding) -> str:
    return "not its solution" if finding.kind == "solution" else finding.agent
