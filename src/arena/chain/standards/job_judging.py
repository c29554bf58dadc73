"""Arena as the evaluator of jobs (ERC-8183): judge what was submitted, then complete or reject.

Everything is checked before anything is sent: the evaluator, the job's state, and that the content
is what was submitted.
"""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.chain.standards.contract import Sent
from arena.chain.standards.erc8183 import JobContract
from arena.chain.standards.job import Job, JobStatus, is_digest_of
from arena.content.cid import CODECS, Cid, parse_cid
from arena.content.errors import ContentMissing
from arena.content.ports import ContentStore
from arena.errors import InvalidInput
from arena.evaluation.evaluate import evaluate
from arena.evaluation.reading import read_document
from arena.evaluation.record import MAX_RECORD_BYTES, NotARecord, Record, read_record, store_record
from arena.evaluation.resources import Resources, ReviewNeeded, purpose_of_task
from arena.evaluation.standard import Standard, passes_from
from arena.evaluation.verdict import MIN_PASS_SCORE, Submission
from arena.market.contents import Contents, cid_of_standard
from arena.market.errors import BadContent, WrongRole, WrongState


@dataclass(frozen=True, slots=True, kw_only=True)
class JobVerdict:
    """A verdict that was given on a job."""

    job: Job
    """As it is afterwards."""
    score: int
    """From 60 on the job is completed, below it is rejected."""
    record_cid: str
    """Its digest is the reason on the chain."""
    sent: Sent


class JobJudge:
    """Judges jobs of one contract."""

    def __init__(
        self, jobs: JobContract, contents: Contents, resources: Resources, *, sandbox: str
    ) -> None:
        self._jobs = jobs
        self._contents = contents
        self._resources = resources
        self._sandbox = sandbox

    async def judge(
        self,
        job_id: int,
        *,
        by: str,
        result_cid: str,
        standard: Mapping[str, Any] | str | None = None,
        language: str | None = None,
    ) -> JobVerdict:
        """Judge the submitted result of a job and complete or reject it.

        The standard is a document or a CID; without one it is that which the job's description
        names. A verdict that an earlier call sent is continued, not made again.
        """
        if earlier := await self._jobs.unfinished_verdict(job_id):
            return await self._continued(job_id, *earlier)
        job = await self._jobs.job(job_id)
        self._check(job, by, result_cid)
        cid, document = await self._standard(job, standard)
        read = await read_document(document)
        _check_score(read)
        result = await self._contents.result(result_cid)
        # Bytes that are not UTF-8 are replaced, so that the rest can be judged.
        submission = Submission(output=result.decode("utf-8", "replace"), language=language)
        resources = replace(self._resources, purpose=purpose_of_task(job.name))
        try:
            verdict = await evaluate(read, submission, resources)
        except ReviewNeeded as needed:
            raise InvalidInput(
                f"{job.name} cannot be judged here: {needed.message}; jobs are judged by test "
                "cases, validators and models"
            ) from None
        is_text = submission.output.encode() == result
        record_cid = await store_record(
            self._contents.store,
            document if isinstance(standard, Mapping) else cid,
            submission,
            verdict,
            sandbox=self._sandbox,
            submission_cid=str(parse_cid(result_cid)) if is_text else None,
        )
        # Rounded down, as for tasks: 59.9 does not pay.
        score = math.floor(verdict.score)
        is_passed = score >= MIN_PASS_SCORE
        sent = await self._jobs.settle(job_id, is_passed=is_passed, record_cid=record_cid, by=by)
        job = await self._jobs.job(job_id)
        return JobVerdict(job=job, score=score, record_cid=record_cid, sent=sent)

    def _check(self, job: Job, by: str, result_cid: str) -> None:
        """Refuse what the contract would, and content that was not submitted."""
        _, address = self._jobs.caller.key_of(by)
        if job.evaluator != address:
            raise WrongRole(
                f"{job.name} is evaluated by {job.evaluator}, not by {by!r} ({address})"
            )
        if job.status is not JobStatus.SUBMITTED:
            hint = ": nothing is submitted yet" if job.status < JobStatus.SUBMITTED else ""
            raise WrongState(f"{job.name} is {job.status.name.capitalize()}{hint}")
        if not is_digest_of(parse_cid(result_cid), job.deliverable):
            raise BadContent(
                f"{result_cid} is not what was submitted to {job.name}: its digest is "
                f"0x{parse_cid(result_cid).digest.hex()}, the deliverable is {job.deliverable}"
            )

    async def _standard(
        self, job: Job, standard: Mapping[str, Any] | str | None
    ) -> tuple[str, Mapping[str, Any]]:
        """The CID and the document of the standard."""
        named = job.evaluation_cid
        if standard is None:
            if named is None:
                raise InvalidInput(
                    f"the description of {job.name} names no standard (evaluationCID): give one"
                )
            return named, await self._contents.standard(named)
        cid = cid_of_standard(standard)
        if named is not None and parse_cid(named).key != parse_cid(cid).key:
            raise BadContent(f"{job.name} is to be judged by the standard {named}, not by {cid}")
        is_document = isinstance(standard, Mapping)
        return cid, standard if is_document else await self._contents.standard(cid)

    async def _continued(self, job_id: int, reason: bytes, sent: Sent) -> JobVerdict:
        job = await self._jobs.job(job_id)
        found = await asyncio.to_thread(find_record, self._contents.store, reason)
        if found is None:
            raise ContentMissing(
                f"a verdict on {job.name} was sent (transaction {sent.transaction_hash}), but its "
                f"record is not here: its digest is 0x{reason.hex()}"
            )
        cid, record = found
        score = math.floor(record.verdict.score)
        return JobVerdict(job=job, score=score, record_cid=cid, sent=sent)


def find_record(store: ContentStore, digest: bytes) -> tuple[str, Record] | None:
    """The record on this machine with this digest, and its CID; None if there is none."""
    for codec in CODECS:
        cid = str(Cid(version=1, codec=codec, digest=digest))
        try:
            return cid, read_record(store.local.get(cid, max_bytes=MAX_RECORD_BYTES))
        except (ContentMissing, NotARecord):
            continue
    return None


def _check_score(standard: Standard) -> None:
    if not passes_from(standard, MIN_PASS_SCORE):
        raise BadContent(
            f"a job is completed from a score of {MIN_PASS_SCORE} on, but this standard passes "
            f"from another: set its pass_score to {MIN_PASS_SCORE}"
        )
