"""JSON: the document that `--json` prints."""

from collections.abc import AsyncIterator

from arena.cli.export.exported import ExportedRun
from arena.cli.run_report import json_pieces


async def pieces(exported: ExportedRun) -> AsyncIterator[str]:
    """The run with all its results, its gate and its baseline."""
    gate, compared = exported.gate, exported.compared
    async for piece in json_pieces(exported.details, exported.results(), gate, compared):
        yield piece
