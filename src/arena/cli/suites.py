"""`arena suites`: the suites, their versions, and how these differ."""

from typing import Annotated

import typer

from arena.catalog.suite import short_version
from arena.cli import output
from arena.cli.connection import call
from arena.cli.options import Json, TestsPath, caller, commands
from arena.cli.tables import print_table
from arena.errors import InvalidInput
from arena.operations.boards import CURRENT, BoardOperations, SuiteDetails, SuiteDiff
from arena.text import UNKNOWN

app = commands("Suites: tests that are measured together, on a board of their own.")

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="The name of the suite.")]


@app.command("list")
def list_suites(context: typer.Context, tests: TestsPath = None, as_json: Json = False) -> None:
    """List the suites of the catalog, and those that were run before."""
    found = call(context, BoardOperations, lambda arena: arena.suites(), tests=tests)
    if as_json:
        output.print_json(found)
        return
    rows = [
        (
            row.suite + (" (default)" if row.is_default else ""),
            str(row.tests) if row.version else UNKNOWN,
            row.label or UNKNOWN,
            short_version(row.version) if row.version else UNKNOWN,
            short_version(row.shown_version) if row.shown_version else UNKNOWN,
            str(row.agents),
        )
        for row in found.suites
    ]
    columns = ("suite", "tests", "label", "version", "on its board", "agents")
    print_table(columns, rows, right=("tests", "agents"), optional=("label",))
    if found.ranks_reported:
        output.line("runs that were pushed from elsewhere are ranked")


@app.command("show")
def show(
    context: typer.Context, suite: SuiteName, tests: TestsPath = None, as_json: Json = False
) -> None:
    """Show a suite. Prints its versions, and tests that say little about agents."""
    found = call(context, BoardOperations, lambda arena: arena.suite(suite), tests=tests)
    if as_json:
        output.print_json(found)
        return
    now = found.suite
    label = f" {now.label}" if now.label else ""
    version = f" {short_version(now.version)}" if now.version else ""
    output.line(f"suite {suite}{label}{version}: {output.counted(now.tests, 'active test')}")
    _print_versions(found)
    _print_weak(found)


def _print_versions(found: SuiteDetails) -> None:
    if not found.versions:
        output.line(
            f"it has not been run yet; start with: arena run AGENT --suite {found.suite.suite}"
        )
        return
    rows = [
        (
            short_version(row.version),
            row.label or UNKNOWN,
            str(row.tests),
            str(row.agents),
            output.time_cell(row.current_since),
            "shown" if row.is_shown else "newer" if row.is_newer else "older",
        )
        for row in found.versions
    ]
    columns = ("version", "label", "tests", "agents", "current since (UTC)", "board")
    print_table(columns, rows, right=("tests", "agents"), optional=("label",))


def _print_weak(found: SuiteDetails) -> None:
    if found.quality is None or not found.quality.weak:
        return
    output.line("tests that say little about agents:")
    rows = [
        (
            one.test_id,
            one.weakness.replace("_", "-"),
            f"{one.passed}/{one.trials}",
            UNKNOWN if one.discrimination is None else f"{one.discrimination:+.2f}",
            "weak agents pass it more often: check its standard" if one.is_reversed else "",
        )
        for one in found.quality.weak
    ]
    print_table(("test", "weakness", "passed", "discrimination", ""), rows, right=("passed",))


@app.command("diff")
def diff(
    context: typer.Context,
    suite: SuiteName,
    before: Annotated[
        str, typer.Argument(metavar="A", help="A version: its label or first digits.")
    ],
    after: Annotated[
        str, typer.Argument(metavar="B", help="Another version (default: the files now).")
    ] = CURRENT,
    tests: TestsPath = None,
    as_json: Json = False,
) -> None:
    """Show which tests differ between two versions of a suite."""
    found = call(
        context, BoardOperations, lambda arena: arena.suite_diff(suite, before, after), tests=tests
    )
    if as_json:
        output.print_json(found)
    else:
        _print_diff(found)


def _print_diff(found: SuiteDiff) -> None:
    versions = f"{short_version(found.before)} to {short_version(found.after)}"
    output.line(f"suite {found.suite}, {versions}: {found.same} tests are the same")
    for test_id in found.added:
        output.line(f"+ {test_id}")
    for test_id in found.removed:
        output.line(f"- {test_id}")
    for test in found.edited:
        keys = f" ({', '.join(test.keys)})" if test.keys else ""
        output.line(f"~ {test.test_id}{keys}")


@app.command("default")
def default(context: typer.Context, suite: SuiteName) -> None:
    """Make a suite the default. Its board is the one that is shown first."""
    done = call(
        context, BoardOperations, lambda arena: arena.choose_default_suite(suite, by=caller())
    )
    output.line(done.message)


@app.command("reported")
def reported(
    context: typer.Context,
    rank: Annotated[
        bool | None,
        typer.Option("--rank/--no-rank", help="Whether they are ranked; give one of the two."),
    ] = None,
) -> None:
    """Decide whether runs that were pushed from elsewhere are ranked."""
    if rank is None:
        raise InvalidInput("give --rank or --no-rank: whether reported runs are ranked")
    done = call(context, BoardOperations, lambda arena: arena.rank_reported(rank, by=caller()))
    output.line(done.message)
