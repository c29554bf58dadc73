"""Options of `arena` itself, and those that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Which server to use, and for which team."""

    server: str | None = None
    team: str | None = None


def commands(summary: str | None = None) -> typer.Typer:
    """A group of commands; `summary` is the first line of its help."""
    return typer.Typer(
        no_args_is_help=True, help=summary, add_completion=False, rich_markup_mode=None
    )
