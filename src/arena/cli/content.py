"""`arena content`: bytes by CID, on this machine or a server."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import connected, settings_of, wait_for
from arena.cli.files import read_file, write_file
from arena.cli.options import Json, commands
from arena.content.archive import read_archive, write_archive
from arena.content.store import LocalStore
from arena.errors import InvalidInput
from arena.evaluation.record import contents_of
from arena.operations.content import ContentImported, ContentKept

app = commands("Content by CID.")

# Without a server the store is used as it is: an archive may be larger than any request.

FileName = Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")]
ContentName = Annotated[str, typer.Argument(metavar="CID", help="The name of the content.")]


@app.command()
def put(context: typer.Context, file: FileName, as_json: Json = False) -> None:
    """Keep a file and print its CID."""
    settings = settings_of(context)
    store = LocalStore(settings.content_folder)
    data = read_file(file, max_bytes=store.max_bytes)

    async def ask() -> ContentKept:
        async with connected(settings) as client:
            return await client.put_content(data)

    kept = wait_for(ask()) if settings.server else ContentKept(cid=store.put(data), bytes=len(data))
    if as_json:
        output.print_json(kept)
    else:
        output.line(kept.cid)


@app.command()
def get(
    context: typer.Context,
    cid: ContentName,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there.")
    ] = None,
) -> None:
    """Print the content that a CID names, verified."""
    settings = settings_of(context)

    async def ask() -> bytes:
        async with connected(settings) as client:
            return await client.content(cid)

    data = wait_for(ask()) if settings.server else LocalStore(settings.content_folder).get(cid)
    if to is not None:
        write_file(to, data)
        return
    if sys.stdout.isatty() and not _is_harmless(data):
        raise InvalidInput("not text: it could upset the terminal; write it to a file with -o")
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def _is_harmless(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return all(c.isprintable() or c in "\n\t" for c in text)


@app.command()
def export(
    context: typer.Context,
    cids: Annotated[list[str], typer.Argument(metavar="CID...", help="What to pack.")],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The archive.")],
) -> None:
    """Pack contents into one file (CAR); a verdict record brings what it speaks of."""
    settings = settings_of(context)

    async def ask() -> bytes:
        async with connected(settings) as client:
            return await client.export_content(cids)

    store = LocalStore(settings.content_folder)
    data = wait_for(ask()) if settings.server else write_archive(store, contents_of(store, cids))
    write_file(to, data)
    output.line(f"{to}: {len(data)} bytes")


@app.command("import")
def import_(context: typer.Context, file: FileName, as_json: Json = False) -> None:
    """Keep all that an archive holds and print the CIDs it was made for."""
    settings = settings_of(context)
    store = LocalStore(settings.content_folder)
    data = read_file(file, max_bytes=3 * store.max_bytes)

    async def ask() -> ContentImported:
        async with connected(settings) as client:
            return await client.import_content(data)

    imported = (
        wait_for(ask()) if settings.server else ContentImported(roots=read_archive(store, data))
    )
    if as_json:
        output.print_json(imported)
    else:
        for root in imported.roots:
            output.line(root)
