"""Options of `arena` itself, and those that several commands share."""

import getpass
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
By = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who does it, for the log (default: the user).")
]
TestsPath = Annotated[
    list[Path] | None,
    typer.Option("--tests", metavar="PATH", help="One more file or folder of tests (repeatable)."),
]
AgentsPath = Annotated[
    list[Path] | None,
    typer.Option(
        "--agents", metavar="PATH", help="One more file or folder of agents (repeatable)."
    ),
]
AgentName = Annotated[
    str, typer.Argument(help="AGENT, or AGENT@VERSION (default: the newest).", metavar="AGENT")
]
Language = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The language of the code (default: by the file's ending)."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(min=0, max=100, metavar="PERCENT", help="Exit with 1 if the score is below this."),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="NAME|RUN|AGENT@VERSION",
        help="At the end, compare with this run.",
    ),
]
FailOnRegression = Annotated[
    bool,
    typer.Option(
        "--fail-on-regression",
        help="Exit with 1 if the run is significantly worse than its baseline; at most about 5 of "
        "100 runs without a change do so by chance.",
    ),
]
FailOnNewFailure = Annotated[
    bool,
    typer.Option(
        "--fail-on-new-failure",
        help="Exit with 1 if a test that always passed in the baseline never passes now: for "
        "agents that answer the same every time; others raise more false alarms.",
    ),
]
JunitFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="At the end, write JUnit XML (-: standard output)."),
]
MarkdownFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="At the end, write a Markdown summary."),
]
CsvFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="At the end, write a CSV file, a row per result."),
]
JsonlFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="At the end, write JSON Lines, a line per result."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Which server to use, and for which team."""

    server: str | None = None
    team: str | None = None


def caller() -> str:
    """Who runs this command, for the log."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under an id without a name
        return "operator"


def commands(summary: str | None = None) -> typer.Typer:
    """A group of commands; `summary` is the first line of its help."""
    return typer.Typer(
        no_args_is_help=True, help=summary, add_completion=False, rich_markup_mode=None
    )
