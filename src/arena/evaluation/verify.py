"""Checks a verdict record: whether the verdict follows from its standard and submission.

Plain validators and test cases are judged again. Votes of models and answers of people are taken as
recorded, and everything derived from them is recomputed: medians, weighted means, shares,
thresholds. Openings are checked against the commitments of the standard.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from arena import __version__
from arena.content.canonical import canonical, read_json
from arena.content.errors import ContentCorrupt, ContentMalformed, ContentMissing, NotCanonical
from arena.content.ports import ContentStore
from arena.content.reading import reading
from arena.documents.problem import KeyPath
from arena.documents.validation import dotted
from arena.errors import InfrastructureError, InvalidInput
from arena.evaluation.cases import judge_cases, recount
from arena.evaluation.checks import Check
from arena.evaluation.evaluate import combine, judge_checklist, run_check, validate
from arena.evaluation.fields import InvalidStandard
from arena.evaluation.grader import Grader, Packaged
from arena.evaluation.grading import agrees_with_itself, judge_by_grader
from arena.evaluation.judge.panel import replay
from arena.evaluation.reading import read_standard_document
from arena.evaluation.record import (
    MAX_RECORD_BYTES,
    TEXT_KIND,
    NotARecord,
    Record,
    read_record,
    verdict_document,
)
from arena.evaluation.sealed import unopened
from arena.evaluation.standard import (
    Checklist,
    JudgePrompt,
    Leaf,
    PartPath,
    Standard,
    TestCases,
    VerifyFiles,
    leaves,
)
from arena.evaluation.submission import read_submission
from arena.evaluation.time_limit import program_limits
from arena.evaluation.validators import Validator
from arena.evaluation.verdict import Difference, Submission, Verdict, Verification
from arena.evaluation.verification import judge_files, recounted
from arena.pools.effort import BYTES_PER_VALUE
from arena.pools.workers import TooMuchWork, off_loop
from arena.sandbox.errors import LanguageRefused
from arena.sandbox.ports import SandboxProvider

WORDING = ("reasoning", "reason", "evidence", "mark", "prompt_digest")
"""Fields that another version of Arena or of a language may word differently."""
ENGINE_WORDING = ("reasoning", "reason", "evidence")
"""Fields that another engine of a language may word differently."""
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
"""A memory address, as Python prints it; it differs in every run."""
MAX_DIFFERENCES = 100

T = TypeVar("T")


async def verify(store: ContentStore, cid: str, sandbox: SandboxProvider | None) -> Verification:
    """Check the record with this CID; raises only if there is no such record.

    Or if something of it is not to be had now, but may be later: `ContentPending` and its like.
    """
    record = await _record(store, cid)
    check = _Check(record=record, sandbox=sandbox)
    try:
        standard = await _standard(store, record.standard_cid)
        submission = await _submission(store, record)
    except (ContentMissing, ContentCorrupt, ContentMalformed, InvalidInput) as error:
        check.obstacles.append(error.message)
    except UnicodeDecodeError:
        check.obstacles.append(f"the submission {record.submission_cid} is not text")
    else:
        await check.replay(standard, submission)
    return check.verification(cid)


async def _submission(store: ContentStore, record: Record) -> Submission:
    data = await _read(store, record.submission_cid)
    if record.kind == TEXT_KIND:
        return Submission(output=data.decode(), language=record.language)
    return await asyncio.to_thread(read_submission, data)


async def _read(store: ContentStore, cid: str, max_bytes: int | None = None) -> bytes:
    return await reading(store, lambda source: source.get(cid, max_bytes=max_bytes))


async def _record(store: ContentStore, cid: str) -> Record:
    data = await _read(store, cid, MAX_RECORD_BYTES)
    try:
        return await off_loop(len(data) // BYTES_PER_VALUE, read_record, data)
    except TooMuchWork as error:
        raise NotARecord(f"not a verdict record that can be used: reading it {error}") from None


async def _standard(store: ContentStore, cid: str) -> Standard:
    data = await _read(store, cid)
    try:
        return await off_loop(len(data) // BYTES_PER_VALUE, _read_standard, data)
    except (InvalidStandard, NotCanonical) as error:
        raise InvalidInput(f"the standard {cid} cannot be used: {error.message}") from None
    except TooMuchWork as error:
        raise InvalidInput(f"the standard {cid} cannot be used: reading it {error}") from None


def _read_standard(data: bytes) -> Standard:
    return read_standard_document(read_json(data))


class _Contradiction(Exception):
    """The record does not have the shape that its standard requires."""

    def __init__(self, path: str, recorded: object, recomputed: object) -> None:
        self.difference = Difference(path=path, recorded=recorded, recomputed=recomputed)


@dataclass(kw_only=True)
class _Check:
    """The state of one check."""

    record: Record
    sandbox: SandboxProvider | None
    differences: list[Difference] = field(default_factory=list[Difference])
    texts: list[Difference] = field(default_factory=list[Difference])
    obstacles: list[str] = field(default_factory=list[str])
    taken: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    limits: Mapping[PartPath, float] = field(default_factory=dict[PartPath, float])
    """The total time of each part that runs programs."""
    part_count: int = 1

    async def replay(self, standard: Standard, submission: Submission) -> None:
        """Judge again what can be judged, recompute what was derived from the rest, compare."""
        self.limits = program_limits(standard)
        self.part_count = len(list(leaves(standard)))

        async def judge(part: Leaf, at: PartPath, submission: Submission) -> Verdict:
            return await self._part(part, submission, at)

        try:
            verdict = await combine(judge, standard, submission)
        except _Contradiction as found:
            self.differences.append(found.difference)
            return
        except LanguageRefused as error:
            refused = Difference(path="verdict", recorded="a score", recomputed=error.message)
            self.differences.append(refused)
            return
        await asyncio.to_thread(self._compare, verdict)

    def _compare(self, verdict: Verdict) -> None:
        recorded, recomputed = (verdict_document(v) for v in (self.record.verdict, verdict))
        same_version = self.record.made_with.arena == __version__
        same_words = same_version and _engines(recorded) == _engines(recomputed)
        for path, was, now in _differences(recorded, recomputed, ("verdict",)):
            # A criterion may have any name, even `reasoning`, and is a key of `spread`.
            key = None if path[-2] == "spread" else path[-1]
            # Only if code ran here: otherwise a made-up engine would excuse other wording.
            if key == "engine" and now:
                self.notes.append(f"it ran with {was}, here with {now}")
            elif key in ENGINE_WORDING and _is_same(was, now):
                continue
            elif key in WORDING and self.obstacles:
                continue  # derived from parts that did not run here
            else:
                may_differ = WORDING if not same_version else ENGINE_WORDING
                is_text = key in may_differ and not same_words
                found = self.texts if is_text else self.differences
                found.append(Difference(path=dotted(path), recorded=was, recomputed=now))
        if self.texts and not same_version:
            made_with = self.record.made_with.arena
            self.notes.append(f"it was made with Arena {made_with}, this is {__version__}")

    async def _part(self, standard: Leaf, submission: Submission, at: PartPath) -> Verdict:
        recorded = self._recorded(at)
        path = _path(at)
        match standard:
            case Validator():
                return await validate(standard, submission, parts=self.part_count)
            case Check():
                return await run_check(standard, submission, parts=self.part_count)
            case TestCases():
                return await self._cases(standard, submission, recorded, at)
            case Grader() | Packaged():
                return await self._graded(standard, submission, recorded, path)
            case JudgePrompt():
                self.taken.append(f"{path}: the votes of the models")
                again = partial(replay, standard, submission, recorded)
                return await asyncio.to_thread(_recompute, again, path, "judgement")
            case Checklist():
                self.taken.append(f"{path}: the answers of people")
                again = partial(judge_checklist, standard, recorded.answers)
                return _recompute(again, path, "answers")
            case VerifyFiles():
                return await self._files(standard, submission, recorded, path)

    async def _cases(
        self, standard: TestCases, submission: Submission, recorded: Verdict, at: PartPath
    ) -> Verdict:
        path = _path(at)
        if mismatch := await asyncio.to_thread(unopened, standard.sealed, recorded.openings):
            raise _Contradiction(
                f"{path}.openings", f"openings that do not match {mismatch}", "the sealed cases"
            )
        openings, seconds = recorded.openings, self.limits.get(at)
        run = partial(judge_cases, standard, submission, self.sandbox, openings, seconds=seconds)
        try:
            verdict = await run()
            # A second run distinguishes a nondeterministic submission from a forged record.
            if _differs_in_output(verdict, recorded) and _differs_in_output(await run(), verdict):
                self.obstacles.append(
                    f"{path}: the code's output changes with each run; its score is the same"
                )
            return verdict
        except LanguageRefused as error:
            # An alternative may record just that; Arena 0.1 guessed the language instead.
            if recorded.reasoning == error.message:
                raise
            self.obstacles.append(f"{path}: {error.message}")
        except InfrastructureError as error:
            self.obstacles.append(f"{path}: {error.message}")
        return _recompute(partial(recount, standard, recorded), path, "findings")

    async def _graded(
        self, standard: Grader | Packaged, submission: Submission, recorded: Verdict, path: str
    ) -> Verdict:
        """Grade again; a grader or a submission that is not deterministic cannot be replayed."""
        run = partial(judge_by_grader, standard, submission, self.sandbox)
        try:
            verdict = await run()
            if _outcome(verdict) == _outcome(recorded) or _outcome(await run()) == _outcome(
                verdict
            ):
                return verdict
            self.obstacles.append(f"{path}: the grader gives another verdict with each run")
        except LanguageRefused as error:
            if recorded.reasoning == error.message:
                raise
            self.obstacles.append(f"{path}: {error.message}")
        except InfrastructureError as error:
            self.obstacles.append(f"{path}: {error.message}")
        if not agrees_with_itself(standard, recorded):
            claimed = f"{recorded.score:g}, passed: {recorded.passed}"
            raise _Contradiction(path, claimed, f"passes from {standard.pass_score:g}")
        return recorded

    async def _files(
        self, standard: VerifyFiles, submission: Submission, recorded: Verdict, path: str
    ) -> Verdict:
        run = partial(judge_files, standard, submission, self.sandbox)
        try:
            verdict = await run()
            if _differs_in_output(verdict, recorded) and _differs_in_output(await run(), verdict):
                self.obstacles.append(
                    f"{path}: the command's output changes with each run; its score is the same"
                )
            return verdict
        except InfrastructureError as error:
            self.obstacles.append(f"{path}: {error.message}")
        return recounted(standard, recorded)

    def _recorded(self, at: PartPath) -> Verdict:
        verdict = self.record.verdict
        for depth, place in enumerate(at):
            if place >= len(verdict.parts):
                found = f"{len(verdict.parts)} parts"
                raise _Contradiction(f"{_path(at[:depth])}.parts", found, "one for each standard")
            verdict = verdict.parts[place]
        return verdict

    def verification(self, cid: str) -> Verification:
        """The outcome: a difference takes precedence over an obstacle, and that over texts."""
        record = self.record
        return Verification(
            cid=cid,
            outcome="differs"
            if self.differences
            else "cannot_be_replayed"
            if self.obstacles
            else "texts_differ"
            if self.texts
            else "holds",
            differences=tuple(self.differences[:MAX_DIFFERENCES]),
            texts=tuple(self.texts[:MAX_DIFFERENCES]),
            obstacles=tuple(self.obstacles),
            taken=tuple(self.taken),
            notes=tuple(self.notes),
            standard_cid=record.standard_cid,
            submission_cid=record.submission_cid,
            score=record.verdict.score,
            passed=record.verdict.passed,
            made_at=record.made_at,
            made_with=record.made_with,
        )


def _differences(recorded: Any, recomputed: Any, at: KeyPath) -> Iterator[tuple[KeyPath, Any, Any]]:
    """Each path where two JSON values differ, as deep as possible, with both values."""
    both = (recorded, recomputed)
    if all(isinstance(value, dict) for value in both):
        for key in sorted(recorded.keys() | recomputed.keys()):
            yield from _differences(recorded.get(key), recomputed.get(key), (*at, key))
    elif all(isinstance(value, list) for value in both) and len(recorded) == len(recomputed):
        for place, (left, right) in enumerate(zip(*both, strict=True)):
            yield from _differences(left, right, (*at, place))
    elif canonical(recorded) != canonical(recomputed):
        yield at, recorded, recomputed


def _differs_in_output(one: Verdict, other: Verdict) -> bool:
    """Whether two runs passed the same cases with different output."""
    pairs = list(zip(one.findings, other.findings, strict=False))
    return all(left.passed == right.passed for left, right in pairs) and any(
        not _is_same(left.reason, right.reason) for left, right in pairs
    )


def _outcome(verdict: Verdict) -> tuple[float, list[tuple[str, bool, str]]]:
    """What two runs of a deterministic grader have in common."""
    found = [(one.criterion, one.passed, ADDRESS.sub("", one.reason)) for one in verdict.findings]
    return verdict.score, found


def _is_same(one: object, other: object) -> bool:
    """Whether two texts are the same except for memory addresses."""
    return (
        isinstance(one, str)
        and isinstance(other, str)
        and ADDRESS.sub("", one) == ADDRESS.sub("", other)
    )


def _recompute(compute: Callable[[], T], path: str, key: str) -> T:
    """The value recomputed from recorded parts; a contradiction if they do not fit."""
    try:
        return compute()
    except InvalidInput as error:
        raise _Contradiction(
            f"{path}.{key}", "a value that does not fit the standard", error.message
        ) from None


def _path(at: PartPath) -> str:
    steps = (step for place in at for step in ("parts", place))
    return dotted(("verdict", *steps))


def _engines(document: Mapping[str, object]) -> list[object]:
    parts = cast("list[Mapping[str, object]]", document["parts"])
    return [document["engine"], *(engine for part in parts for engine in _engines(part))]
