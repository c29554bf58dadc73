"""Judges the answers of a pushed run again, where that can be done without asking anybody.

Plain validators judge again. A graded verdict comes with its record, which is verified like any
other: code runs in the sandbox, and what models and people said is taken as recorded. A verdict
that does not follow from its answer refuses the whole run.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, cast

from arena.catalog.test import Test
from arena.content.canonical import canonical
from arena.content.errors import ContentMissing
from arena.content.tree import cut
from arena.errors import InfrastructureError
from arena.evaluation.evaluate import CHECKABLE, MAX_EFFORT, evaluate
from arena.evaluation.grader import Grader, Packaged
from arena.evaluation.record import NotARecord, Record, read_record
from arena.evaluation.standard import Standard, TestCases, VerifyFiles, is_graded, leaves
from arena.evaluation.submission import seen_by, submission_bytes
from arena.evaluation.validators import Validator
from arena.evaluation.verdict import Submission, Verdict
from arena.evaluation.verify import verify
from arena.pools.effort import BYTES_PER_VALUE
from arena.pools.workers import TooMuchWork, off_loop
from arena.runs.bundle import InvalidBundle, ResultLine
from arena.runs.claimed_results import is_same_number
from arena.runs.verdicts import answered_in, submission_of

if TYPE_CHECKING:
    from arena.content.ports import ContentStore
    from arena.sandbox.ports import SandboxProvider

MAX_SLOW_REPLAYS = 500
MAX_SLOW_SECONDS = 300.0
"""Of all slow replays of one push: code, patterns, long texts. More are taken as recorded."""

NO_ANSWER = "no answer"
FILES = "files are not part of a pushed run"
JUDGED = "judged by models or people"
TOO_MANY = "over the limit of this server"
NOT_HERE = "could not be replayed here"
TOO_SLOW = "takes too long to check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The verdict on an answer that is kept, and the content that its record needs."""

    verdict: Verdict | None
    """None: as it was sent."""
    contents: tuple[bytes, ...] = ()
    """The standard, the submission and the record, if there is one."""


@dataclass(slots=True, kw_only=True)
class Replay:
    """The replay of one pushed run."""

    sandbox: "Callable[[], SandboxProvider]"
    replayed: int = 0
    not_replayed: Counter[str] = field(default_factory=Counter[str])
    """How many were taken as they are, by the reason."""
    _slow: int = 0
    _slow_seconds: float = 0.0
    _standards: dict[str, Standard] = field(default_factory=dict[str, Standard])

    async def check(self, place: str, test: Test, line: ResultLine) -> Replayed:
        """Judge an answer again; an error if the verdict does not follow from it."""
        result = line.result
        where = f"{place}: {test.id}, trial {result.trial}"
        if not answered_in(result):
            self.not_replayed[NO_ANSWER] += 1
            return Replayed(verdict=None)
        standard = self._standard(test)
        submission = seen_by(standard, submission_of(result))
        if line.record is not None:
            return await self._check_record(where, test, standard, submission, line)
        if is_graded(standard):
            # An answer in an unclear language has no verdict, so no record either: it has failed.
            if result.passed or result.score or result.findings:
                raise InvalidBundle(f"{where}: the record of its verdict is missing")
            self.not_replayed[NOT_HERE] += 1
            return Replayed(verdict=None)
        return await self._check_plain(where, standard, submission, line)

    async def _check_plain(
        self, where: str, standard: Standard, submission: Submission, line: ResultLine
    ) -> Replayed:
        """Judge by plain validators."""
        result = line.result
        with self._measured(standard, submission) as allowed:
            if not allowed:
                self.not_replayed[TOO_MANY] += 1
                return Replayed(verdict=None)
            verdict = await evaluate(standard, submission)
        criteria = {finding.criterion for finding in (*verdict.findings, *result.findings)}
        if CHECKABLE in criteria:
            # It depends on the machine, so neither side can be held to it.
            self.not_replayed[TOO_SLOW] += 1
            return Replayed(verdict=None)
        _refuse_other(where, line, verdict)
        self.replayed += 1
        return Replayed(verdict=verdict)

    async def _check_record(
        self,
        where: str,
        test: Test,
        standard: Standard,
        submission: Submission,
        line: ResultLine,
    ) -> Replayed:
        """Verify a record: that it is of this test and answer, and that it holds."""
        is_plain, has_files = submission.is_plain, line.result.workspace is not None
        contents = (
            canonical(test.document),
            submission.output.encode() if is_plain else submission_bytes(submission),
            cast(str, line.record).encode(),
        )
        held = _Contents.of(*contents)
        record = await _read_record(where, contents[2])
        standard_cid, submission_cid, record_cid = held.cids
        if has_files:  # the bundle has no files, so that only the record knows the submission
            submission_cid, contents = record.submission_cid, (contents[0], contents[2])
        if record_cid != line.result.verdict_cid:
            raise InvalidBundle(f"{where}: the record is not the one that verdict_cid names")
        about = (record.standard_cid, record.submission_cid, record.language)
        if about != (standard_cid, submission_cid, submission.language):
            raise InvalidBundle(f"{where}: the record is of another standard or another answer")
        _refuse_other(where, line, record.verdict)
        kept = Replayed(verdict=record.verdict, contents=contents)
        if has_files:
            self.not_replayed[FILES] += 1
            return kept
        with self._measured(standard, submission) as allowed:
            if not allowed:
                self.not_replayed[TOO_MANY] += 1
                return kept
            why = await self._verify(where, held, record_cid)
        if why is None:
            self.replayed += 1
        else:
            self.not_replayed[why] += 1
        return kept

    async def _verify(self, where: str, held: "_Contents", cid: str) -> str | None:
        """Why a record was not replayed in full; None if it was. An error if it does not hold."""
        try:
            found = await verify(cast("ContentStore", held), cid, self.sandbox())
        except InfrastructureError:
            return NOT_HERE
        if found.outcome == "differs":
            first = found.differences[0]
            raise InvalidBundle(
                f"{where}: its verdict does not follow from the answer: {first.path} is recorded "
                f"as {_short(first.recorded)}, judged here it is {_short(first.recomputed)}"
            )
        if found.outcome == "cannot_be_replayed":
            return NOT_HERE
        return JUDGED if found.taken else None

    def _standard(self, test: Test) -> Standard:
        if test.id not in self._standards:
            self._standards[test.id] = test.standard
        return self._standards[test.id]

    def _measured(self, standard: Standard, submission: Submission) -> "_Measured":
        return _Measured(self, _is_slow(standard, submission.output))

    def may_be_slow(self) -> bool:
        """Whether another slow replay is allowed."""
        return self._slow < MAX_SLOW_REPLAYS and self._slow_seconds < MAX_SLOW_SECONDS

    def count_slow(self, seconds: float) -> None:
        """Count a slow replay."""
        self._slow += 1
        self._slow_seconds += seconds


