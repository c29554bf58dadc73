"""Hidden cases: what a standard commits to, and what opens a commitment.

A *commitment* is a hash of a case and of a random *salt*: it fixes the case and tells nothing of
it. An *opening*, the case with its salt, shows what was committed to, for each case by itself. The
openings of one standard together are its *private part*; a hash of its commitments finds it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import quote

from arena.content.canonical import canonical, read_canonical
from arena.errors import InfrastructureError, InvalidInput

DOMAIN = b"arena.sealed-case/1\0"
"""Keeps a commitment from being a hash of anything else."""
SALT_BYTES = 32
KIND = "sealed_cases"
MAX_PRIVATE_BYTES = 64 * 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A hidden case as its standard writes cases, and the salt of its commitment."""

    salt: str
    """64 hexadecimal digits."""
    case: Mapping[str, object]

    @property
    def commitment(self) -> str:
        """What a standard says instead of the case."""
        sealed = DOMAIN + bytes.fromhex(self.salt) + canonical(dict(self.case))
        return hashlib.sha256(sealed).hexdigest()


def seal_name(commitments: Sequence[str]) -> str:
    """What finds the private part that opens these commitments."""
    return hashlib.sha256(canonical(list(commitments))).hexdigest()


def unopened(commitments: Sequence[str], openings: Sequence[Opening]) -> str | None:
    """The first commitment that the openings do not open; None where they open all."""
    if len(openings) != len(commitments):
        return f"{len(commitments)} commitments with {len(openings)} openings"
    for place, (commitment, opening) in enumerate(zip(commitments, openings, strict=True)):
        if opening.commitment != commitment:
            return f"sealed[{place}]"
    return None


def write_private_part(openings: Sequence[Opening]) -> bytes:
    """The private part of a sealed standard."""
    cases = [{"salt": opening.salt, "case": dict(opening.case)} for opening in openings]
    return canonical({"type": KIND, "cases": cases})


def read_private_part(data: bytes) -> tuple[Opening, ...]:
    """The openings in a private part; InvalidInput where it is none."""
    document = read_canonical(data)
    if not isinstance(document, dict) or cast("dict[str, object]", document).get("type") != KIND:
        raise InvalidInput(f"it is not the private part of a sealed standard (type: {KIND})")
    cases = cast("dict[str, object]", document).get("cases")
    if not isinstance(cases, list):
        raise InvalidInput("the private part has no list of cases")
    return tuple(_opening(one, i) for i, one in enumerate(cast("list[object]", cases)))


def _opening(value: object, place: int) -> Opening:
    if isinstance(value, dict):
        document = cast("dict[str, object]", value)
        salt, case = document.get("salt"), document.get("case")
        if isinstance(salt, str) and isinstance(case, dict) and is_salt(salt):
            return Opening(salt=salt, case=cast("dict[str, object]", case))
    raise InvalidInput(f"cases[{place}] of the private part is not a case with its salt")


def is_salt(text: str) -> bool:
    """Whether the text is a salt as Arena writes it."""
    return len(text) == 2 * SALT_BYTES and set(text) <= set("0123456789abcdef")


class SealedFolder:
    """The private parts that are kept here, each in a file that its commitments name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of_team(self, team_id: str) -> "SealedFolder":
        """Those of one team, which others cannot have opened."""
        return SealedFolder(self.folder / f"team-{quote(team_id, safe='')}")

    def path(self, commitments: Sequence[str]) -> Path:
        """Where the private part for these commitments lies, if it is here."""
        return self.folder / f"{seal_name(commitments)}.json"

    def __call__(self, commitments: Sequence[str]) -> Sequence[Opening] | None:
        """The openings; None where they are not here."""
        path = self.path(commitments)
        try:
            with path.open("rb") as file:
                return read_private_part(file.read(MAX_PRIVATE_BYTES))
        except FileNotFoundError:
            return None
        except OSError as wrong:
            raise InfrastructureError(f"{path} cannot be read: {wrong.strerror}") from None
        except InvalidInput as wrong:
            raise InfrastructureError(f"{path}: {wrong.message}", retryable=False) from None
