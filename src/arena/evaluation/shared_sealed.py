"""The private parts of sealed standards for machines that share a database and no disk.

They are secrets until the verdict: whoever can read the database can read them, so a worker is a
trusted machine, and no interface of Arena reads this table.
"""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.sealed import (
    SealedFolder,
    commitment_of,
    read_private_file,
    read_private_part,
    seal_name,
)
from arena.evaluation.verdict import Opening
from arena.postgres import Connection, Postgres

log = logging.getLogger(__name__)

Key = tuple[str, str]
"""A team, empty for the server itself, and the name of one of its parts."""

_FIND = "SELECT body FROM arena_sealed_parts WHERE team_id = %s AND name = %s"
_SAME = """
SELECT team_id, name FROM arena_sealed_parts
JOIN unnest(%b::text[], %b::text[], %b::bytea[]) AS ours (team_id, name, digest)
USING (team_id, name) WHERE sha256(body) = digest
"""
_ADD = """
INSERT INTO arena_sealed_parts (team_id, name, body) VALUES (%s, %s, %b)
ON CONFLICT (team_id, name) DO UPDATE SET body = excluded.body
"""


class SharedSealed:
    """The private parts on this machine, and behind them those in the database. Calls block."""

    def __init__(self, folder: SealedFolder, postgres: Postgres, team_id: str = "") -> None:
        self._folder = folder
        self._postgres = postgres
        self._team_id = team_id

    def of_team(self, team_id: str) -> "SharedSealed":
        """Those of one team, which other teams cannot unseal."""
        return SharedSealed(self._folder.of_team(team_id), self._postgres, team_id)

    def __call__(self, commitments: Sequence[str]) -> Sequence[Opening] | None:
        """The openings; None if they are neither here nor in the database."""
        found = self._folder(commitments)
        if found is not None:
            return found
        key = [self._team_id, seal_name(commitments)]
        row = self._postgres.run(
            lambda connection: connection.execute(_FIND, key, binary=True).fetchone(),
            is_patient=True,
        )
        if row is None:
            return None
        try:
            return read_private_part(bytes(row[0]))
        except InvalidInput as error:
            raise InfrastructureError(
                f"the private part {key[1]} in the database: {error.message}", retryable=False
            ) from None

    def publish(self) -> int:
        """Copy the parts in the folder, and those of its teams, into the database.

        Only those that the database lacks or has damaged; returns how many. A file that is not what
        its name says is left out, so that it never replaces the right one of another machine.
        """
        parts = dict(self._parts())
        same = self._same(parts)
        missing = {key: path for key, path in parts.items() if key not in same}
        return sum(self._add(key, path) for key, path in missing.items())

    def _parts(self) -> Iterator[tuple[Key, Path]]:
        for team_id, folder in (("", self._folder), *self._folder.teams()):
            for path in folder.parts():
                yield (team_id, path.stem), path

    def _same(self, parts: Mapping[Key, Path]) -> set[Key]:
        """The parts that the database has as they are here."""
        if not parts:
            return set()
        digests = [hashlib.sha256(read_private_file(path)).digest() for path in parts.values()]
        ours = [team_id for team_id, _ in parts], [name for _, name in parts], digests
        rows = self._postgres.run(lambda connection: connection.execute(_SAME, ours).fetchall())
        return {(team_id, name) for team_id, name in rows}

    def _add(self, key: Key, path: Path) -> bool:
        body = read_private_file(path)
        if not _opens(key[1], body):
            log.warning("%s is not the private part that its name says", path)
            return False

        def write(connection: Connection) -> None:
            connection.execute(_ADD, [*key, body])

        self._postgres.run(write)
        return True


def _opens(name: str, body: bytes) -> bool:
    try:
        openings = read_private_part(body)
    except InvalidInput:
        return False
    return seal_name([commitment_of(opening) for opening in openings]) == name
