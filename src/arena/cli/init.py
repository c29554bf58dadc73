"""`arena init`: make a project."""

import contextlib
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.options import commands
from arena.errors import InvalidInput
from arena.files import write_atomically
from arena.project import FILE_NAME, HOME_NAME, default_name, name_problem

TEMPLATE = Path(__file__).parent / "project_template"
IGNORED = ".gitignore"
TESTS = "tests/first.yaml"
FILES = {
    "agents/my-agent.yaml": "my-agent.yaml",
    "agents/my_agent.py": "my_agent.py",
    TESTS: "first.yaml",
    ".github/workflows/arena.yml": "workflow.yml",
    IGNORED: "gitignore",
    FILE_NAME: FILE_NAME,
}
"""Each file of a project, and its template. The one that makes the folder a project is last."""

app = commands()


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where; made if missing (default: here).")
    ] = Path(),
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its name (default: the folder's).")
    ] = None,
    builtin: Annotated[
        bool, typer.Option("--builtin", help="Include the bundled tests and agents.")
    ] = False,
) -> None:
    """Make a project: an agent, three tests, arena.toml and a CI file."""
    root = Path(os.path.realpath(folder))
    chosen = _name(root, name)
    texts = _texts(chosen, builtin=builtin)
    has_ignored = os.path.lexists(root / IGNORED)
    if has_ignored:
        del texts[IGNORED]  # the user's own stays as it is
    _refuse_existing(root, texts)
    _write(root, texts)
    output.line(f"The project {chosen} is in {root}:")
    for path in texts:
        output.line(f"  {path}")
    if has_ignored:
        output.line(f"{IGNORED} was there already; see that it has a line for {HOME_NAME}/")
    output.line("\nNext:")
    for command in _next_commands(folder, root):
        output.line(f"  {command}")


def _name(root: Path, given: str | None) -> str:
    name = root.name if given is None else given
    problem = name_problem(name)
    if problem is None:
        return name
    if given is not None:
        raise InvalidInput(problem)
    raise InvalidInput(f"{problem}; use --name {default_name(root) or 'NAME'}")


def _texts(name: str, *, builtin: bool) -> dict[str, str]:
    texts = {path: (TEMPLATE / file).read_text("utf-8") for path, file in FILES.items()}
    texts[FILE_NAME] = texts[FILE_NAME].replace("PROJECT_NAME", name)
    if builtin:
        texts[FILE_NAME] = texts[FILE_NAME].replace("builtin = false", "builtin = true ")
        # Otherwise the bundled agents would be asked them too, and fail.
        limited = "    agents: [my-agent]\n    prompt:"
        texts[TESTS] = texts[TESTS].replace("    prompt:", limited)
    return texts


def _refuse_existing(root: Path, texts: dict[str, str]) -> None:
    """Refuse to make a project over the user's files."""
    taken = [path for path in texts if os.path.lexists(root / path)]
    folders = dict.fromkeys(parent for path in texts for parent in (root / path).parents)
    taken += [str(one) for one in folders if os.path.lexists(one) and not one.is_dir()]
    if taken:
        raise InvalidInput(
            f"nothing was written to {root}, because these exist: {', '.join(taken)}; "
            "move them, or choose another folder"
        )


def _write(root: Path, texts: dict[str, str]) -> None:
    """Write every file; if that fails or is interrupted, remove what was written."""
    made: list[Path] = []
    path = FILE_NAME
    try:
        for path, text in texts.items():
            _make_folder((root / path).parent, made)
            write_atomically(root / path, text.encode(), overwrite=False)
            made.append(root / path)
    except BaseException as error:  # also Ctrl-C
        for one in reversed(made):
            with contextlib.suppress(OSError):  # somebody else uses the folder now
                one.rmdir() if one.is_dir() else one.unlink()
        if not isinstance(error, OSError):
            raise
        message = f"nothing was kept: {root / path} cannot be written: {error.strerror}"
        raise InvalidInput(message) from None


def _make_folder(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it, and add the new ones to `made`."""
    if not folder.is_dir():
        _make_folder(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def _next_commands(folder: Path, root: Path) -> list[str]:
    commands = [
        "arena agents check my-agent    # does it answer at all?",
        "arena run my-agent             # three tests; it fails one of them",
        "arena leaderboard              # its score, and how certain that is",
    ]
    if root != Path.cwd():
        commands.insert(0, f"cd {shlex.quote(str(folder))}")
    return commands
