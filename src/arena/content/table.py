"""Content in a table of PostgreSQL, for machines that share a database and no disk."""

from collections.abc import Iterable, Sequence

from arena.content.cid import Cid
from arena.content.errors import ContentCorrupt
from arena.content.tree import V1, Block, Profile, cut
from arena.postgres import Connection, Postgres

BATCH_BYTES = 4 * 1024**2
"""The most that one statement sends."""
SMALL_BYTES = 64 * 1024
"""Up to this size, sending blocks costs less than asking which of them are missing."""

_FIND = "SELECT block FROM arena_content_blocks WHERE cid = %s"
_KNOWN = "SELECT cid FROM arena_content_blocks WHERE cid = ANY(%s)"
# Not DO UPDATE: it would lock the row of an unchanged standard for every record that refers to it.
_ADD = """
INSERT INTO arena_content_blocks (cid, block) SELECT * FROM unnest(%b::text[], %b::bytea[])
ON CONFLICT DO NOTHING
"""


class BlockTable:
    """The blocks in the database. Calls block."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres

    def put(self, data: bytes, *, profile: Profile = V1) -> str:
        """Store `data` and return its CID."""
        blocks = list(cut(data, profile))
        self.add(blocks)
        return str(blocks[-1][0])

    def add(self, blocks: Iterable[Block]) -> None:
        """Store verified blocks; those that are there already are skipped."""
        batch: dict[str, bytes] = {}
        size = 0
        for cid, block in blocks:
            if size + len(block) > BATCH_BYTES:
                self._add(batch, size)
                batch, size = {}, 0
            batch[str(cid.key)] = block
            size += len(block)
        self._add(batch, size)

    def find(self, cid: Cid) -> bytes | None:
        """One block, verified; None if it is not there."""
        key = str(cid.key)
        row = self._postgres.run(lambda one: one.execute(_FIND, [key], binary=True).fetchone())
        if row is None:
            return None
        block = bytes(row[0])
        if not cid.names(block):
            raise ContentCorrupt(
                f"the row {key} of arena_content_blocks was damaged: delete it, and put the "
                "content again on a machine that has it"
            )
        return block

    def _add(self, batch: dict[str, bytes], size: int) -> None:
        if not batch:
            return

        def write(connection: Connection) -> None:
            # Sorted, so that two machines with the same blocks never wait for each other.
            missing: Sequence[str] = sorted(batch)
            if size > SMALL_BYTES:
                known = {key for (key,) in connection.execute(_KNOWN, [missing])}
                missing = [key for key in missing if key not in known]
            if missing:
                connection.execute(_ADD, [missing, [batch[key] for key in missing]])

        self._postgres.run(write, is_patient=True)
