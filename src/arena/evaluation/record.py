"""A verdict as a record that anybody can check: canonical JSON, identified by its CID.

It refers to the standard and the submission by their CIDs, and holds the whole verdict with
findings, votes, answers and openings, and the programs that made it. A standard is stored as JSON
(canonical if Arena wrote it), a submission as the bytes of its text. A submission that is more than
text (messages, steps, files, usage) is one JSON document, and its record is of the second kind.
"""

import functools
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal, cast

from pydantic import TypeAdapter, ValidationError

from arena import __version__, clock
from arena.content.canonical import canonical, read_canonical
from arena.content.errors import NotCanonical
from arena.content.ports import ContentSource, ContentStore
from arena.content.store import ContentSink
from arena.errors import InvalidInput
from arena.evaluation.resources import NotJudged
from arena.evaluation.submission import submission_bytes
from arena.evaluation.verdict import MadeWith, Submission, Verdict
from arena.pools.effort import effort
from arena.pools.threads import WRITES
from arena.pools.workers import SMALL_EFFORT, TooMuchWork, heavy
from arena.text import to_unicode, utf8

TEXT_KIND = "arena.verdict/1"
WHOLE_KIND = "arena.verdict/2"
Kind = Literal["arena.verdict/1", "arena.verdict/2"]
MAX_RECORD_BYTES = 64 * 1024**2
FINDING_EFFORT = 10
"""The fields of a finding, each checked and written."""


class NotARecord(InvalidInput):
    """The content is not a verdict record."""

    code = "not_a_record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A verdict with its inputs, the programs that made it, and when."""

    kind: Kind = TEXT_KIND
    standard_cid: str
    submission_cid: str
    language: str | None
    """The language that the submitter declared."""
    verdict: Verdict
    made_at: datetime
    made_with: MadeWith


@functools.cache
def _shape(kind: type[Any]) -> TypeAdapter[Any]:
    # Built on first use: it takes milliseconds, and most commands use no record.
    return TypeAdapter(kind)


def keep_record(
    store: ContentStore,
    standard: Mapping[str, object] | str,
    submission: Submission,
    verdict: Verdict,
    *,
    sandbox: str = "",
    made_at: datetime | None = None,
    submission_cid: str | None = None,
) -> str:
    """Store a verdict with its submission and its standard; returns the record's CID.

    The standard is a document, or the CID of a stored one; so is the submission. Content can have
    several CIDs, and a record should use the one that others know. Writes to disk: on an event loop
    use `store_record`.
    """
    keep = partial(
        _keep,
        standard,
        submission,
        verdict,
        sandbox=sandbox,
        made_at=made_at,
        submission_cid=submission_cid,
    )
    return store.local.keep(keep)[-1]


def _keep(
    standard: Mapping[str, object] | str,
    submission: Submission,
    verdict: Verdict,
    store: ContentSink,
    *,
    sandbox: str,
    made_at: datetime | None = None,
    submission_cid: str | None,
) -> tuple[str, str, str]:
    """Store a record and what it refers to; returns the CIDs, that of the record last."""
    if not isinstance(standard, str):
        standard = store.put(canonical(dict(standard)))
    record = Record(
        kind=TEXT_KIND if submission.is_plain else WHOLE_KIND,
        standard_cid=standard,
        submission_cid=submission_cid or store.put(_stored(submission)),
        language=submission.language,
        verdict=verdict,
        made_at=made_at or clock.now(),
        made_with=MadeWith(
            arena=__version__,
            python=platform.python_version(),
            platform=f"{platform.system()} {platform.machine()}",
            sandbox=sandbox,
        ),
    )
    return record.standard_cid, record.submission_cid, store.put(write_record(record))


def _stored(submission: Submission) -> bytes:
    if submission.is_plain:
        return utf8(submission.output, "the submission")
    return submission_bytes(submission)


async def store_record(
    store: ContentStore,
    standard: Mapping[str, object] | str,
    submission: Submission,
    verdict: Verdict,
    *,
    sandbox: str = "",
    submission_cid: str | None = None,
) -> str:
    """`keep_record` in a thread, or, for a long verdict or standard, in a worker process."""
    local = store.local
    keep = partial(
        _keep, standard, submission, verdict, sandbox=sandbox, submission_cid=submission_cid
    )
    count = sum(map(len, (verdict.findings, verdict.openings, verdict.parts)))
    amount = FINDING_EFFORT * count + effort(standard, submission.output, limit=SMALL_EFFORT)
    if submission.files is not None:
        amount += sum(len(file.content) for file in submission.files.files.values())
    if amount <= SMALL_EFFORT:
        return (await WRITES.run(local.keep, keep))[-1]
    try:
        # A worker process uses neither the network nor the database.
        cids = await heavy(keep, local.in_folder)
    except TooMuchWork as error:
        raise NotJudged(
            f"the record cannot be written: making it {error}", retryable=False
        ) from None
    if local.in_folder is not local:
        await WRITES.run(local.share, cids)
    return cids[-1]


def write_record(record: Record) -> bytes:
    """The record as canonical JSON."""
    document = _document(record)
    _drop_record_cids(document["verdict"])
    return canonical(document)


def read_record(data: bytes) -> Record:
    """Parse a record; raises `NotARecord` if the bytes are anything else, or have more in them."""
    try:
        record: Record = _shape(Record).validate_python(read_canonical(data))
        # Serialised again it must give the same bytes: no unknown key, no value of another type.
        if write_record(record) == data:
            return record
    except NotCanonical as error:
        raise NotARecord(f"not a verdict record: {error.message}") from None
    except (ValidationError, InvalidInput):
        pass
    raise NotARecord(f"not a verdict record of the kind {TEXT_KIND} or {WHOLE_KIND}")


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as it is in a record."""
    document = _document(verdict)
    _drop_record_cids(document)
    return document


def contents_of(source: ContentSource, cids: Sequence[str]) -> list[str]:
    """The CIDs, each record followed by the content it refers to: all that a check needs."""
    found: list[str] = []
    for cid in cids:
        found.append(cid)
        try:
            record = read_record(source.get(cid, max_bytes=MAX_RECORD_BYTES))
        except NotARecord:
            continue
        found += [record.standard_cid, record.submission_cid]
    return list(dict.fromkeys(found))


def _document(value: Record | Verdict) -> dict[str, Any]:
    """The value as JSON, with numbers of the declared types and text that is valid Unicode."""
    shape = _shape(type(value))
    return shape.dump_python(shape.validate_python(_unicode(asdict(value))), mode="json")


def _drop_record_cids(verdict: dict[str, Any]) -> None:
    """A record cannot hold its own hash."""
    del verdict["record_cid"]
    for part in verdict["parts"]:
        _drop_record_cids(part)


def _unicode(value: object) -> Any:
    if isinstance(value, str):
        # A function may return half of a surrogate pair, and a finding quotes it.
        return to_unicode(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value)
        return {_unicode(key): _unicode(member) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_unicode(item) for item in cast("list[object]", value)]
    return value
