"""Writes the pages of the documentation that are made from the code: `make docs`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from arena.api import create_app
from arena.cli.main import app
from arena.settings import Settings

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
WIDTH = 80

CLI_HEAD = """# The command line

This page is what `arena --help` and the help of every command say; `make docs` writes it.

Exit codes: 0 all well, 1 a gate that you set was missed (`--fail-under`, `lint`, `audit`), 2 wrong
usage, 3 infrastructure or a gate that people have yet to decide, 130 interrupted. Every reading
command takes `--json` and prints the names of the API. Settings come from the command line, then
from `ARENA_*` variables, then from `arena.toml` in the present folder.
"""


def pages() -> dict[str, str]:
    """Each page by its name."""
    return {"cli.md": cli_page(), "openapi.json": openapi_page()}


def cli_page() -> str:
    """The help of every command."""
    parts = [CLI_HEAD]
    for name, told in _helps(typer.main.get_command(app), "arena", None):
        level = "##" if name.count(" ") < 2 else "###"
        parts.append(f"{level} {name}\n\n```text\n{told}\n```\n")
    return "\n".join(parts)


def _helps(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    """A command's name and help, then those of the commands in it."""
    context = command.make_context(
        name.rpartition(" ")[2],
        [],
        parent=parent,
        resilient_parsing=True,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
    )
    yield name, command.get_help(context).rstrip()
    for inner in getattr(command, "list_commands", lambda _: ())(context):
        yield from _helps(command.get_command(context, inner), f"{name} {inner}", context)


def openapi_page() -> str:
    """The description of the API."""
    document = create_app(Settings(home=Path("unused"))).openapi()
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every page that is not as it should be."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        path = FOLDER / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            sys.stdout.write(f"wrote {path.relative_to(Path.cwd())}\n")


if __name__ == "__main__":
    main()