class _Measured:
    """Counts what a slow replay takes; as a context, whether it is allowed."""

    def __init__(self, replay: Replay, is_slow: bool) -> None:
        self._replay = replay
        self._is_counted = is_slow
        self._started = time.monotonic()

    def __enter__(self) -> bool:
        if self._is_counted and not self._replay.may_be_slow():
            self._is_counted = False
            return False
        return True

    def __exit__(self, *_: object) -> None:
        if self._is_counted:
            self._replay.count_slow(time.monotonic() - self._started)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """The contents of one record, for verifying it before any of them is stored."""

    by_cid: dict[str, bytes]
    cids: tuple[str, ...]

    @classmethod
    def of(cls, *contents: bytes) -> Self:
        """These contents, by the CIDs that a store would give them."""
        cids = tuple(str([cid for cid, _ in cut(one)][-1]) for one in contents)
        return cls(by_cid=dict(zip(cids, contents, strict=True)), cids=cids)

    @property
    def local(self) -> Self:
        """As a store on this machine."""
        return self

    def get(self, cid: str, *, max_bytes: int | None = None) -> bytes:
        """The content with this CID."""
        if cid not in self.by_cid:
            raise ContentMissing(f"{cid} is not in the bundle")
        return self.by_cid[cid]


async def _read_record(where: str, data: bytes) -> Record:
    try:
        return await off_loop(len(data) // BYTES_PER_VALUE, read_record, data)
    except (NotARecord, TooMuchWork) as error:
        raise InvalidBundle(f"{where}: {error}") from None


def _refuse_other(where: str, line: ResultLine, verdict: Verdict) -> None:
    """Refuse a result whose verdict is another one."""
    result = line.result
    if result.passed is not verdict.passed or not is_same_number(result.score, verdict.score):
        was, now = (_verdict_text(bool(one.passed), one.score) for one in (result, verdict))
        raise InvalidBundle(
            f"{where}: its verdict does not follow from the answer: it claims {was}, judged here "
            f"it is {now}"
        )
    flags = [finding.passed for finding in verdict.findings]
    if [finding.passed for finding in result.findings] != flags:
        raise InvalidBundle(f"{where}: its findings do not follow from the answer")


def _verdict_text(passed: bool, score: float | None) -> str:
    return f"{'passed' if passed else 'failed'} with {score or 0:g}"


def _is_slow(standard: Standard, output: str) -> bool:
    parts = list(leaves(standard))
    return any(
        isinstance(part, TestCases | Grader | Packaged | VerifyFiles)
        or (
            isinstance(part, Validator)
            and (part.is_slow or len(parts) * part.effort(output) > MAX_EFFORT)
        )
        for part in parts
    )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
