"""`arena content`: content by CID, on this machine or a server."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import output
from arena.cli.connection import call
from arena.cli.files import read_file, write_file
from arena.cli.options import Json, commands
from arena.content.cid import parse_cid
from arena.content.store import MAX_BYTES
from arena.errors import InvalidInput
from arena.operations.content import ContentOperations, ContentPublished

app = commands("Content by CID.")

FileName = Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")]
ContentName = Annotated[str, typer.Argument(metavar="CID", help="The CID of the content.")]


@app.command()
def put(context: typer.Context, file: FileName, as_json: Json = False) -> None:
    """Store a file and print its CID."""
    data = read_file(file, max_bytes=MAX_BYTES)
    kept = call(context, ContentOperations, lambda arena: arena.put_content(data))
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
    """Print the content with this CID, verified."""
    data = call(context, ContentOperations, lambda arena: arena.content(cid))
    if to is not None:
        write_file(to, data)
        return
    if sys.stdout.isatty() and not _is_harmless(data):
        raise InvalidInput(
            "not plain text: it could garble the terminal; write it to a file with -o"
        )
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
    """Pack contents into one file (CAR). A verdict record includes what it refers to."""
    data = call(context, ContentOperations, lambda arena: arena.export_content(cids))
    write_file(to, data)
    output.line(f"{to}: {len(data)} bytes")


@app.command("import")
def import_(context: typer.Context, file: FileName, as_json: Json = False) -> None:
    """Store the content of an archive. Prints the CIDs it was created for."""
    # Larger than one content: an archive has several, such as a record and what it refers to.
    data = read_file(file, max_bytes=3 * MAX_BYTES)
    imported = call(context, ContentOperations, lambda arena: arena.import_content(data))
    if as_json:
        output.print_json(imported)
    else:
        for root in imported.roots:
            output.line(root)


@app.command()
def fetch(context: typer.Context, cid: ContentName, as_json: Json = False) -> None:
    """Store content that is in the IPFS network, verified.

    A verdict record includes what it refers to. Exits with 3 if no source has it yet.
    """
    fetched = call(context, ContentOperations, lambda arena: arena.fetch_content(cid))
    if as_json:
        output.print_json(fetched)
        return
    for one in fetched.cids:
        output.line(one)


@app.command()
def publish(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="CID|FILE", help="Stored content, a file, or - for stdin.")
    ],
    as_json: Json = False,
) -> None:
    """Add content to the IPFS network, for anyone to read.

    A verdict record includes what it refers to. Needs a Kubo daemon (ARENA_KUBO_URL), which pins
    it; nobody can take back what others have copied.
    """
    data = read_file(name, max_bytes=MAX_BYTES) if _is_file(name) else None

    async def added(arena: ContentOperations) -> ContentPublished:
        cid = name if data is None else (await arena.put_content(data)).cid
        return await arena.publish_content(cid)

    published = call(context, ContentOperations, added)
    if as_json:
        output.print_json(published)
        return
    for one in published.cids:
        output.line(f"{one}  {published.published_to}")


def _is_file(name: str) -> bool:
    """Whether a name is that of a file, and not a CID."""
    if name == "-" or Path(name).exists():
        return True
    try:
        parse_cid(name)
    except InvalidInput:
        return True  # a missing file: reading it reports that
    return False
