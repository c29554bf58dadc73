"""A verdict as a record that anybody can check: canonical JSON, named by its CID.

It names the standard and the submission by their CIDs, and holds the whole verdict with findings,
votes, answers and openings, and what it was made with. A standard is kept as JSON (canonical where
Arena wrote it), a submission as the bytes of its text.
"""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal, cast

from pydantic import TypeAdapter, ValidationError

from arena import __version__, clock
from arena.content.canonical import canonical, read_canonical
from arena.content.errors import NotCanonical
from arena.content.store import LocalStore
from arena.errors import InvalidInput
from arena.evaluation.verdict import Submission, Verdict
from arena.text import to_unicode, utf8

KIND = "arena.verdict/1"
MAX_RECORD_BYTES = 64 * 1024**2


class NotARecord(InvalidInput):
    """The content is not a verdict record."""

    code = "not_a_record"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """The programs that made a verdict; what ran the code stands in the verdict itself."""

    arena: str = __version__
    python: str = field(default_factory=platform.python_version)
    platform: str = field(default_factory=lambda: f"{platform.system()} {platform.machine()}")
    sandbox: str = ""
    """The provider of sandboxes that was at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A verdict, what it was made of, with what and when."""

    kind: Literal["arena.verdict/1"] = KIND
    standard_cid: str
    submission_cid: str
    language: str | None
    """What the submission said its code is written in."""
    verdict: Verdict
    made_at: datetime
    made_with: MadeWith


_records = TypeAdapter(Record)
_verdicts = TypeAdapter(Verdict)


def keep_record(
    store: LocalStore,
    standard: Mapping[str, object] | str,
    submission: Submission,
    verdict: Verdict,
    *,
    sandbox: str = "",
    made_at: datetime | None = None,
    submission_cid: str | None = None,
) -> str:
    """Keep a verdict with its submission and its standard; the record's CID.

    The standard is a document, or the CID of one that is kept already, as the submission may be:
    one content can have several names, and a record should say the one that others know. It
    touches the disk: on an event loop call it in a thread.
    """
    if not isinstance(standard, str):
        standard = store.put(canonical(dict(standard)))
    record = Record(
        standard_cid=standard,
        submission_cid=submission_cid or store.put(submission_bytes(submission)),
        language=submission.language,
        verdict=verdict,
        made_at=made_at or clock.now(),
        made_with=MadeWith(sandbox=sandbox),
    )
    return store.put(write_record(record))


def submission_bytes(submission: Submission) -> bytes:
    """The submission's text as it is kept."""
    return utf8(submission.output, "the submission")


def write_record(record: Record) -> bytes:
    """The record as canonical JSON."""
    return canonical(_records.dump_python(_clean(_records, asdict(record)), mode="json"))


def read_record(data: bytes) -> Record:
    """The record that the bytes hold; `NotARecord` where they hold anything else, or more."""
    try:
        record = _records.validate_python(read_canonical(data))
        # What is written anew must be the same: no key too many, none of another kind.
        if write_record(record) == data:
            return record
    except NotCanonical as wrong:
        raise NotARecord(f"not a verdict record: {wrong.message}") from None
    except (ValidationError, InvalidInput):
        pass
    raise NotARecord(f"not a verdict record of the kind {KIND}")


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as a record holds it."""
    return _verdicts.dump_python(_clean(_verdicts, asdict(verdict)), mode="json")


def contents_of(store: LocalStore, cids: Sequence[str]) -> list[str]:
    """The CIDs, and after each verdict record what it speaks of: all that checking it needs."""
    found: list[str] = []
    for cid in cids:
        found.append(cid)
        try:
            record = read_record(store.get(cid, max_bytes=MAX_RECORD_BYTES))
        except NotARecord:
            continue
        found += [record.standard_cid, record.submission_cid]
    return list(dict.fromkeys(found))


def _clean(shape: TypeAdapter[Any], value: dict[str, Any]) -> Any:
    """The value with numbers of the declared kinds, and text that UTF-8 can hold."""
    return shape.validate_python(_storable(value))


def _storable(value: object) -> Any:
    if isinstance(value, str):
        # A function may return half of a surrogate pair, and a finding quotes it. NUL stays: JSON
        # can spell it, and records that were written with it must still read the same.
        return to_unicode(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {_storable(key): _storable(member) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in cast("list[object]", value)]
    return value
