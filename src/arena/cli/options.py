"""What stands before the command, and the options that several commands share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
TestsDir = Annotated[
    list[Path] | None, typer.Option("--tests", help="One more folder with tests (repeatable).")
]
AgentsDir = Annotated[
    list[Path] | None, typer.Option("--agents", help="One more folder with agents (repeatable).")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Whom the command line talks to, and for which team."""

    server: str | None = None
    team: str | None = None
