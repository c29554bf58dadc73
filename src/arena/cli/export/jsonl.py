"""JSON Lines: one result per line, with the fields of `--json`."""

from collections.abc import AsyncIterator

from arena.cli import output
from arena.cli.export.exported import ExportedRun, fields_of_run


async def pieces(exported: ExportedRun) -> AsyncIterator[str]:
    """A line per result. Each names its run, so that files of several runs can be joined."""
    details = exported.details
    head = {"schema_version": details.schema_version, **fields_of_run(details.run)}
    async for result in exported.results():
        # ASCII: some readers of lines also end a line at U+2028 or U+0085.
        yield output.as_json({**head, **output.jsonable(result)}, ascii_only=True) + "\n"
