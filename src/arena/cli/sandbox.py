"""`arena sandbox`: whether this machine can isolate untrusted code."""

import asyncio
import json
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table

from arena.cli.options import Json, commands
from arena.sandbox.errors import ProbeStep
from arena.sandbox.namespace.probe import probe

app = commands("Where untrusted code runs, and whether it can on this machine.")


@app.callback()
def main() -> None:
    """Where untrusted code runs, and whether it can on this machine."""


@app.command()
def check(as_json: Json = False) -> None:
    """Try every step of the isolation. Reports what works, and how to fix what does not."""
    # Without settings or a server: it checks this machine only.
    steps = asyncio.run(probe())
    usable = all(step.works for step in steps if step.required)
    if as_json:
        document = {"usable": usable, "steps": [asdict(step) for step in steps]}
        typer.echo(json.dumps(document, indent=2))
    else:
        _show(steps, usable)
    if not usable:
        raise typer.Exit(3)


def _show(steps: list[ProbeStep], usable: bool) -> None:
    table = Table("step", "", "found", "what to do")
    for step in steps:
        mark = "yes" if step.works else ("NO" if step.required else "no")
        table.add_row(step.name, mark, step.detail, step.remedy)
    console = Console()
    console.print(table)
    if usable:
        console.print("Untrusted code can be isolated here.")
    else:
        console.print("Untrusted code is not run here until every required step works.")
