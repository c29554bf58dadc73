"""Hidden cases: a standard is split into a public part with commitments, and a private part.

A *commitment* is a hash of a case and a random *salt*: it fixes the case without revealing it. An
*opening*, the case with its salt, proves what was committed to, for each case separately. The
openings of one standard together are its *private part*, in a file named by a hash of its
commitments.
"""

import hashlib
import re
import secrets
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, cast
from urllib.parse import quote, unquote

from pydantic import Field, TypeAdapter, ValidationError

from arena.content.canonical import canonical, read_canonical
from arena.documents.validation import dotted
from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.reading import read_standard_document
from arena.evaluation.verdict import Opening

DOMAIN = b"arena.sealed-case/1\0"
"""Domain separation: no other hash in Arena can be a commitment."""
# Without a salt, a case with few possible inputs could be found by trying them all.
SALT_BYTES = 32
MAX_PRIVATE_BYTES = 64 * 1024**2
NAME = re.compile(r"[0-9a-f]{64}\Z")
"""How a private part is named: by `seal_name`."""
TEAM = "team-"
"""How the name of a team's folder begins."""
HIDDEN = "hidden"
"""The key that marks a case to be sealed."""

Document = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SealedCase(Opening):
    salt: Annotated[str, Field(pattern=f"^[0-9a-f]{{{2 * SALT_BYTES}}}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PrivatePart:
    type: Literal["sealed_cases"]
    cases: tuple[_SealedCase, ...]


def commitment_of(opening: Opening) -> str:
    """The commitment that a standard holds in place of the case."""
    sealed = DOMAIN + bytes.fromhex(opening.salt) + canonical(dict(opening.case))
    return hashlib.sha256(sealed).hexdigest()


def seal_name(commitments: Sequence[str]) -> str:
    """The name of the private part that opens these commitments."""
    return hashlib.sha256(canonical(list(commitments))).hexdigest()


def unopened(commitments: Sequence[str], openings: Sequence[Opening]) -> str | None:
    """The first commitment that its opening does not match; None if all match."""
    if len(openings) != len(commitments):
        return f"{len(commitments)} commitments with {len(openings)} openings"
    for place, (commitment, opening) in enumerate(zip(commitments, openings, strict=True)):
        if commitment_of(opening) != commitment:
            return f"sealed[{place}]"
    return None


def seal(document: object, *, public: int | None = None) -> tuple[Document, list[Opening]]:
    """The public part of a standard and the openings of its hidden cases.

    Hidden are the cases with `"hidden": true`, or, with `public`, all but the first `public` ones.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput("a standard is an object with a 'type'")
    standard = dict(cast("Mapping[str, object]", document))
    if standard.get("type") != "test_cases":
        raise InvalidInput("only standards with type 'test_cases' have cases to seal")
    if "sealed" in standard:
        raise InvalidInput("the standard is already sealed; seal the original instead")
    visible, hidden = _split(standard.get("cases"), public)
    read_standard_document({**standard, "cases": [*visible, *hidden]})
    if not hidden:
        raise InvalidInput(
            'no case is hidden: mark those to seal with "hidden": true, or say how many of the '
            "first cases are public"
        )
    _refuse_revealed(visible, hidden)
    openings = [Opening(salt=secrets.token_hex(SALT_BYTES), case=case) for case in hidden]
    commitments = [commitment_of(opening) for opening in openings]
    return {**standard, "cases": visible, "sealed": commitments}, openings


def _split(cases: object, public: int | None) -> tuple[list[Document], list[Document]]:
    """The public cases and the hidden ones, without their marks."""
    if not isinstance(cases, list) or not all(
        isinstance(case, dict) for case in cast("list[object]", cases)
    ):
        raise InvalidInput("cases: must be a list of cases")
    visible: list[Document] = []
    hidden: list[Document] = []
    for place, case in enumerate(cast("list[Document]", cases)):
        mark = case.get(HIDDEN, False)
        if not isinstance(mark, bool):
            raise InvalidInput(f"cases[{place}].hidden: must be true or false")
        if public is not None:
            if HIDDEN in case:
                raise InvalidInput(
                    f"cases[{place}] is marked: leave out the number of public cases"
                )
            mark = place >= public
        kept = {key: value for key, value in case.items() if key != HIDDEN}
        (hidden if mark else visible).append(kept)
    return visible, hidden


def _refuse_revealed(visible: list[Document], hidden: list[Document]) -> None:
    """Refuse a hidden case with the input of a public one: it would hide nothing."""
    known = {canonical(case.get("input", [])) for case in visible}
    for place, case in enumerate(hidden):
        if canonical(case.get("input", [])) in known:
            raise InvalidInput(
                f"hidden case {place + 1} has the input of a public one: it would hide nothing"
            )


def write_private_part(openings: Sequence[Opening]) -> bytes:
    """The private part of a sealed standard, as bytes."""
    cases = [{"salt": opening.salt, "case": dict(opening.case)} for opening in openings]
    return canonical({"type": "sealed_cases", "cases": cases})


def read_private_part(data: bytes) -> tuple[Opening, ...]:
    """The openings in a private part; `InvalidInput` if it is not one."""
    try:
        part = TypeAdapter(_PrivatePart).validate_python(read_canonical(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f"{dotted(first['loc'])}: " if first["loc"] else ""
        raise InvalidInput(
            f"it is not the private part of a sealed standard: {where}{first['msg']}"
        ) from None
    return tuple(Opening(salt=one.salt, case=one.case) for one in part.cases)


def read_private_document(document: Document) -> tuple[Opening, ...]:
    """The openings in a private part that is already parsed."""
    return read_private_part(canonical(document))


def read_private_file(path: Path) -> bytes:
    """The bytes of a private part; `FileNotFoundError` if there is none."""
    with _reading(path), path.open("rb") as file:
        return file.read(MAX_PRIVATE_BYTES)


@contextmanager
def _reading(path: Path) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InfrastructureError(f"{path} cannot be read: {error.strerror}") from None


class SealedFolder:
    """The private parts on this machine, each in a file named by its commitments."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def of_team(self, team_id: str) -> "SealedFolder":
        """Those of one team, which other teams cannot unseal."""
        return SealedFolder(self.folder / f"{TEAM}{quote(team_id, safe='')}")

    def teams(self) -> list[tuple[str, "SealedFolder"]]:
        """Every team that has a folder here, with it."""
        with _reading(self.folder):
            folders = sorted(path for path in self.folder.glob(f"{TEAM}*") if path.is_dir())
        names = (unquote(folder.name.removeprefix(TEAM)) for folder in folders)
        return [(name, self.of_team(name)) for name in names if name]

    def parts(self) -> list[Path]:
        """The files here that are named like private parts."""
        with _reading(self.folder):
            return sorted(path for path in self.folder.glob("*.json") if NAME.match(path.stem))

    def path(self, commitments: Sequence[str]) -> Path:
        """The file of the private part for these commitments, whether it exists or not."""
        return self.folder / f"{seal_name(commitments)}.json"

    def __call__(self, commitments: Sequence[str]) -> Sequence[Opening] | None:
        """The openings; None if they are not here."""
        path = self.path(commitments)
        try:
            return read_private_part(read_private_file(path))
        except FileNotFoundError:
            return None
        except InvalidInput as error:
            raise InfrastructureError(f"{path}: {error.message}", retryable=False) from None
