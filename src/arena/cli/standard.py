"""`arena standard`: seal standards."""

import json
from pathlib import Path
from typing import Annotated, cast

import typer

from arena.assembly import open_arena
from arena.cli import output
from arena.cli.connection import settings_of, wait_for
from arena.cli.files import create_file, read_json_file
from arena.cli.options import Json, commands
from arena.content.store import MAX_BYTES
from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.sealed import SealedFolder, commitment_of, seal, seal_name, write_private_part
from arena.settings import Settings

app = commands("Standards.")

PublicFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where the public part goes (default: NAME.public.json next to the file).",
    ),
]


@app.callback()
def main() -> None:
    """Standards."""


@app.command("seal")
def seal_standard(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A test_cases standard; - for standard input.")
    ],
    to: PublicFile = None,
    private: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where the private part goes (default: into the home)."),
    ] = None,
    public: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help='The first N cases are public (default: see "hidden").'
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Split a standard into a public and a private part.

    The public part has commitments to the hidden cases, which are in the private one.

    Cases with "hidden": true are hidden. Neither file is overwritten. The judge needs the private
    part; the verdict reveals its cases, and anyone can check that they are the sealed ones.
    """
    to = to or _beside(file)
    document, openings = seal(read_json_file(file, max_bytes=MAX_BYTES), public=public)
    commitments = [commitment_of(opening) for opening in openings]
    settings = settings_of(context)
    home = SealedFolder(settings.sealed_folder)
    is_at_home = private is None
    if private is None:
        home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        private = home.path(commitments)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    # The private part first: a public part without it could never be judged.
    create_file(private, write_private_part(openings), mode=0o600)
    try:
        create_file(to, text.encode())
    except BaseException:
        # It is useless without its public part, and would block a second attempt.
        private.unlink()
        raise
    if is_at_home and settings.is_queued:
        wait_for(_publish(settings))
    summary = {
        "public": str(to),
        "private": str(private),
        "seal": seal_name(commitments),
        "public_cases": len(cast("list[object]", document["cases"])),
        "hidden_cases": len(openings),
    }
    if as_json:
        output.print_json(summary)
        return
    shown = output.counted(len(cast("list[object]", document["cases"])), "public case")
    output.line(f"{to}: {shown}, {len(openings)} sealed; safe to publish")
    output.line(f"{private}: the hidden cases; keep it secret until the verdict")
    if not is_at_home:
        output.line(f"the judge must put it at {home.path(commitments)}")


async def _publish(settings: Settings) -> None:
    """Let the workers use the new private part."""
    async with open_arena(settings) as arena:
        try:
            await arena.publish_sealed()
        except InfrastructureError as error:
            typer.echo(
                f"{error.message}; the workers cannot use the hidden cases yet: they can as soon "
                "as a run is started here",
                err=True,
            )


def _beside(file: str) -> Path:
    """Where the public part goes by default."""
    if file == "-":
        raise InvalidInput("name the file for the public part: -o FILE")
    return Path(file).with_suffix(".public.json")
